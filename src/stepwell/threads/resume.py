"""Going on where a thread stopped: what it waits for, and what answers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from stepwell.errors import EmptyInputError, InvalidResumeError, UnfinishedQuestionError, UnknownInterruptError
from stepwell.threads.chain import MAIN, ThreadSaver, checkpoint_of, config_of
from stepwell.threads.show import load_checkpoint, open_questions
from stepwell.types import Command, Interrupt

REQUESTS: Final = "action_requests"
"""The key under which a question of agents lists the tool calls it asks about."""
CONFIGS: Final = "review_configs"
ALLOWED: Final = "allowed_decisions"


@dataclass(frozen=True, slots=True)
class Stopped:
    """Where a branch stands: the questions that are open there, and the nodes that are due.

    With neither the last turn is over, and there is nothing to go on with.
    """

    thread_id: str
    branch: str
    checkpoint_id: str
    questions: tuple[Interrupt, ...]
    next: tuple[str, ...]


def read_stop(saver: ThreadSaver, thread_id: str, *, branch: str | None = None) -> Stopped:
    """Where a branch (none given: main) stopped. Nothing is run and no head moves."""
    head = load_checkpoint(saver, thread_id, branch=branch)
    return Stopped(thread_id, branch or MAIN, checkpoint_of(head), open_questions(head), tuple(head.next or ()))


def resume_input(
    stopped: Stopped, answers: Mapping[str, Any] | None = None, *, approve: bool | None = None
) -> Command[Any] | None:
    """What a graph is invoked with to go on from there: None to finish a turn that was cut off, else the answers.

    answers: {question id: answer}, for some or all of the open questions. approve: the verdict on the only one, see
    `verdict`.

    Raises UnfinishedQuestionError where a question is open and nothing answers it, UnknownInterruptError where an
    answer fits none, EmptyInputError where there is nothing to go on with.
    """
    open_ids = tuple(question.id for question in stopped.questions)
    if approve is not None:
        answers = {only_question(stopped).id: verdict(only_question(stopped), approve)}
    if answers:
        for id in answers:
            if id not in open_ids:
                raise UnknownInterruptError(
                    f"no question {id!r} is open in thread {stopped.thread_id!r}. "
                    f"Open are: {', '.join(open_ids) or 'none'}.",
                    reason="unknown",
                    interrupt_ids=(id,),
                    pending_ids=open_ids,
                )
        return Command(resume=dict(answers))
    if stopped.questions:
        raise UnfinishedQuestionError(
            f"thread {stopped.thread_id!r} waits for an answer to {len(open_ids)} of its questions. "
            "Give answers={question id: answer}, or approve=True or False."
        )
    if not stopped.next:
        raise EmptyInputError(
            f"there is nothing to go on with in thread {stopped.thread_id!r}: its last turn is over. "
            "Say something new, or rewind it into the turn."
        )
    return None


def resume_thread(
    saver: ThreadSaver,
    graph: Any,
    thread_id: str,
    answers: Mapping[str, Any] | None = None,
    *,
    branch: str | None = None,
    approve: bool | None = None,
) -> Any:
    """Goes on where a branch stopped, with a graph that has this saver; answers what `graph.invoke` gives.

    answers, approve, and what is raised: as for `resume_input`.
    """
    given = resume_input(read_stop(saver, thread_id, branch=branch), answers, approve=approve)
    return graph.invoke(given, config_of(thread_id, branch=branch))


def only_question(stopped: Stopped) -> Interrupt:
    """The one question that is open; UnknownInterruptError where there is none or several."""
    if len(stopped.questions) == 1:
        return stopped.questions[0]
    ids = tuple(question.id for question in stopped.questions)
    what = f"{len(ids)} questions are open" if ids else "no question is open"
    raise UnknownInterruptError(
        f"{what} in thread {stopped.thread_id!r}"
        + (f", so the answer must say which it is for: {', '.join(ids)}." if ids else "."),
        reason="ambiguous" if ids else "unknown",
        pending_ids=ids,
    )


def verdict(question: Interrupt, approve: bool) -> Any:
    """What approves or rejects a question: True or False, or what the question's own form asks for.

    - A mapping with `action_requests`, as agents ask before tools run: `{"decisions": [{"type": "approve"}]}` or
      `"reject"`, one decision for each request.
    - A list of mappings with `action_request`, the older form: `[{"type": "accept", "args": None}]` or `"ignore"`.
    - Anything else: `True` or `False`.

    Raises InvalidResumeError where a request does not allow the decision.
    """
    value = question.value
    if isinstance(value, Mapping) and _is_list(value.get(REQUESTS)):
        kind = "approve" if approve else "reject"
        _refuse_forbidden(question, value, kind)
        return {"decisions": [{"type": kind} for _ in value[REQUESTS]]}
    if _is_list(value) and value and all(isinstance(each, Mapping) and "action_request" in each for each in value):
        return [{"type": "accept" if approve else "ignore", "args": None} for _ in value]
    return approve


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _refuse_forbidden(question: Interrupt, value: Mapping[Any, Any], kind: str) -> None:
    configs = value.get(CONFIGS)
    for config in configs if _is_list(configs) else ():
        allowed = config.get(ALLOWED) if isinstance(config, Mapping) else None
        if _is_list(allowed) and kind not in allowed:
            raise InvalidResumeError(
                f"question {question.id} does not let {config.get('action_name', 'a tool')!r} be decided by {kind!r}; "
                f"it allows {', '.join(map(str, allowed))}. Answer it with the decisions themselves."
            )
