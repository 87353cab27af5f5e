"""`stepwell chat`: a conversation in the terminal."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.conversation import Conversation
from stepwell.cli.database import opened
from stepwell.cli.graphs import load_graph
from stepwell.cli.output import is_lost
from stepwell.cli.place import Wish, choose_graph, find_place, warn_of_another_graph, with_place_options
from stepwell.cli.slash import obey
from stepwell.cli.text import checked_of, name
from stepwell.cli.turn import as_input


@click.command("chat")
@click.option("--graph", "spec", metavar="MODULE:NAME", help="The graph; else one that works offline.")
@with_place_options
@with_common_options
@click.pass_obj
def command(asked: Asked, /, spec: str | None, **place: Any) -> None:
    """Talk to a graph in a thread that remembers. Without --thread a new one begins.

    A thread that --thread names must exist; --new begins it. Ctrl-C stops an answer, Ctrl-D leaves, /help tells more.

    \b
    Examples:
      stepwell chat                      begin a thread
      stepwell chat --last               go on in the latest
      stepwell chat --thread trip --branch oslo
      stepwell chat --graph shop:graph   with your own graph
    """
    if asked.json:
        raise click.UsageError("a chat is for people. For programs there is `stepwell run --json`.")
    wish = Wish(**place)
    with opened(asked.path, runs=True, create=wish.begins, wait=wish.wait, way_out=wish.way_out) as saver:
        at = find_place(saver, wish)
        graph = load_graph(choose_graph(at, spec), saver)
        as_input(graph, "", at.graph)  # so that a graph one cannot talk to says so before anything is typed
        warn_of_another_graph(at)
        talk = Conversation(saver, graph, at, asked)
        click.echo(f"thread {name(at.thread_id)}  (/help, Ctrl-D leaves)", err=True)
        talk.pick_up()
        _converse(talk)
        if not talk.at.is_new:
            again = f"stepwell chat{asked.db_flag}{talk.at.graph_flag}{talk.at.flags}"
            click.echo(f"Carry on with: {again}", err=True)


def _converse(talk: Conversation) -> None:
    """Reads lines until the user leaves."""
    if sys.stdin.isatty():
        with suppress(ImportError):  # where there is none, lines are typed without history
            import_module("readline")  # late: it writes to a stdout that is a pipe as soon as it is imported
    while not is_lost():
        try:
            if not _exchange(talk):
                return
        except KeyboardInterrupt:
            click.echo(err=True)


def _exchange(talk: Conversation) -> bool:
    """One line and what comes of it; False when the user leaves."""
    try:
        line = _ask("answer> " if talk.questions else "you> ")
    except EOFError:
        return False
    if line.startswith("/"):
        return obey(talk, line)
    if line.strip():
        talk.hear(line)
    return True


def _ask(prompt: str) -> str:
    """A line from the user; the prompt is for people only."""
    if not sys.stdin.isatty():
        line = checked_of(sys.stdin.readline, "stdin")
        if not line:
            raise EOFError
        return line.rstrip("\n")
    try:
        return checked_of(lambda: input(prompt), "what was typed")
    except EOFError:
        click.echo()
        raise
