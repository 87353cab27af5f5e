"""`stepwell branch`: the branches of a thread."""

from __future__ import annotations

from typing import Any

import click

from stepwell.cli.arguments import checkpoint_argument, checkpoint_named, thread_argument
from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.completing import branches
from stepwell.cli.database import opened
from stepwell.cli.rewind import ALREADY, tell_undo, undo_of
from stepwell.cli.subcommands import ListedFirst, example
from stepwell.cli.text import ago, count, name, pad, quoted, widest
from stepwell.threads import (
    delete_branch,
    find_thread,
    fork_thread,
    list_branches,
    rename_branch,
    short_id,
    switch_branch,
)
from stepwell.types import BranchInfo


@click.group(
    "branch",
    cls=ListedFirst,
    epilog=example(
        "stepwell branch 01a2",
        "stepwell branch create 01a2 oslo",
        "stepwell branch create 01a2 kept main@01a22dd9",
        "stepwell branch rename 01a2 oslo norway",
        "stepwell branch switch 01a2 norway",
        "stepwell branch delete 01a2 norway --dry-run",
    ),
)
@with_common_options
def command() -> None:
    """List, create, rename, delete and switch the branches of a THREAD.

    `stepwell branch THREAD` is short for `stepwell branch list THREAD`.
    """


@command.command("list", epilog=example("stepwell branch list 01a2", "stepwell branch list 01a2 --json"))
@thread_argument
@with_common_options
@click.pass_obj
def list_(asked: Asked, thread: str) -> None:
    """The branches of a THREAD, and the leaves that forks and rewinds left behind: where each stands, since when.

    `*` is what a command that names no branch reads and goes on in; a leaf that was left behind says so.
    """
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        found = list_branches(saver, thread_id)
    if asked.json:
        print_json({"thread": thread_id, "branches": [_row(branch) for branch in found]})
        return
    if not found:
        click.echo("no branches: nothing was said in this thread yet", err=True)
    width = widest(name(branch.name) for branch in found)
    for branch in found:
        line = f"{'*' if branch.current else ' '} {pad(name(branch.name), width)}  {short_id(branch.checkpoint_id)}"
        left = "  (left behind)" if branch.auto else ""
        click.secho(f"{line}  step {branch.step}  {ago(branch.updated_at)}{left}", dim=branch.auto)


@command.command(
    epilog=example(
        "stepwell branch create 01a2 oslo",
        "stepwell branch create 01a2 oslo 3f9c2ab",
        "stepwell branch create 01a2 kept main@01a22dd9",
    )
)
@thread_argument
@click.argument("branch")
@checkpoint_argument
@with_common_options
@click.pass_obj
def create(asked: Asked, thread: str, branch: str, checkpoint: str | None) -> None:
    """A BRANCH of THREAD that stands at a CHECKPOINT, or where main does. Nothing else moves.

    A leaf that a fork or a rewind left behind there becomes the branch, and so is kept for good.
    """
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        id = checkpoint_named(saver, thread_id, checkpoint)
        made = fork_thread(saver, thread_id, id, name=branch)
    undo = f"stepwell branch delete{asked.db_flag} {quoted(thread_id)} {quoted(made.branch)}"
    if asked.json:
        print_json({"thread": thread_id, "branch": made.branch, "checkpoint": made.checkpoint_id, "undo": undo})
    else:
        tell_undo(f"branch {name(made.branch)} is at {short_id(made.checkpoint_id)}.", undo)


@command.command(epilog=example("stepwell branch rename 01a2 fork-1 oslo"))
@thread_argument
@click.argument("old", shell_complete=branches)
@click.argument("new")
@with_common_options
@click.pass_obj
def rename(asked: Asked, thread: str, old: str, new: str) -> None:
    """Give the branch OLD of THREAD the name NEW. A leaf that was left behind becomes a branch by it.

    main keeps its name: it is what everybody means who names no branch.
    """
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        made = rename_branch(saver, thread_id, old, new)
    undo = f"stepwell branch rename{asked.db_flag} {quoted(thread_id)} {quoted(new)} {quoted(old)}"
    if asked.json:
        print_json({"thread": thread_id, "before": old, "branch": new, "checkpoint": made.checkpoint_id, "undo": undo})
    else:
        tell_undo(f"branch {name(old)} is called {name(new)} now.", undo)


@command.command(epilog=example("stepwell branch delete 01a2 oslo --dry-run", "stepwell branch delete 01a2 oslo"))
@thread_argument
@click.argument("branch", shell_complete=branches)
@click.option("--dry-run", is_flag=True, help="Only say what nothing would lead to any more.")
@with_common_options
@click.pass_obj
def delete(asked: Asked, thread: str, branch: str, dry_run: bool) -> None:
    """Forget a BRANCH of THREAD. Its checkpoints stay until they are pruned; until then the undo that is printed works.

    What only this branch led to is said: no other branch, no leaf and no tag stands at it or below it.
    """
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        gone = delete_branch(saver, thread_id, branch, dry_run=dry_run)
    where = f"{quoted(thread_id)} {quoted(gone.branch)} {gone.checkpoint_id}"
    undo = f"stepwell branch create{asked.db_flag} {where}"
    if asked.json:
        print_json(
            {
                "thread": thread_id,
                "branch": gone.branch,
                "checkpoint": gone.checkpoint_id,
                "lost": list(gone.lost),
                "deleted": gone.is_done,
                "undo": undo if gone.is_done else None,
            }
        )
        return
    lost = f"nothing else leads to {count(len(gone.lost), 'checkpoint')} of it" if gone.lost else "all of it stays"
    if dry_run:
        click.echo(f"branch {name(gone.branch)} would be forgotten: {lost}.")
    else:
        tell_undo(f"branch {name(gone.branch)} is forgotten: {lost}.", undo)


@command.command(epilog=example("stepwell branch switch 01a2 oslo"))
@thread_argument
@click.argument("branch", shell_complete=branches)
@with_common_options
@click.pass_obj
def switch(asked: Asked, thread: str, branch: str) -> None:
    """Move main of THREAD to where BRANCH stands: whoever names no branch goes on from there.

    BRANCH itself stays. Where main stood before is left behind as a leaf, unless another branch leads there.
    """
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        moved = switch_branch(saver, thread_id, branch)
    undo = undo_of(moved, asked.db_flag)
    if asked.json:
        print_json({"thread": thread_id, "branch": "main", "before": moved.before, "now": moved.now, "undo": undo})
    elif moved.now == moved.before:
        click.echo(ALREADY.format(branch="main", at=short_id(moved.now)))
    else:
        tell_undo(f"main is at {short_id(moved.now)} now, as {name(branch)} is.", undo)


def _row(branch: BranchInfo) -> dict[str, Any]:
    return {
        "branch": branch.name,
        "checkpoint": branch.checkpoint_id,
        "step": branch.step,
        "updated_at": branch.updated_at,
        "left_behind": branch.auto,
        "current": branch.current,
    }
