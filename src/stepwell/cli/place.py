"""Which thread a conversation takes place in, new, named or the last one; and which graph belongs there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import click

from stepwell.cli.arguments import wait_option
from stepwell.cli.completing import branches, thread_ids
from stepwell.cli.database import WAIT_S
from stepwell.cli.exits import USAGE
from stepwell.cli.graphs import OFFLINE, graph_flag
from stepwell.cli.surroundings import surroundings
from stepwell.cli.text import one_line, quoted, warn_person
from stepwell.errors import CheckpointNotFoundError, ThreadNotFoundError
from stepwell.threads import ThreadSaver, find_thread, latest_thread, load_checkpoint, new_thread_id, open_questions

F = TypeVar("F", bound=Callable[..., Any])
TITLE: Final = "title"
"""The metadata key under which `stepwell threads` finds what a thread is about."""
TITLE_WIDTH: Final = 60
GRAPH: Final = "graph"
"""The metadata key that says which graph ran, as --graph named it. It is compared and printed, never imported."""


class GraphForgotten(click.ClickException):
    """No graph is named, and the offline one does not belong to the thread."""

    exit_code = USAGE


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user asked for: --thread, --last, --new, --branch."""

    thread: str | None = None
    last: bool = False
    new: bool = False
    branch: str | None = None
    wait: float = WAIT_S

    @property
    def begins(self) -> bool:
        """Whether a thread begins by it; otherwise there must be one, and so a database."""
        return self.new or (self.thread is None and not self.last)

    @property
    def way_out(self) -> str:
        """How to begin a thread where this one asks to carry on, and there is nothing yet."""
        flag = "--last" if self.last else "--thread"
        named = "" if self.last else ", or add --new to begin one of this name"
        return f"Leave {flag} out to begin a thread{named}."


@dataclass(slots=True)
class Place:
    """A thread and a branch of it. `is_new`: nothing was said there yet; `title`: the first thing that was.

    wait: seconds that a run waits for another run of the thread to end. graph: the one that runs here, as MODULE:NAME;
    "" where nothing says so; graph_before: the one that ran here last. head: the checkpoint it stood at when it was
    found; due: the nodes of a turn that was not finished there, () while another run is at it or a question waits.
    """

    thread_id: str
    branch: str | None = None
    is_new: bool = False
    title: str = ""
    wait: float = WAIT_S
    graph: str = ""
    graph_before: str = ""
    head: str | None = None
    due: tuple[str, ...] = ()

    @property
    def config(self) -> dict[str, Any]:
        """The config of a run that carries on here."""
        named = {"thread_id": self.thread_id}
        if self.branch is not None:
            named["branch"] = self.branch
        metadata = {key: text for key, text in ((TITLE, self.title), (GRAPH, self.graph)) if text} | surroundings()
        return {"configurable": named, "metadata": metadata, "on_busy": "wait", "busy_timeout": self.wait}

    @property
    def flags(self) -> str:
        """What to add to a command that shall carry on here."""
        return f" --thread {quoted(self.thread_id)}" + (f" --branch {quoted(self.branch)}" if self.branch else "")

    @property
    def graph_flag(self) -> str:
        """What to add to a command that shall run the graph of this place."""
        return graph_flag(self.graph) if self.graph else ""

    def entitle(self, text: str) -> None:
        """Takes `text` as the title of the thread when it has none."""
        self.title = self.title or one_line(text, TITLE_WIDTH)


def with_place_options(command: F) -> F:
    """Gives a command --thread, --last, --new, --branch and --wait."""
    for option in (
        wait_option,
        click.option(
            "--branch", shell_complete=branches, help="Carry on in this branch of the thread instead of main."
        ),
        click.option("--new", is_flag=True, help="Begin the thread that --thread names; it must not exist."),
        click.option("--last", is_flag=True, help="Carry on in the thread that was active last."),
        click.option(
            "--thread",
            metavar="ID",
            shell_complete=thread_ids,
            help="Carry on in this thread: its id, or the beginning of it.",
        ),
    ):
        command = option(command)
    return command


