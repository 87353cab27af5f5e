"""`stepwell edit`: the state of a thread in an editor."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from stepwell.cli.arguments import thread_argument
from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.completing import branches
from stepwell.cli.confirming import somebody_is_there
from stepwell.cli.database import opened
from stepwell.cli.drafts import DraftError, named_editor, new_draft, open_editor, read, written
from stepwell.cli.graphs import load_graph
from stepwell.cli.rewind import tell_undo, undo_of
from stepwell.cli.subcommands import example
from stepwell.cli.text import checked, checked_of, name, printable, quoted
from stepwell.errors import InvalidUpdateError, StaleRunError, ThreadBusyError
from stepwell.threads import Draft, Edited, Rewound, draft_edit, find_thread, save_edit, short_id
from stepwell.threads.chain import MAIN
from stepwell.threads.paths import format_path, parse_path


@click.command(
    "edit",
    epilog=example(
        "stepwell edit 01a2",
        "EDITOR='code --wait' stepwell edit 01a2 --branch oslo",
        "stepwell edit 01a2 --set 'messages[-1].content=\"Hello Ada.\"'",
        "stepwell edit 01a2 --set todos.0.done=true --set title=null",
        "stepwell edit 01a2 --print > state.yaml",
        "stepwell edit 01a2 --from state.yaml",
    ),
)
@thread_argument
@click.option("--branch", shell_complete=branches, help="Edit where this branch stands instead of main.")
@click.option("--set", "sets", multiple=True, metavar="PATH=JSON", help="Change one value; no editor is opened.")
@click.option("--from", "source", metavar="FILE", help="Take the state from a file; `-` is stdin. Other keys stay.")
@click.option("--print", "only_print", is_flag=True, help="Print the state as it would be edited, and change nothing.")
@click.option("--graph", "spec", metavar="MODULE:NAME", help="Make the update with this graph, so that routes decide.")
@click.option("--as-node", metavar="NODE", help="With --graph: in whose name. Else that of the node that ran last.")
@with_common_options
@click.pass_obj
def command(
    asked: Asked,
    thread: str,
    branch: str | None,
    sets: tuple[str, ...],
    source: str | None,
    only_print: bool,
    spec: str | None,
    as_node: str | None,
) -> None:
    """Open the state of a THREAD in $VISUAL or $EDITOR, and save what was changed as one new checkpoint.

    YAML where PyYAML is installed, else JSON. Plain values can be edited; messages show their id, role and content, and
    keep the rest. A file left as it was, or an editor that ends with an error, writes nothing.

    What is due and what was asked stays so. With --graph the update is made in the name of a node, and its routes
    decide what comes next.
    """
    if bool(sets) + (source is not None) + only_print > 1:
        raise click.UsageError("--set, --from and --print are three ways to edit: give one of them.")
    if as_node is not None and spec is None:
        raise click.UsageError("--as-node names a node of a graph: name the graph with --graph.")
    needs_editor = not (sets or only_print) and source is None
    if needs_editor and not named_editor() and not somebody_is_there():
        raise click.UsageError(
            "there is no terminal for an editor. Change values with --set PATH=JSON, take the state from a file with "
            "--from FILE, print it with --print, or name an editor that needs none in VISUAL or EDITOR."
        )
    with opened(asked.path, runs=True) as saver:
        thread_id = find_thread(saver, thread)
        draft = draft_edit(saver, thread_id, branch=branch)
        if only_print:
            _print(asked, draft)
            return
        graph = load_graph(spec, saver) if spec is not None else None

        def save(content: Mapping[str, Any]) -> Edited:
            return save_edit(saver, draft, content, graph=graph, as_node=as_node)

        if needs_editor:
            edited = _in_editor(asked, draft, save)
        else:
            edited = _saved(save, _with_sets(draft, sets) if source is None else _from(source))
    _tell(asked, edited)


def _saved(save: Callable[[Mapping[str, Any]], Edited], content: Mapping[str, Any]) -> Edited:
    try:
        return save(content)
    except InvalidUpdateError as error:
        raise DraftError(f"{error} Nothing was written.") from None


def _print(asked: Asked, draft: Draft) -> None:
    if asked.json:
        where = {"thread": draft.thread_id, "branch": draft.branch, "checkpoint": draft.checkpoint_id}
        print_json({**where, "state": draft.content})
    else:
        click.echo(written(draft.content)[0], nl=False)


def _tell(asked: Asked, edited: Edited) -> None:
    rewound = Rewound(edited.thread_id, edited.branch, before=edited.before, now=edited.checkpoint_id)
    undo = undo_of(rewound, asked.db_flag) if edited.changed else None
    if asked.json:
        print_json(
            {
                "thread": edited.thread_id,
                "branch": edited.branch,
                "before": edited.before,
                "checkpoint": edited.checkpoint_id,
                "changed": list(edited.changed),
                "undo": undo,
            }
        )
    elif undo is None:
        click.echo("Nothing was changed, and nothing was written.")
    else:
        changed = ", ".join(map(name, edited.changed))
        tell_undo(f"{name(edited.branch)} is at {short_id(edited.checkpoint_id)} now; changed: {changed}.", undo)


# ------------------------------------------------------------------ an editor


def _in_editor(asked: Asked, draft: Draft, save: Callable[[Mapping[str, Any]], Edited]) -> Edited:
    """Opens the editor until what it leaves can be saved; a draft that cannot stays, and is named."""
    what = f"thread {name(draft.thread_id)}, branch {name(draft.branch)}, checkpoint {draft.checkpoint_id}"
    text, suffix = written(draft.content, what)
    path = new_draft(text, suffix)
    keeps = False
    try:
        while True:
            open_editor(path)
            try:
                return save(_whole(path, suffix, draft))
            except (DraftError, InvalidUpdateError) as error:
                keeps = True
                if not _again(error):
                    raise DraftError(f"{_message(error)} Nothing was written; {_kept(asked, draft, path)}") from None
                keeps = False
            except (ThreadBusyError, StaleRunError):
                keeps = True
                click.echo(f"Nothing was written; {_kept(asked, draft, path)}", err=True)
                raise
    finally:
        if not keeps:
            path.unlink(missing_ok=True)


def _whole(path: Path, suffix: str, draft: Draft) -> Mapping[str, Any]:
    content = read(checked_of(lambda: path.read_text(encoding="utf-8"), str(path)), suffix, str(path))
    gone = [key for key in draft.content if key not in content]
    if gone:
        raise DraftError(f"{path}: {', '.join(gone)} is missing. A key cannot be taken away; give it another value.")
    return content


def _again(error: Exception) -> bool:
    """Whether a person wants to go on editing; without one at the terminal nobody does."""
    if not somebody_is_there():
        return False
    click.echo(f"{click.style('Error:', fg='red')} {printable(_message(error))}", err=True)
    return click.confirm("Edit it again?", default=True, err=True)


def _message(error: Exception) -> str:
    return error.message if isinstance(error, click.ClickException) else str(error)


def _kept(asked: Asked, draft: Draft, path: Path) -> str:
    branch = f" --branch {quoted(draft.branch)}" if draft.branch != MAIN else ""
    where = f"{quoted(draft.thread_id)}{branch} --from {quoted(str(path))}"
    return f"the draft is kept. Use it with: stepwell edit{asked.db_flag} {where}"


# ------------------------------------------------------------------ without one


def _from(source: str) -> Mapping[str, Any]:
    if source == "-":
        return read(checked_of(sys.stdin.read, "stdin"), "", "stdin")
    path = Path(source)
    try:
        return read(checked_of(lambda: path.read_text(encoding="utf-8"), source), path.suffix, source)
    except OSError as error:
        raise click.UsageError(f"--from {source}: {error.strerror}.") from None


def _with_sets(draft: Draft, sets: Sequence[str]) -> Mapping[str, Any]:
    content = copy.deepcopy(draft.content)
    for each in sets:
        checked(each, "--set")
        path, equals, value = _split(each)
        if not equals:
            raise click.UsageError(f"--set {each}: write it as PATH=JSON, for example todos.0.done=true.")
        try:
            new = json.loads(value)
        except ValueError:
            hint = json.dumps(value, ensure_ascii=False)
            raise click.UsageError(f"--set {each}: {value!r} is not JSON. Text goes in quotes: {path}={hint}") from None
        _put(content, path, new)
    return content


def _split(text: str) -> tuple[str, str, str]:
    """(path, `=`, value) at the first `=` that is in no quotes."""
    quote = ""
    for at, character in enumerate(text):
        if character in "\"'" and quote in ("", character):
            quote = "" if quote else character
        elif character == "=" and not quote:
            return text[:at], "=", text[at + 1 :]
    return text, "", ""


def _put(content: dict[str, Any], text: str, new: Any) -> None:
    """Puts a value where a path leads: a key of a mapping, which may be new, or an element of a list that is there."""
    path = parse_path(text)
    place: Any = content
    for depth, step in enumerate(path):
        is_last = depth == len(path) - 1
        if isinstance(place, list) and _number(step) is not None and -len(place) <= _number(step) < len(place):
            key: Any = _number(step)
        elif isinstance(place, dict) and (str(step) in place or (is_last and place is not content)):
            key = str(step)
        else:
            raise click.UsageError(f"--set {text}: the state has no {format_path(path[: depth + 1])}.")
        if is_last:
            place[key] = new
        else:
            place = place[key]


def _number(step: str | int) -> Any:
    if isinstance(step, int):
        return step
    return int(step) if step.isdecimal() else None
