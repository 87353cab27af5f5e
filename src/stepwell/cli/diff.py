"""`stepwell diff`: what two checkpoints hold differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click

from stepwell.cli.arguments import checkpoint_argument, checkpoint_named, thread_argument
from stepwell.cli.asjson import as_json, plain, print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.completing import checkpoints, thread_ids
from stepwell.cli.database import opened
from stepwell.cli.text import ago, count, name, printable
from stepwell.threads import (
    Change,
    ChannelDiff,
    CheckpointDiff,
    DiffSide,
    diff_checkpoints,
    find_thread,
    said_in,
    short_id,
)

MARKS: Final = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow"), "moved": ("=", "yellow")}
COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}


@click.command("diff")
@thread_argument
@checkpoint_argument
@click.argument("other", required=False, shell_complete=checkpoints)
@click.option(
    "--to",
    "other_thread",
    metavar="THREAD",
    shell_complete=thread_ids,
    help="OTHER is a checkpoint of this thread; its head if none.",
)
@click.option("--stat", is_flag=True, help="How much changed in each key, and not what.")
@with_common_options
@click.pass_obj
def command(
    asked: Asked, thread: str, checkpoint: str | None, other: str | None, other_thread: str | None, stat: bool
) -> None:
    """Show what changed from CHECKPOINT of THREAD to OTHER, or with one alone from its parent to it.

    Messages are compared with those of the same id, texts line by line, everything else down to the part that differs.
    A CHECKPOINT is an id, its beginning, its short form, a branch, or a tag; without any, it is the head of main.

    \b
    Examples:
      stepwell diff trip                       what the last step changed
      stepwell diff trip 20a52b7               what the step that made this one changed
      stepwell diff trip main oslo             from one branch to another
      stepwell diff trip main oslo --stat      how much that is
      stepwell diff trip --to trip-copy        from one thread to another
      stepwell diff trip good main --to trip-copy
    """
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        second = find_thread(saver, other_thread) if other_thread else None
        found = diff_checkpoints(
            saver,
            thread_id,
            checkpoint_named(saver, thread_id, checkpoint),
            checkpoint_named(saver, second or thread_id, other),
            other_thread=second,
        )
    if asked.json:
        print_json(diff_json(found, stat))
    else:
        print_diff(found, stat)


def print_diff(found: CheckpointDiff, stat: bool) -> None:
    """Both sides, where they parted, and what differs; stat: how much."""
    for line, colour in diff_lines(found, stat):
        click.secho(line, fg=colour)


def diff_lines(found: CheckpointDiff, stat: bool = False) -> Iterator[tuple[str, str | None]]:
    """The lines of a diff, each with its colour; None is the plain one."""
    yield f"--- {_side_text(found.before)}", None
    yield f"+++ {_side_text(found.after)}", None
    if found.before.checkpoint_id is not None:
        yield _ancestor_text(found), None
    for channel in found.channels:
        parts = (_count(channel, kind) for kind in MARKS)
        yield f"{name(channel.channel)}: {', '.join(filter(None, parts))}", "cyan"
        for change in () if stat else channel.changes:
            yield from _change_lines(change)
    if not found.channels:
        yield "no difference", None
    elif found.same:
        yield f"unchanged: {', '.join(map(name, found.same))}", None


def _count(channel: ChannelDiff, kind: Any) -> str:
    """`3 added`; nothing where there is none."""
    number = channel.count(kind)
    return f"{number:,} {kind}" if number else ""


def _change_lines(change: Change) -> Iterator[tuple[str, str | None]]:
    mark, colour = MARKS[change.kind]
    path = printable(change.path).replace("\n", "\u240a")
    before, after = printable(as_json(change.before)), printable(as_json(change.after))
    if change.kind == "added":
        yield from _block(f"{mark} {path} = ", change.after, colour)
    elif change.kind == "removed":
        yield from _block(f"{mark} {path} = ", change.before, colour)
    elif change.kind == "moved":
        yield f"{mark} {path}: " + (f"from {before} to {after}" if before != after else "order"), colour
    elif change.lines:
        yield f"{mark} {path}", colour
        for line in change.lines:
            yield f"    {printable(line)}", COLOURS.get(line[:1])
    else:
        yield f"{mark} {path}: {before} \u2192 {after}", colour


def _block(head: str, value: Any, colour: str) -> Iterator[tuple[str, str | None]]:
    """A whole value, each further line of it under the same mark."""
    said = said_in(value)
    calls = f" [calls {', '.join(said.calls)}]" if said is not None and said.calls else ""
    text = (
        f"{said.role}: {said.text}{calls}" if said is not None else value if isinstance(value, str) else as_json(value)
    )
    first, *more = printable(text).split("\n")
    yield f"{head}{first}", colour
    for line in more:
        yield f"{head[0]}   {line}", colour


def _side_text(side: DiffSide) -> str:
    if side.checkpoint_id is None:
        return "nothing: the chain begins here"
    thread = name(side.thread_id)
    return f"{thread} {short_id(side.checkpoint_id)}  step {side.step}, {side.source}, {ago(side.created_at)}"


def _ancestor_text(found: CheckpointDiff) -> str:
    if found.ancestor is None:
        return "no common ancestor"
    before, after = (count(steps, "checkpoint") for steps in found.ahead)
    return f"common ancestor {short_id(found.ancestor)}; {before} from there to the first, {after} to the second"


def diff_json(found: CheckpointDiff, stat: bool) -> dict[str, Any]:
    """A diff as one object; stat: without the changes themselves."""
    rows = []
    for channel in found.channels:
        row: dict[str, Any] = {"key": channel.channel, "kind": channel.kind}
        row |= {kind: channel.count(kind) for kind in MARKS}  # type: ignore[arg-type]  # the kinds there are
        if not stat:
            row["changes"] = [_change_row(change) for change in channel.changes]
        rows.append(row)
    return {
        "before": _side_row(found.before),
        "after": _side_row(found.after),
        "ancestor": found.ancestor,
        "ahead": list(found.ahead),
        "keys": rows,
        "unchanged": list(found.same),
    }


def _change_row(change: Change) -> dict[str, Any]:
    row: dict[str, Any] = {"path": change.path, "kind": change.kind}
    if change.kind != "added":
        row["before"] = plain(change.before)
    if change.kind != "removed":
        row["after"] = plain(change.after)
    if change.lines:
        row["lines"] = list(change.lines)
    return row


def _side_row(side: DiffSide) -> dict[str, Any]:
    return {
        "thread": side.thread_id,
        "checkpoint": side.checkpoint_id,
        "step": side.step,
        "source": side.source,
        "created_at": side.created_at,
    }
