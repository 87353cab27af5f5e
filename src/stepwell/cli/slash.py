"""What may be typed in a chat instead of a message: /help, /new, /threads, /log, /rewind, /fork, /continue, /quit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

import click

from stepwell.cli.advice import CHAT, told
from stepwell.cli.conversation import Conversation
from stepwell.cli.log import PAGE, print_log
from stepwell.cli.place import Place
from stepwell.cli.rewind import ALREADY, undo_of
from stepwell.cli.text import count, name, printable
from stepwell.cli.threads import print_threads
from stepwell.errors import StepwellError
from stepwell.threads import (
    browse_threads,
    find_checkpoint,
    fork_thread,
    new_thread_id,
    read_log,
    short_id,
    turns_back,
)
from stepwell.threads.chain import MAIN

HELP: Final = """\
/new              begin a new thread
/threads          list the threads
/log              the turns of this thread, as a tree
/rewind [N]       go back N turns (one), or to a checkpoint, branch or tag
/fork [NAME]      go on in a new branch from here
/continue         finish a turn that was stopped
/quit             leave (as Ctrl-D does)"""
QUIT: Final = "quit"
LISTED: Final = 20
FEW_DIGITS: Final = 4
"""A number of at most so many digits counts turns; a longer one is the beginning of an id."""


def obey(talk: Conversation, line: str) -> bool:
    """Does what a line that begins with / asks for; False when that is to leave. Errors are shown, not raised."""
    act_name, _, rest = line[1:].strip().partition(" ")
    if act_name == QUIT:
        return False
    act = ACTS.get(act_name)
    if act is None:
        click.echo(f"There is no /{name(act_name)}.\n{HELP}", err=True)
        return True
    try:
        act(talk, rest.strip())
    except StepwellError as error:
        click.secho(f"Error: {printable(told(error, CHAT))}", fg="red", err=True)
    return True


def _help(_talk: Conversation, _rest: str) -> None:
    click.echo(HELP)


def _new(talk: Conversation, _rest: str) -> None:
    talk.move_to(Place(new_thread_id(), is_new=True, wait=talk.at.wait, graph=talk.at.graph))
    click.echo(f"thread {talk.at.thread_id}", err=True)


def _threads(talk: Conversation, _rest: str) -> None:
    print_threads(browse_threads(talk.saver, limit=LISTED, brief=True))


def _log(talk: Conversation, _rest: str) -> None:
    if talk.at.is_new:
        click.echo("Nothing was said here yet.", err=True)
    else:
        print_log(read_log(talk.saver, talk.at.thread_id, limit=PAGE))


def _rewind(talk: Conversation, rest: str) -> None:
    if talk.at.is_new:
        click.echo("Nothing was said here yet.", err=True)
        return
    is_count = not rest or (rest.isdecimal() and len(rest) <= FEW_DIGITS)
    turns = int(rest or 1) if is_count else 0
    if turns:
        target = turns_back(talk.saver, talk.at.thread_id, turns, branch=talk.at.branch)
    else:
        target = find_checkpoint(talk.saver, talk.at.thread_id, rest)
    rewound = talk.go_back(target)
    if rewound.now == rewound.before:
        click.echo(ALREADY.format(branch=name(rewound.branch), at=short_id(rewound.now)))
        return
    how_far = f" ({count(turns, 'turn')} back)" if turns else ""
    click.echo(f"{name(rewound.branch)} is at {short_id(rewound.now)} now{how_far}. To undo: /rewind {rewound.before}")
    click.echo(f"or: {undo_of(rewound, talk.asked.db_flag)}", err=True)


def _fork(talk: Conversation, rest: str) -> None:
    if talk.at.is_new:
        click.echo("Nothing was said here yet.", err=True)
        return
    head = talk.at.branch or MAIN
    begin = find_checkpoint(talk.saver, talk.at.thread_id, head)
    forked = fork_thread(talk.saver, talk.at.thread_id, begin, name=rest)
    talk.move_to(dataclasses.replace(talk.at, branch=forked.branch, head=forked.checkpoint_id, due=()))
    click.echo(f"You are in branch {name(forked.branch)} now; {name(head)} stays as it is.")


def _continue(talk: Conversation, _rest: str) -> None:
    talk.carry_on()


ACTS: Final[dict[str, Callable[[Conversation, str], None]]] = {
    "help": _help,
    "new": _new,
    "threads": _threads,
    "log": _log,
    "rewind": _rewind,
    "fork": _fork,
    "continue": _continue,
}
