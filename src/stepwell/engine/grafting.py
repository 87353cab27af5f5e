"""Asking again inside a graph inside a task: it goes on from where it asked, under the namespace of the new task.

A second answer to an old question forks the thread. The forked task has a new id, and a graph inside it a new
namespace; it starts from the checkpoint of the old one, with the records that were made from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from stepwell.engine.effects import History
from stepwell.engine.interrupts import FROM_BELOW, open_questions
from stepwell.engine.opening import node_names
from stepwell.engine.run import Run
from stepwell.engine.saving import Steps, revised
from stepwell.saves import At, Loaded, TaskRecord
from stepwell.types import NS_END, NS_SEP

if TYPE_CHECKING:
    from stepwell.engine.task import Task

LOOK_BACK = 100
"""How many checkpoints back a question is looked for: to say that it was answered, or to ask it again."""


def asked_again(records: Sequence[TaskRecord]) -> tuple[list[TaskRecord], list[TaskRecord]]:
    """The records of a step that was left: those that asked, open again, and those that finished without asking."""
    asked = [revised(record, finished=False, answers=(), children={}) for record in records if record.interrupts]
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


def start_inside(run: Run, asked: Sequence[TaskRecord]) -> Steps[None]:
    """Lets the graphs inside these tasks start from where they asked, or failed."""
    found: dict[str, tuple[str, str]] = {}
    for record in asked:
        ids = {name[1:] for _, name in open_questions(record) if name.startswith(FROM_BELOW)}
        own = _ns_inside(run, record)
        for number in count():  # a node may run several graphs
            ns = f"{own}{NS_SEP}{number}" if number else own
            start = yield from _where_asked(run, ns, ids)
            if start is None:
                break
            found[ns] = start
        if ids and own not in found and not record.children:  # it has a memory of its own: a namespace for all tasks
            ns = node_names(own)
            start = yield from _where_asked(run, ns, ids, else_newest=False)
            if start is not None:
                found[ns] = start
    if found:
        run.starts = {**run.starts, **found}


def move_starts(run: Run, record: TaskRecord, task: Task) -> None:
    """What starts inside the task of a record starts inside `task` instead, the same one at another checkpoint."""
    was = _ns_inside(run, record)
    for ns, start in [*run.starts.items()]:
        if ns == was or ns.startswith(was + NS_SEP):
            run.starts[task.ns + ns.removeprefix(was)] = start


def _ns_inside(run: Run, record: TaskRecord) -> str:
    """The namespace of a graph inside the task of a record, where that task ran: itself another's, when grafted."""
    here = run.loaded.at.ns if run.loaded is not None else ""
    own = f"{record.node}{NS_END}{record.task}"
    return f"{here}{NS_SEP}{own}" if here else own


def _where_asked(run: Run, ns: str, ids: set[str], *, else_newest: bool = True) -> Steps[tuple[str, str] | None]:
    """The checkpoint of a namespace at which these were asked, or else its newest; None where there is none."""
    assert run.at is not None
    page = yield from History(At(run.at.thread, ns, None, run.at.branch), limit=LOOK_BACK)
    asked = [item for item in page.items if not ids.isdisjoint(_questions(item))]
    # Branches share a namespace without task ids, and each asks there: this one's was made from where it stands.
    ours = [item for item in asked if (item.metadata.get("parents") or {}).get(run.ns) == run.checkpoint_id]
    for item in ours or asked or (page.items if else_newest else ()):
        return ns, item.at.checkpoint or ""
    return None


def _questions(item: Loaded) -> set[str]:
    made = (*item.done, *item.pending)
    return {question.id for record in made for question, _ in record.interrupts}
