"""What the browser shows, as styled text: nothing here knows a widget."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from rich.text import Text

from stepwell.cli.asjson import plain
from stepwell.cli.diff import diff_lines
from stepwell.cli.show import due_text, task_text, wrote_text
from stepwell.cli.text import ago, name, one_line, printable
from stepwell.cli.threads import STATUS_COLOURS
from stepwell.threads import CheckpointDiff, LogLine, Shown, ThreadRow, short_id
from stepwell.threads.chain import MAIN

HEADINGS = ("Title", "Active", "State", "Turns", "Branches", "Thread")
SAID_WIDTH = 60
BRANCHES_WIDTH = 30
ROLE_WIDTH = 11
KEYS = (
    ("↑ ↓", "move"),
    ("Enter", "open the thread; on a line of the tree: show that checkpoint"),
    ("/", "search the threads: as you type by title and id, with Enter in all messages"),
    ("Tab", "go to the next pane"),
    ("1 2 3", "transcript, state, diff"),
    ("m", "mark a checkpoint, d compares with it"),
    ("d", "what changed since the marked checkpoint, or since the parent"),
    ("f", "fork: a branch that begins at this checkpoint"),
    ("t", "tag this checkpoint"),
    ("r", "resume: carry on in this thread, at the branch under the cursor"),
    ("a", "also the ends that forks and rewinds left behind"),
    ("F5", "read again"),
    ("Esc", "back"),
    ("q", "leave"),
)
"""The keys and what they do, as the help shows them."""


def thread_cells(row: ThreadRow) -> tuple[Text, ...]:
    """The cells of a thread in the list, in the order of HEADINGS."""
    return (
        Text(one_line(row.title or "(no title)", SAID_WIDTH)),
        Text(ago(row.updated_at), "dim"),
        Text(row.status, STATUS_COLOURS.get(row.status, "")),
        Text("" if row.turns is None else f"{row.turns:,}", justify="right"),
        Text(one_line(", ".join(each for each in row.branches if "@" not in each), BRANCHES_WIDTH), "cyan"),
        Text(name(row.thread_id), "dim"),
    )


def matches(row: ThreadRow, text: str) -> bool:
    """Whether a thread's title, first prompt or id holds `text`, in any case."""
    return text.casefold() in f"{row.title}\n{row.first_prompt}\n{row.thread_id}".casefold()


def log_text(line: LogLine, marked: str | None) -> Text:
    """A line of the tree: lanes, short id, branches and tags, and what was said."""
    text = Text(line.lanes, "dim")
    if line.turn is None:
        return text
    last = line.turn.last
    text.append(" ")
    text.append(short_id(last.checkpoint_id), "reverse yellow" if last.checkpoint_id == marked else "yellow")
    labels = [*map(name, last.branches), *(f"tag: {name(tag)}" for tag in last.tags)]
    if labels:
        text.append(f" ({', '.join(labels)})", "cyan")
    said = line.turn.said or line.turn.reply or ", ".join(line.turn.nodes) or line.turn.first.source
    text.append(" " + one_line(said, SAID_WIDTH))
    if last.next:
        text.append(f" [next: {name(', '.join(last.next))}]", "magenta")
    return text


def checkpoints_of(lines: Iterable[LogLine]) -> tuple[str | None, ...]:
    """The checkpoint behind each line of the tree; None where a line only joins lanes."""
    return tuple(None if line.turn is None else line.turn.last.checkpoint_id for line in lines)


def transcript_text(shown: Shown) -> Text:
    """What was said up to a checkpoint, each message under who said it, and the questions that wait."""
    text = Text()
    for said in shown.said:
        text.append(f"{printable(said.role):<{ROLE_WIDTH}}", "bold")
        calls = f"[calls {printable(', '.join(said.calls))}] " if said.calls else ""
        text.append(calls + printable(said.text) + "\n\n")
    for question in shown.questions:
        text.append(f"{'asks':<{ROLE_WIDTH}}", "bold yellow")
        text.append(_value(question.value) + "\n\n", "yellow")
    return text if text.plain else Text("Nothing was said up to here.", "dim")


def state_text(shown: Shown) -> Text:
    """Where a checkpoint stands in the chain, its keys and values, and who wrote them."""
    text = Text()
    for label, value in _facts(shown):
        text.append(f"{label:<{ROLE_WIDTH}} ", "bold")
        text.append(printable(value) + "\n")
    for key, each in shown.values.items():
        text.append(f"\n{printable(key)}\n", "bold")
        text.append(_value(each) + "\n")
    return text


def _facts(shown: Shown) -> Iterator[tuple[str, str]]:
    yield "checkpoint", shown.checkpoint_id
    yield "parent", shown.parent_id or "none: the chain begins here"
    yield "made", f"step {shown.step}, {shown.source}, {shown.created_at}"
    yield "next", due_text(shown)
    for task in shown.tasks:
        yield "task", task_text(task)
    for wrote in shown.wrote:
        yield "written by", wrote_text(wrote)


def _value(value: object) -> str:
    return printable(json.dumps(plain(value), ensure_ascii=False, indent=2))


def next_command(shown: Shown) -> list[str] | None:
    """The command that carries on at a checkpoint; None where it is the head of no branch.

    A question or an unfinished turn is resumed; where nothing is due, a chat goes on.
    """
    branch = next((each for each in shown.branches if each == MAIN), next(iter(shown.branches), None))
    if branch is None:
        return None
    where = ["--branch", branch] if branch != MAIN else []
    if shown.next:
        return ["resume", shown.thread_id, *where]
    return ["chat", "--thread", shown.thread_id, *where]


def diff_text(found: CheckpointDiff) -> Text:
    """What two checkpoints hold differently, in the colours that people know from it."""
    text = Text()
    for line, colour in diff_lines(found):
        text.append(line + "\n", colour or "")
    return text


def help_text() -> Text:
    """The keys, a line each."""
    text = Text()
    for key, what in KEYS:
        text.append(f"{key:<7}", "bold yellow")
        text.append(what + "\n")
    return text