def find_place(saver: ThreadSaver, wish: Wish) -> Place:
    """The place that was wished for. A thread that is named must exist, unless --new says that it shall begin now."""
    if wish.thread is not None and wish.last:
        raise click.UsageError("--thread names a thread and --last takes the latest one: give one of them.")
    if wish.new and wish.thread is None:
        raise click.UsageError("--new needs --thread NAME.")
    if wish.new and wish.branch is not None:
        raise click.UsageError("--branch names a branch that is there, and a thread that --new begins has none.")
    if wish.thread is None and not wish.last and wish.branch is not None:
        raise click.UsageError("--branch needs --thread or --last: a new thread has no branches.")
    at = _place(saver, wish)
    at.wait = wish.wait
    return at


def _place(saver: ThreadSaver, wish: Wish) -> Place:
    if wish.last:
        latest = latest_thread(saver)
        if latest is None:
            raise ThreadNotFoundError("there is no thread to carry on with yet. Leave --last out to begin one.")
        return place_in(saver, latest, wish.branch)
    if wish.thread is None:
        return Place(new_thread_id(), is_new=True)
    if wish.new:
        if saver.branches(wish.thread):
            raise click.UsageError(f"there is a thread {wish.thread!r} already. Leave --new out to carry on with it.")
        return Place(wish.thread, is_new=True)
    try:
        return place_in(saver, find_thread(saver, wish.thread), wish.branch)
    except ThreadNotFoundError as error:
        raise ThreadNotFoundError(f"{error} To begin a thread of this name, add --new.") from None


def place_in(saver: ThreadSaver, thread_id: str, branch: str | None) -> Place:
    """A branch of a thread that exists (none given: main), and what is known of the turn it stands in."""
    try:
        found = load_checkpoint(saver, thread_id, branch=branch)
    except CheckpointNotFoundError:  # registered, and nothing said in it yet
        return Place(thread_id, branch, is_new=True)
    title, graph = _text(found.metadata, TITLE), graph_in(found.metadata)
    is_cut_off = bool(found.next) and not open_questions(found) and not _is_running(saver, thread_id)
    due = tuple(found.next or ()) if is_cut_off else ()
    return Place(thread_id, branch, title=title, graph=graph, head=found.at.checkpoint, due=due)


def _is_running(saver: ThreadSaver, thread_id: str) -> bool:
    info = saver.thread_info(thread_id)
    return info is not None and info.status == "running"


def graph_in(metadata: Mapping[str, Any]) -> str:
    """The graph that metadata name, "" where they name none that could be printed as one."""
    named = _text(metadata, GRAPH)
    return named if named.isprintable() else ""


def _text(metadata: Mapping[str, Any], key: str) -> str:
    found = metadata.get(key)
    return found if isinstance(found, str) else ""


def choose_graph(at: Place, spec: str | None) -> str:
    """The graph to run here: the one that --graph names, else the offline one, where no other was.

    GraphForgotten, with the flag to give, when --graph is missing.
    """
    before = at.graph_before = at.graph
    if spec is None and not at.is_new and before != OFFLINE:
        raise GraphForgotten(
            f"thread {at.thread_id!r} belongs to another graph. Go on in it with{at.graph_flag}."
            if before
            else f"nothing says which graph thread {at.thread_id!r} belongs to: this command line did not run it last. "
            f"Name it with --graph MODULE:NAME; the offline one is {OFFLINE}."
        )
    at.graph = spec or OFFLINE
    return at.graph


def warn_of_another_graph(at: Place) -> None:
    """Says that another graph runs here than before, once nothing speaks against it any more."""
    if at.graph_before not in ("", at.graph):
        warn_person(f"thread {at.thread_id!r} was run by {at.graph_before} before; now {at.graph} runs in it.")
