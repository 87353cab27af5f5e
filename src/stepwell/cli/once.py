"""One turn in a place that was found: running it, printing what came of it, and how to go on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import click

from stepwell.cli.asjson import as_json, plain, print_json
from stepwell.cli.asked import Asked
from stepwell.cli.place import Place
from stepwell.cli.text import printable
from stepwell.cli.turn import Ended, run_turn
from stepwell.errors import StepwellError
from stepwell.threads import OpenTurn, ThreadSaver, open_turn
from stepwell.threads.chain import MAIN
from stepwell.threads.turns import MESSAGES
from stepwell.types import Interrupt


@dataclass(frozen=True, slots=True)
class Again:
    """The commands that go on in a place: to finish a turn, and to answer a question."""

    go_on: str
    answer: str


def carry_out(
    asked: Asked,
    saver: ThreadSaver,
    at: Place,
    graph: Any,
    given: Any,
    again: Again,
    *,
    says_new: bool,
    begun: Callable[[], None] = lambda: None,
) -> Ended:
    """Runs one turn. What is raised leaves behind how to finish it, and whether what was said is in the thread.

    begun: called once the turn has begun, and never where its input is refused or another run holds the thread.
    """
    has_begun = False

    def begins() -> None:
        nonlocal has_begun
        if not has_begun:
            has_begun = True
            begun()

    try:
        return run_turn(graph, given, at.config, (lambda _: None) if asked.json else _say, begins)
    except BaseException:
        if (turn := unfinished(saver, at)) is not None:
            asked.go_on = again.go_on
            asked.heard = not says_new or has_begun or turn.before == at.head
            if asked.heard:
                begins()
        raise


def unfinished(saver: ThreadSaver, at: Place) -> OpenTurn | None:
    """The turn that is open here; None when there is none, or the database cannot say so any more."""
    with suppress(StepwellError):
        return open_turn(saver, at.thread_id, branch=at.branch)
    return None


def print_ended(asked: Asked, at: Place, ended: Ended, again: Again) -> None:
    """What a turn ended with: its reply or the whole state, questions, and how to go on."""
    if asked.json:
        print_json(_json(at, ended))
        return
    if ended.reply:
        click.echo()
    else:
        click.echo(json.dumps(plain(ended.values), ensure_ascii=False, indent=2))
    print_questions(ended.questions)
    if ended.questions:
        click.echo(f"answer with: {again.answer}", err=True)
    elif ended.next:
        click.echo(f"stopped before {printable(', '.join(ended.next))}; go on with: {again.go_on}", err=True)


def print_questions(questions: Sequence[Interrupt]) -> None:
    """Each open question on a line of stderr; with their ids where there are several."""
    for question in questions:
        id = f" {question.id}" if len(questions) > 1 else ""
        click.echo(f"waiting{id}: {printable(as_json(question.value))}", err=True)


def _say(text: str) -> None:
    click.echo(printable(text), nl=False)  # which flushes


def _json(at: Place, ended: Ended) -> dict[str, Any]:
    return {
        "thread": at.thread_id,
        "branch": at.branch or MAIN,
        "checkpoint": ended.checkpoint_id,
        "status": ended.status,
        "reply": ended.reply,
        "questions": [plain(question) for question in ended.questions],
        "next": list(ended.next),
        "values": plain({key: value for key, value in ended.values.items() if key != MESSAGES}),
    }
