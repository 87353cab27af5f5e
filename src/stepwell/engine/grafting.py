"""Asking again inside a graph inside a task: it goes on from where it asked, under the namespace of the new task.

A second answer to an old question forks the thread. The forked task has a new id, and a graph inside it a new
namespace; it starts from the checkpoint of the old one, with the records that were made from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepwell.engine.effects import History
from stepwell.engine.interrupts import FROM_BELOW, open_questions
from stepwell.engine.opening import node_names
from stepwell.engine.run import Run
from stepwell.engine.saving import Steps, revised
from stepwell.saves import At, TaskRecord
from stepwell.types import NS_END, NS_SEP

LOOK_BACK = 100
"""How many checkpoints back a question is looked for: to say that it was answered, or to ask it again."""
Taken = Mapping[str, Sequence[tuple[str, Any]]]


def asked_again(records: Sequence[TaskRecord]) -> tuple[list[TaskRecord], list[TaskRecord]]:
    """The records of a step that was left: those that asked, open again, and those that finished without asking."""
    asked = [revised(record, finished=False, answers=()) for record in records if record.interrupts]
    return asked, [record for record in records if not record.interrupts and record.finished]


def still_open(records: Sequence[TaskRecord]) -> tuple[list[TaskRecord], list[TaskRecord]]:
    """The records of a step that nobody left yet: those that are unfinished, as they are, and those that finished."""
    return [record for record in records if not record.finished], [record for record in records if record.finished]


def answers_from_above(run: Run, asked: Sequence[TaskRecord]) -> dict[str, Any]:
    """{question id: answer} of what the task around this run was given for these."""
    assert run.parent is not None
    found = {}
    for record in asked:
        for question, _ in open_questions(record):
            answer = run.parent.questions.answer_to(question.id)
            if answer is not None:
                found[question.id] = answer[0]
    return found


def start_inside(run: Run, asked: Sequence[TaskRecord], taken: Taken | None = None) -> Steps[None]:
    """Lets the graphs that asked start from where they asked: found by their task, and by name where no two share one.

    taken: only those whose question was answered; without it all, and those that failed from where they failed.
    """
    found: dict[str, tuple[str, str] | None] = {}
    named: dict[str, tuple[str, str] | None] = {}
    for record in asked:
        given = ((name, None) for _, name in record.interrupts) if taken is None else taken.get(record.task, ())
        ids = {identity[1:] for identity, _ in given if identity.startswith(FROM_BELOW)}
        if ids or taken is None:
            ns = ns_inside(run, record)
            found[ns] = yield from _where_asked(run, ns, ids)
            names = node_names(ns)
            named[names] = None if names in named else found[ns]
    run.starts = {**run.starts, **{key: start for key, start in {**named, **found}.items() if start is not None}}


def ns_inside(run: Run, record: TaskRecord) -> str:
    """The namespace of a graph inside the task of a record, where that task ran: itself another's, when grafted."""
    here = run.loaded.at.ns if run.loaded is not None else ""
    own = f"{record.node}{NS_END}{record.task}"
    return f"{here}{NS_SEP}{own}" if here else own


def _where_asked(run: Run, ns: str, ids: set[str]) -> Steps[tuple[str, str] | None]:
    assert run.at is not None
    page = yield from History(At(run.at.thread, ns, None, run.at.branch), limit=LOOK_BACK)
    for item in page.items:
        made = (*item.done, *item.pending)
        if not ids or any(question.id in ids for record in made for question, _ in record.interrupts):
            return ns, item.at.checkpoint or ""
    return None
