"""`stepwell search`: words and phrases in the messages of all threads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

import click

from stepwell.cli.asjson import plain, print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.choosing import pairs_in
from stepwell.cli.completing import thread_ids
from stepwell.cli.database import has_threads, opened
from stepwell.cli.moments import Moment
from stepwell.cli.output import width
from stepwell.cli.text import ago, name, one_line, printable
from stepwell.threads import Hit, Said, SearchPage, find_thread, search_messages, short_id

ROLE: Final = 10
WORTH_TELLING: Final = 50
"""Threads to index from which on a bar shows how far it is."""


@click.command("search")
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@click.option(
    "--thread",
    "threads",
    multiple=True,
    metavar="THREAD",
    shell_complete=thread_ids,
    help="Only in this thread; may be repeated.",
)
@click.option("--role", "roles", multiple=True, metavar="ROLE", help="Only what you, assistant, tool, … said.")
@click.option("--since", type=Moment(), help="Only what was said since then: 2d (ago), 2026-11-30.")
@click.option("--filter", "filters", multiple=True, metavar="KEY=VALUE", help="Only where the metadata says so.")
@click.option("--sort", type=click.Choice(("best", "newest")), default="best", show_default=True, help="What is first.")
@click.option("-C", "--context", type=click.IntRange(min=0), default=0, help="So many messages before and after.")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Leave out so many: the next page.")
@with_common_options
@click.pass_obj
def command(
    asked: Asked,
    /,
    words: tuple[str, ...],
    threads: tuple[str, ...],
    roles: tuple[str, ...],
    since: datetime | None,
    filters: tuple[str, ...],
    sort: str,
    **numbers: int,
) -> None:
    """Find messages of all threads in which every word of TEXT occurs.

    "Words in quotes" must stand side by side, and pay* finds what begins so. Chinese, Japanese, Korean and Thai are
    found by any run of characters. Each hit names the thread and the checkpoint with which the message first appears,
    and the branch if that is not main.

    \b
    Examples:
      stepwell search refund
      stepwell search '"new york" hotel*' --since 30d
      stepwell search 北京 --role you --sort newest
      stepwell search budget --thread trip -C 2
    """
    page = SearchPage((), False, words)
    if has_threads(asked):
        with opened(asked.path) as saver, _Bar() as bar:
            page = search_messages(
                saver,
                " ".join(words),
                thread_id=[find_thread(saver, thread) for thread in threads] or None,
                role=roles or None,
                since=since,
                filter=pairs_in(filters, "--filter "),
                sort="newest" if sort == "newest" else "best",
                limit=numbers["limit"],
                offset=numbers["offset"],
                context=numbers["context"],
                progress=bar.show,
            )
    if asked.json:
        print_json({"hits": [_json(hit) for hit in page.hits], "more": page.more, "words": list(page.words)})
    else:
        _print(page, numbers["offset"])


class _Bar:
    """A bar on stderr while many threads are indexed; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._done = 0

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.render_finish()

    @property
    def show(self) -> Callable[[int, int], None] | None:
        """What is told how far it is; None where nobody would see it."""
        return self._show if sys.stderr.isatty() else None

    def _show(self, done: int, total: int) -> None:
        if self._bar is None and total >= WORTH_TELLING:
            self._bar = click.progressbar(length=total, label="Indexing threads", file=sys.stderr)
            self._bar.render_progress()
        if self._bar is not None:
            self._bar.update(done - self._done)
            self._done = done


def _print(page: SearchPage, offset: int) -> None:
    if not page.hits:
        click.echo("nothing found" if page.words else "nothing found: the text holds no word", err=True)
        return
    for number, hit in enumerate(page.hits):
        if number and (hit.before or hit.after):
            click.echo()
        click.echo(_heading(hit))
        for said in hit.before:
            click.secho(_neighbour(said), dim=True)
        click.echo(f"  {_role(hit.said)}  {_snippet(hit)}")
        for said in hit.after:
            click.secho(_neighbour(said), dim=True)
    if page.more:
        click.echo(f"(there is more: --offset {offset + len(page.hits)} shows it)", err=True)


def _heading(hit: Hit) -> str:
    where = ""
    if hit.namespace:
        where = f" (in {name(hit.namespace)})"
    elif hit.branch is None:
        where = " (on no branch any more)"
    elif hit.branch != "main":
        where = f" ({name(hit.branch)})"
    checkpoint = click.style(short_id(hit.checkpoint_id), fg="yellow")
    labels = click.style(where, fg="cyan")
    step = click.style(f"  step {hit.step}, {ago(hit.created_at)}", dim=True)
    return f"{click.style(name(hit.thread_id), bold=True)} {checkpoint}{labels}{step}"


def _role(said: Said) -> str:
    return f"{name(said.role):<{ROLE}}"


def _neighbour(said: Said) -> str:
    calls = f" [calls {', '.join(said.calls)}]" if said.calls else ""
    return f"  {_role(said)}  {one_line(said.text + calls, max(width() - ROLE - 4, 20))}"


def _snippet(hit: Hit) -> str:
    """The snippet on one line, what fits marked."""
    parts, at = [], 0
    for start, end in hit.marks:
        parts += [_flat(hit.snippet[at:start]), click.style(_flat(hit.snippet[start:end]), fg="red", bold=True)]
        at = end
    return "".join((*parts, _flat(hit.snippet[at:]))).strip()


def _flat(text: str) -> str:
    """Text on one line, with the spaces at its ends."""
    return printable(text).replace("\n", " ").replace("\t", " ")


def _json(hit: Hit) -> dict[str, Any]:
    return {
        "thread": hit.thread_id,
        "checkpoint": hit.checkpoint_id,
        "branch": hit.branch,
        "ns": hit.namespace,
        "key": hit.key,
        "step": hit.step,
        "created_at": hit.created_at,
        "message": plain(hit.said),
        "snippet": plain(hit.snippet),
        "marks": [list(mark) for mark in hit.marks],
        "score": hit.score,
        "before": [plain(said) for said in hit.before],
        "after": [plain(said) for said in hit.after],
    }
