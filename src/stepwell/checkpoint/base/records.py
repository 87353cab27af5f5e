"""Task records ↔ the rows (task id, channel, value) that the public interface speaks of.

A record's own writes come first, numbered from 0; then, as rows of their kind: the error, the open questions, and
what was asked and answered (`__resume__`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stepwell.checkpoint.base.types import PendingWrite
from stepwell.checkpoint.base.writes import WRITES_IDX_MAP
from stepwell.saves import TaskRecord
from stepwell.types import ERROR, ERROR_SOURCE, INTERRUPT, NO_WRITES, RESUME, Interrupt

ASKED, ANSWERS, CHILDREN = "asked", "answers", "children"
RAW = "raw"
"""Key of an error, and identity of a question or answer, that another maker filed in a form of its own."""
PLACE = "#"
"""Begins the identity of a question or answer of which only the place among its like is known."""
_NO_OUTPUT = frozenset({ERROR, ERROR_SOURCE, INTERRUPT, RESUME})


def rows_of(record: TaskRecord, *, asked: bool = True) -> list[tuple[str, Any]]:
    """What to file of a record. `asked`: also how open questions are recognised, when nothing was answered yet."""
    rows: list[tuple[str, Any]] = list(record.writes)
    if record.finished and not rows and record.error is None:
        rows.append((NO_WRITES, None))
    if record.error is not None:
        rows.append((ERROR, record.error[RAW] if RAW in record.error else dict(record.error)))
    answered = {identity for identity, _ in record.answers}
    if not record.finished:
        open_ = [(question, identity) for question, identity in record.interrupts if identity not in answered]
        if open_:
            rows.append((INTERRUPT, _shown(open_)))
    if not _by_place(record.interrupts, record.answers) or (asked and record.children):
        if record.answers or (asked and (record.interrupts or record.children)):
            told = {ASKED: list(record.interrupts), ANSWERS: list(record.answers)}
            rows.append((RESUME, {**told, CHILDREN: dict(record.children)} if record.children else told))
    elif record.answers:
        shown = [answer for _, answer in record.answers]
        rows.append((RESUME, shown[0] if record.answers[0][0] == RAW else shown))
    return rows


def _shown(questions: Sequence[tuple[Any, str]]) -> Any:
    """Open questions as a row: a tuple; what another maker filed, as it was."""
    if questions[0][1] == RAW:
        return questions[0][0]
    return tuple(question for question, _ in questions)


def _by_place(interrupts: Sequence[tuple[Any, str]], answers: Sequence[tuple[str, Any]]) -> bool:
    """Whether nothing more is known of questions and answers than their order."""
    identities = [identity for _, identity in interrupts] + [identity for identity, _ in answers]
    return all(identity == RAW or (identity[:1] == PLACE and identity[1:].isdigit()) for identity in identities)


def flat(records: Iterable[TaskRecord]) -> list[PendingWrite]:
    """`pending_writes` of a tuple: rows of all records, by path, task and number."""
    rows: list[PendingWrite] = []
    for record in sorted(records, key=lambda record: (record.path, record.task)):
        numbered = sorted(
            (
                (WRITES_IDX_MAP.get(channel, n), channel, value)
                for n, (channel, value) in enumerate(rows_of(record, asked=False))
            ),
            key=lambda row: row[0],
        )
        rows += [(record.task, channel, value) for _, channel, value in numbered]
    return rows


def records_of(rows: Sequence[PendingWrite], run: str = "") -> tuple[TaskRecord, ...]:
    """Records from rows, a task each, in the order in which the tasks first appear."""
    by_task: dict[str, list[tuple[str, Any]]] = {}
    for task, channel, value in rows:
        by_task.setdefault(task, []).append((channel, value))
    return tuple(record_of(task, found, run=run) for task, found in by_task.items())


def record_of(task: str, rows: Sequence[tuple[str, Any]], *, path: str = "", run: str = "") -> TaskRecord:
    """One record from the rows of its task."""
    special = {channel: value for channel, value in rows if channel in WRITES_IDX_MAP}
    outputs = [(channel, value) for channel, value in rows if channel not in _NO_OUTPUT]
    interrupts, answers = _asked(special.get(INTERRUPT), special.get(RESUME))
    return TaskRecord(
        task=task,
        node="",
        path=path,
        triggers=(),
        run=run,
        attempt=1,
        writes=tuple(row for row in outputs if row[0] != NO_WRITES),
        finished=bool(outputs),
        error=_error(special.get(ERROR)),
        interrupts=interrupts,
        answers=answers,
        children=_children(special.get(RESUME)),
    )


def _error(stored: Any) -> Mapping[str, Any] | None:
    """An error row as ours; other makers store the exception or its text."""
    if stored is None or isinstance(stored, Mapping):
        return stored
    kind = type(stored).__name__ if isinstance(stored, BaseException) else "Error"
    return {"type": kind, "message": str(stored), "notes": [], "traceback": "", RAW: stored}


def _children(resume: Any) -> Mapping[str, str]:
    return resume.get(CHILDREN, {}) if isinstance(resume, Mapping) and ASKED in resume else {}


def _asked(interrupts: Any, resume: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """(questions with identities, answers with identities). Of rows of other makers only the order is known."""
    if isinstance(resume, Mapping) and ASKED in resume:
        return tuple(map(tuple, resume[ASKED])), tuple(map(tuple, resume[ANSWERS]))
    answers: tuple[tuple[str, Any], ...] = ()
    if isinstance(resume, list):
        answers = tuple((f"{PLACE}{n}", answer) for n, answer in enumerate(resume))
    elif resume is not None:
        answers = ((RAW, resume),)
    if interrupts is None:
        return (), answers
    if isinstance(interrupts, (list, tuple)) and interrupts and all(isinstance(one, Interrupt) for one in interrupts):
        return tuple((question, f"{PLACE}{len(answers) + n}") for n, question in enumerate(interrupts)), answers
    return ((interrupts, RAW),), answers
