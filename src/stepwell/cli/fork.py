"""`stepwell fork`: a second line from a checkpoint."""

from __future__ import annotations

import click

from stepwell.cli.arguments import checkpoint_argument, checkpoint_named, thread_argument
from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.database import opened
from stepwell.cli.place import Place, graph_in
from stepwell.cli.subcommands import example
from stepwell.cli.text import name
from stepwell.saves import Loaded
from stepwell.threads import (
    find_thread,
    fork_thread,
    fork_to_thread,
    load_checkpoint,
    new_thread_id,
    short_id,
    turns_back,
)
from stepwell.threads.turns import MESSAGES


@click.command(
    "fork",
    epilog=example(
        "stepwell fork 01a2 --turns 2 --branch oslo",
        "stepwell fork 01a2 3f9c2ab",
        "stepwell fork 01a2 --into new",
        "stepwell fork 01a2 --into fresh --cut",
    ),
)
@thread_argument
@checkpoint_argument
@click.option("--turns", type=click.IntRange(min=1), help="Begin so many turns before the latest.")
@click.option("--branch", metavar="NAME", help="The name of the new branch; else fork-1, fork-2, …")
@click.option("--into", metavar="ID", help="Begin a thread of this id instead of a branch; `new` makes up an id.")
@click.option("--cut", is_flag=True, help="With --into: take the state alone, without the past.")
@click.option("--all-branches", is_flag=True, help="With --into: copy everything that THREAD holds.")
@with_common_options
@click.pass_obj
def command(
    asked: Asked,
    thread: str,
    checkpoint: str | None,
    turns: int | None,
    branch: str | None,
    into: str | None,
    cut: bool,
    all_branches: bool,
) -> None:
    """Begin a second line at a CHECKPOINT of THREAD, or at its latest. What is there stays as it is.

    The line is a branch of the thread; with --into it is the main branch of a new thread, to which what led to the
    CHECKPOINT is copied.
    """
    if checkpoint and turns:
        raise click.UsageError("CHECKPOINT and --turns both say where to begin: give one of them.")
    if branch and into:
        raise click.UsageError("--branch and --into are two ways to fork: give one of them.")
    if (cut or all_branches) and into is None:
        raise click.UsageError("--cut and --all-branches say what to copy to another thread: name it with --into.")
    if cut and all_branches:
        raise click.UsageError("--cut copies no past and --all-branches everything: give one of them.")
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        id = checkpoint_named(saver, thread_id, checkpoint)
        id = turns_back(saver, thread_id, turns) if turns else id
        if into is not None:
            forked = fork_to_thread(
                saver, thread_id, new_thread_id() if into == "new" else into, id, cut=cut, all_branches=all_branches
            )
        else:
            forked = fork_thread(saver, thread_id, id, name=branch or "")
        at = Place(forked.thread_id, forked.branch if into is None else None)
        begin = load_checkpoint(saver, forked.thread_id, forked.checkpoint_id)
        at.graph = graph_in(begin.metadata)
    go_on = _go_on(asked, at, begin)
    if asked.json:
        print_json(
            {
                "thread": forked.thread_id,
                "branch": forked.branch,
                "checkpoint": forked.checkpoint_id,
                "from_thread": forked.source_thread_id,
                "go_on": go_on,
            }
        )
        return
    thread_name = name(forked.thread_id)
    if into is not None:
        with_it = "with all its branches" if all_branches else "without its past" if cut else "up to there"
        what = f"thread {thread_name} is a copy of {name(thread_id)} {with_it}; its main is at"
    else:
        what = f"branch {name(forked.branch)} of thread {thread_name} begins at"
    click.echo(f"{what} {short_id(forked.checkpoint_id)}. Go on in it with:\n  {go_on}")


def _go_on(asked: Asked, at: Place, begin: Loaded) -> str:
    """The command that goes on here: a chat, unless a graph of the user's keeps no messages."""
    where = f"{asked.db_flag}{at.graph_flag}{at.flags}"
    if not at.graph_flag or MESSAGES in begin.values:
        return f"stepwell chat{where}"
    return f"stepwell run{where} {'--resume' if begin.next else '--input JSON'}"
