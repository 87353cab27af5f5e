"""`stepwell tag`: names for checkpoints, with a note."""

from __future__ import annotations

from typing import Any

import click

from stepwell.cli.arguments import checkpoint_argument, checkpoint_named, thread_argument
from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.completing import tags
from stepwell.cli.database import opened
from stepwell.cli.output import width
from stepwell.cli.rewind import tell_undo
from stepwell.cli.subcommands import ListedFirst, example
from stepwell.cli.text import ago, columns, name, one_line, pad, quoted, widest
from stepwell.threads import delete_tag, find_thread, list_tags, move_tag, short_id, tag_checkpoint
from stepwell.types import TagInfo

LEAST_NOTE = 20


@click.group(
    "tag",
    cls=ListedFirst,
    epilog=example(
        "stepwell tag 01a2",
        "stepwell tag create 01a2 good --note 'the answer we want'",
        "stepwell tag move 01a2 good 3f9c2ab",
        "stepwell tag delete 01a2 good",
        "stepwell rewind 01a2 good",
    ),
)
@with_common_options
def command() -> None:
    """List, create, move and delete the tags of a THREAD: names for checkpoints, each with a note.

    A tag may stand wherever a command asks for a CHECKPOINT, and what is tagged is never pruned.
    `stepwell tag THREAD` is short for `stepwell tag list THREAD`.
    """


@command.command("list", epilog=example("stepwell tag list 01a2", "stepwell tag list 01a2 --json"))
@thread_argument
@with_common_options
@click.pass_obj
def list_(asked: Asked, thread: str) -> None:
    """The tags of a THREAD, oldest first: the checkpoint each names, since when, and its note."""
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        found = list_tags(saver, thread_id)
    if asked.json:
        print_json({"thread": thread_id, "tags": [_row(tag) for tag in found]})
        return
    if not found:
        click.echo("no tags", err=True)
    wide = widest(name(tag.name) for tag in found)
    for tag in found:
        line = f"{pad(name(tag.name), wide)}  {short_id(tag.checkpoint_id)}  {ago(tag.created_at)}"
        note = one_line(tag.note, max(LEAST_NOTE, width() - columns(line) - 2))
        click.echo(f"{line}  {note}".rstrip())


@command.command(epilog=example("stepwell tag create 01a2 good", "stepwell tag create 01a2 start 3f9c2ab --note first"))
@thread_argument
@click.argument("tag")
@checkpoint_argument
@click.option("--note", default="", help="What to remember of it.")
@with_common_options
@click.pass_obj
def create(asked: Asked, thread: str, tag: str, checkpoint: str | None, note: str) -> None:
    """Give a CHECKPOINT of THREAD, or where main stands, the name TAG."""
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        made = tag_checkpoint(saver, thread_id, tag, checkpoint_named(saver, thread_id, checkpoint), note=note)
    undo = f"stepwell tag delete{asked.db_flag} {quoted(thread_id)} {quoted(tag)}"
    if asked.json:
        print_json({"thread": thread_id, **_row(made), "undo": undo})
    else:
        tell_undo(f"tag {name(tag)} names {short_id(made.checkpoint_id)}.", undo)


@command.command(epilog=example("stepwell tag move 01a2 good", "stepwell tag move 01a2 good 3f9c2ab --note better"))
@thread_argument
@click.argument("tag", shell_complete=tags)
@checkpoint_argument
@click.option("--note", default=None, help="Another note; without it the note stays.")
@with_common_options
@click.pass_obj
def move(asked: Asked, thread: str, tag: str, checkpoint: str | None, note: str | None) -> None:
    """Put a TAG of THREAD onto another CHECKPOINT, or onto where main stands."""
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        moved = move_tag(saver, thread_id, tag, checkpoint_named(saver, thread_id, checkpoint), note=note)
    where = f"{quoted(thread_id)} {quoted(tag)} {moved.before.checkpoint_id}"
    old = f" --note {quoted(moved.before.note)}" if moved.before.note != moved.tag.note else ""
    undo = f"stepwell tag move{asked.db_flag} {where}{old}"
    if asked.json:
        print_json({"thread": thread_id, **_row(moved.tag), "before": moved.before.checkpoint_id, "undo": undo})
    else:
        now, then = short_id(moved.tag.checkpoint_id), short_id(moved.before.checkpoint_id)
        tell_undo(f"tag {name(tag)} names {now} now; it named {then}.", undo)


@command.command(epilog=example("stepwell tag delete 01a2 good"))
@thread_argument
@click.argument("tag", shell_complete=tags)
@with_common_options
@click.pass_obj
def delete(asked: Asked, thread: str, tag: str) -> None:
    """Take a TAG of THREAD away. The checkpoint stays; what only the tag kept may be pruned from now on."""
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        gone = delete_tag(saver, thread_id, tag)
    note = f" --note {quoted(gone.note)}" if gone.note else ""
    where = f"{quoted(thread_id)} {quoted(tag)} {gone.checkpoint_id}"
    undo = f"stepwell tag create{asked.db_flag} {where}{note}"
    if asked.json:
        print_json({"thread": thread_id, **_row(gone), "undo": undo})
    else:
        tell_undo(f"tag {name(tag)} is gone; it named {short_id(gone.checkpoint_id)}.", undo)


def _row(tag: TagInfo) -> dict[str, Any]:
    return {"tag": tag.name, "checkpoint": tag.checkpoint_id, "note": tag.note, "created_at": tag.created_at}
