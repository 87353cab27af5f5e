"""`stepwell show`: one checkpoint of a thread."""

from __future__ import annotations

from typing import Any, Final

import click

from stepwell.cli.arguments import checkpoint_argument, checkpoint_named, thread_argument
from stepwell.cli.asjson import as_json, plain, print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.completing import branches
from stepwell.cli.database import opened
from stepwell.cli.text import count, folded, name, printable
from stepwell.threads import (
    Said,
    Shown,
    ShownTask,
    find_namespace,
    find_thread,
    short_id,
    show_checkpoint,
)
from stepwell.types import Provenance

INDENT = "            "
LAST: Final = 20
"""Messages that are shown when nothing else is asked for."""


@click.command("show")
@thread_argument
@checkpoint_argument
@click.option("--branch", shell_complete=branches, help="The head of this branch, instead of main's.")
@click.option("--ns", metavar="NAMESPACE", help="The graph that ran inside the thread's graph in this namespace.")
@click.option("--messages", type=click.IntRange(min=0), metavar="N", help=f"The last N messages; else {LAST}.")
@click.option("--full", is_flag=True, help="Every message, and long values in full.")
@with_common_options
@click.pass_obj
def command(
    asked: Asked,
    thread: str,
    checkpoint: str | None,
    branch: str | None,
    ns: str | None,
    messages: int | None,
    full: bool,
) -> None:
    """Show a CHECKPOINT of THREAD, or the latest: what was said, its state, what is next, who wrote what.

    CHECKPOINT is an id, its beginning, the short form that `stepwell log` prints, a branch, or a tag.

    \b
    Examples:
      stepwell show trip                     where it stands
      stepwell show trip oslo --messages 4   the last messages of a branch
      stepwell show trip 20a52b7 --full      all that a checkpoint holds
      stepwell show trip --ns research       what a graph inside it holds
    """
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        space = find_namespace(saver, thread_id, ns) if ns else ""
        id = checkpoint_named(saver, thread_id, checkpoint, ns=space)
        last = LAST if messages is None and not full and not asked.json else messages
        shown = show_checkpoint(saver, thread_id, id, branch=branch, ns=space, messages=last)
    if asked.json:
        print_json(_json(shown))
    else:
        _print(shown, full)


def _print(shown: Shown, full: bool) -> None:
    names = (*shown.branches, *(f"tag: {tag.name}" for tag in shown.tags))
    labels = click.style(f" ({', '.join(map(name, names))})", fg="cyan") if names else ""
    click.echo(f"thread      {name(shown.thread_id)}")
    click.echo(f"checkpoint  {click.style(shown.checkpoint_id, fg='yellow')}{labels}")
    if shown.ns:
        click.echo(f"namespace   {name(shown.ns)}")
    cut = f" ({count(shown.cut, 'checkpoint')} between the two pruned)" if shown.cut else ""
    click.echo(f"parent      {shown.parent_id or 'none: the chain begins here'}{cut}")
    click.echo(f"made        step {shown.step}, {shown.source}, {shown.created_at}")
    click.echo(f"next        {printable(due_text(shown))}")
    for task in shown.tasks:
        click.echo(f"task        {printable(task_text(task))}")
    for question in shown.questions:
        click.secho(f"question    {_value_text(question.value, full)}  (id {question.id})", fg="yellow")
    for wrote in shown.wrote:
        click.echo(f"written by  {printable(wrote_text(wrote))}")
    for space in shown.namespaces:
        click.echo(f"inside      {name(space)}")
    for key, value in shown.values.items():
        click.echo(f"{printable(key)} = {_value_text(value, full)}")
    if shown.said or shown.said_before:
        click.echo()
    if shown.said_before:
        click.secho(
            f"({count(shown.said_before, 'message')} before; --full shows all, --messages N the last N)", dim=True
        )
    for said in shown.said:
        click.echo(_said_text(said, full))


def _said_text(said: Said, full: bool) -> str:
    text = printable(said.text if full else folded(said.text)).replace("\n", "\n" + INDENT)
    calls = f"[calls {printable(', '.join(said.calls))}]" if said.calls else ""
    role = click.style(f"{printable(said.role):<10}", bold=True)
    return f"{role}  {' '.join(part for part in (text, calls) if part)}"


def due_text(shown: Shown) -> str:
    """The nodes that are next."""
    return "not recorded" if shown.next is None else ", ".join(shown.next) or "nothing: the run is over"


def task_text(task: ShownTask) -> str:
    """What became of a task."""
    fate = "finished" if task.finished else "not finished"
    attempt = f", attempt {task.attempt}" if task.attempt > 1 else ""
    return f"{task.node}: {fate}{attempt}" + (f", {task.error}" if task.error else "")


def wrote_text(wrote: Provenance) -> str:
    """Who wrote, and which keys."""
    return f"{wrote.node}: {', '.join(wrote.channels) or 'nothing'}" + (f", {wrote.error}" if wrote.error else "")


def _value_text(value: Any, full: bool) -> str:
    text = as_json(value)
    return printable(text if full else folded(text))


def _json(shown: Shown) -> dict[str, Any]:
    return {
        "thread": shown.thread_id,
        "checkpoint": shown.checkpoint_id,
        "short": short_id(shown.checkpoint_id),
        "parent": shown.parent_id,
        "pruned": shown.cut,
        "namespace": shown.ns,
        "namespaces": list(shown.namespaces),
        "step": shown.step,
        "source": shown.source,
        "created_at": shown.created_at,
        "run": shown.run_id,
        "branches": list(shown.branches),
        "tags": [tag.name for tag in shown.tags],
        "next": None if shown.next is None else list(shown.next),
        "messages": [plain(said) for said in shown.said],
        "messages_before": shown.said_before,
        "values": plain(shown.values),
        "tasks": [plain(task) for task in shown.tasks],
        "questions": [plain(question) for question in shown.questions],
        "written_by": [
            {"node": wrote.node, "keys": list(wrote.channels), "task": wrote.task_id} for wrote in shown.wrote
        ],
        "metadata": plain(dict(shown.metadata)),
    }
