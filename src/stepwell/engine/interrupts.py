"""Questions a task asks, the answers it gets, and which answer belongs to which question.

An answer finds its question by `key`, else by (call path below the node, digest of the value) and its number among
equals. Where neither fits, by order, with a warning: but only for questions the node's own strand asked, never for
those of coroutines that run side by side, whose order may differ at every attempt.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from stepwell.digests import blake2b
from stepwell.errors import GraphInterrupt, InvalidResumeError, UnknownInterruptError
from stepwell.saves import TaskRecord
from stepwell.types import Interrupt
from stepwell.warnings import warn

if TYPE_CHECKING:
    from stepwell.engine.task import Task

FROM_BELOW = "@"
"""Begins the identity of a question that a graph inside the task asked; the interrupt's id follows."""
SIDE = "~"
"""Begins the identity of a question that was not asked on the node's own strand."""
BODIES = ("perform", "aperform")
TASK_FILE = __file__.removesuffix("interrupts.py") + "task.py"
OWN_FILES = __file__.rpartition("engine")[0]
"""Where this library lies: its own functions are no part of a call path, and may change."""


class Questions:
    """The questions of one task: known answers, those asked in this attempt, and those still open."""

    __slots__ = ("_count", "_main", "answers", "claimed", "kept", "open", "settled")

    def __init__(self, answers: Sequence[tuple[str, Any]], kept: Iterable[tuple[Interrupt, str]]) -> None:
        self.answers = dict(answers)
        self.kept = {identity: question for question, identity in kept}
        self.open: list[tuple[Interrupt, str]] = []
        self.settled: list[tuple[Interrupt, str]] = []
        self.claimed: set[str] = set()
        self._count: dict[str, int] = {}
        self._main = 0

    @classmethod
    def of(cls, record: TaskRecord | None) -> Questions:
        """Those that a stored record knows of; none without a record."""
        return cls((), ()) if record is None else cls(record.answers, record.interrupts)

    def rewind(self) -> None:
        """Before another attempt: the same answers, nothing asked."""
        self.open, self.settled = [], []
        self.claimed.clear()
        self._count.clear()
        self._main = 0

    def ask(self, task: Task, path: tuple[Any, ...], value: Any, key: str | None, schema: Any) -> Any:
        """The answer; raises GraphInterrupt when there is none yet."""
        place, main = ("", True) if key is not None else call_path()
        main = main and path == task.path  # calls of a @task run side by side
        identity = self._identify(task, path, value, key, place, main)
        question = self.kept.get(identity) or Interrupt(
            value, _question_id(task, identity), response_schema=task.run.describe(schema)
        )
        found = identity if identity in self.answers else self._otherwise(task, path, identity, main)
        self._main += main
        if found is None:
            self.open.append((question, identity))
            raise GraphInterrupt((question,))
        self.claimed.add(found)
        try:
            answer = task.run.check_answer(schema, self.answers[found], question)
        except InvalidResumeError:
            del self.answers[found]
            self.open.append((self.kept.get(found, question), found))
            raise
        self.settled.append((self.kept.get(found, question), found))
        return answer

    def pass_on(self, questions: Iterable[Interrupt]) -> None:
        """Notes the questions of a graph inside the task as this task's own."""
        known = {question.id for question, _ in self.open}
        self.open += [(question, FROM_BELOW + question.id) for question in questions if question.id not in known]

    def answer_to(self, id: str) -> tuple[Any] | None:
        """The answer to a question from below, in a tuple; None while there is none."""
        identity = FROM_BELOW + id
        if identity not in self.answers:
            return None
        self.claimed.add(identity)
        return (self.answers[identity],)

    def stored(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """(interrupts, answers) as a task record keeps them."""
        seen = {identity for _, identity in self.settled}
        below = [(question, identity) for identity, question in self.kept.items() if identity in self.answers]
        asked = [*self.settled, *(pair for pair in below if pair[1] not in seen), *self.open]
        return tuple(asked), tuple(self.answers.items())

    def _identify(self, task: Task, path: tuple[Any, ...], value: Any, key: str | None, place: str, main: bool) -> str:
        if key is not None:
            base = f"key={key}"
        else:
            below = "" if path == task.path else "/".join(map(str, path))
            base = f"{'' if main else SIDE}{below}{place}#{task.run.digest(value)}"
        number = self._count.get(base, 0)
        self._count[base] = number + 1
        return f"{base}:{number}"

    def _otherwise(self, task: Task, path: tuple[Any, ...], identity: str, main: bool) -> str | None:
        """The answer to a question that is not quite this one, with a warning; None when there is none."""
        found = self._by_order() if main else self._by_call(identity) if path != task.path else None
        if found is None or found in self.claimed or found.startswith("key="):
            return None
        warn(
            f"node {task.name!r} asked a question that differs from the one that was answered, in its value or in "
            "where it is asked; the answer was given to it by order. Pass interrupt(value, key=...) to say which it "
            "is.",
        )
        return found

    def _by_order(self) -> str | None:
        """The answer that stands where this question of the node's own strand stands in order."""
        ordered = [identity for identity in self.answers if identity[0] not in (FROM_BELOW, SIDE)]
        return ordered[self._main] if self._main < len(ordered) else None

    def _by_call(self, identity: str) -> str | None:
        """The only answer that was given in this call of a @task."""
        place = identity.partition("#")[0]
        found = [known for known in self.answers if known.partition("#")[0] == place and known not in self.claimed]
        return found[0] if len(found) == 1 else None


def open_questions(record: TaskRecord) -> list[tuple[Interrupt, str]]:
    """The (question, identity) pairs of a stored record that have no answer; none once the task finished."""
    if record.finished:
        return []
    answered = {identity for identity, _ in record.answers}
    return [(question, identity) for question, identity in record.interrupts if identity not in answered]


def _is_id(text: str) -> bool:
    return len(text) == 32 and all(digit in "0123456789abcdef" for digit in text)


def is_map(resume: Any) -> bool:
    """Whether a resume value is {interrupt id: answer}: all keys are 32 hex digits."""
    return isinstance(resume, Mapping) and all(isinstance(key, str) and _is_id(key) for key in resume)


def fits(resume: Any, pending: Sequence[TaskRecord]) -> bool:
    """Whether every id of a resume map is that of an open question; a plain value fits as it is."""
    if not is_map(resume):
        return True
    ids = {question.id for record in pending for question, _ in open_questions(record)}
    return set(resume) <= ids


def match_answers(
    resume: Any, pending: Sequence[TaskRecord], answered: Iterable[str]
) -> dict[str, list[tuple[str, Any]]]:
    """{task id: [(identity, answer), …]} for the open questions of `pending`; UnknownInterruptError when it fits none.

    `answered`: ids of questions that had an answer before, to tell "already answered" from "unknown".
    """
    open_ = [(record.task, question, identity) for record in pending for question, identity in open_questions(record)]
    ids = tuple(question.id for _, question, _ in open_)
    if is_map(resume):
        return _match_map(resume, open_, ids, set(answered))
    if len(open_) == 1:
        task, _, identity = open_[0]
        return {task: [(identity, resume)]}
    if not open_:
        raise UnknownInterruptError(
            "there is nothing to answer: no question of this thread is open (it may have been answered already). "
            "Look at get_state(config).interrupts; to continue without an answer call invoke(None, config).",
            reason="answered",
        )
    raise UnknownInterruptError(
        f"{len(open_)} questions are open, and a plain resume value does not say which one it answers. "
        f"Pass Command(resume={{id: answer}}) with ids out of {', '.join(ids)}.",
        reason="ambiguous",
        pending_ids=ids,
    )


def _match_map(
    resume: Mapping[str, Any], open_: Sequence[tuple[str, Interrupt, str]], ids: tuple[str, ...], answered: set[str]
) -> dict[str, list[tuple[str, Any]]]:
    if not resume:
        raise UnknownInterruptError(
            f"Command(resume={{}}) answers nothing. Open questions: {', '.join(ids) or 'none'}.",
            reason="empty",
            pending_ids=ids,
        )
    strangers = tuple(id for id in resume if id not in ids)
    if strangers:
        done = any(id in answered for id in strangers)
        raise UnknownInterruptError(
            f"no open question has the id {', '.join(strangers)}"
            f"{': it was answered already' if done else ''}. Open questions: {', '.join(ids) or 'none'}.",
            reason="answered" if done else "unknown",
            interrupt_ids=strangers,
            pending_ids=ids,
        )
    matched: dict[str, list[tuple[str, Any]]] = {}
    for task, question, identity in open_:
        if question.id in resume:
            matched.setdefault(task, []).append((identity, resume[question.id]))
    return matched


def unwrapped(error: BaseException | None) -> BaseException | None:
    """A group that holds only interrupts as one interrupt; anything else as it is."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = list(_leaves(error))
    if leaves and all(isinstance(leaf, GraphInterrupt) for leaf in leaves):
        return GraphInterrupt(tuple(q for leaf in leaves for q in leaf.interrupts))  # type: ignore[attr-defined]  # checked above
    return error


def _leaves(group: BaseExceptionGroup[Any]) -> Iterable[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


def _question_id(task: Task, identity: str) -> str:
    return blake2b(f"{task.ns}|{identity}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def call_path() -> tuple[str, bool]:
    """Which functions stand between the node's body and interrupt(), and whether that is the node's own strand."""
    frame: FrameType | None = sys._getframe(1)
    names: list[str] = []
    while frame is not None:
        code = frame.f_code
        if code.co_name in BODIES and code.co_filename == TASK_FILE:
            return ">".join(reversed(names[:-1])), True  # the last is the node's own function: it may be renamed
        if not code.co_filename.startswith(OWN_FILES):
            names.append(code.co_qualname)
        frame = frame.f_back
    return ">".join(reversed(names[:8])), False
