"""What a person at a terminal is told of an error: what happened, as the library says it, and the way out in flags.

The library's messages end with what to do in a program: `invoke(None, config)`, `on_busy="wait"`. Whoever types
commands gets the first sentence, and what to do on the command line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from stepwell.errors import (
    CheckpointNotFoundError,
    EmptyInputError,
    GraphRecursionError,
    InvalidResumeError,
    LockedDatabaseError,
    PlanChangedError,
    ThreadBusyError,
    ThreadNotFoundError,
    UnfinishedQuestionError,
    UnknownInterruptError,
)


@dataclass(frozen=True, slots=True)
class Typed:
    """What is typed to finish a turn, to answer a question, and to go back."""

    go_on: str
    answer: str
    back: str


FLAGS: Final = Typed(go_on="--resume", answer="--answer TEXT", back="`stepwell rewind`")
CHAT: Final = Typed(go_on="/continue", answer="the next line", back="/rewind")
FIRST_SENTENCE: Final = re.compile(
    r"""(?:(?<!\w)'(?:[^'\\]|\\.)*'|(?<!\w)"(?:[^"\\]|\\.)*"|[^.]|\.(?=\S))*\.?""", re.DOTALL
)
"""Up to the first full stop before a space; one inside of quotes, as in an id, is none."""
PYTHON: Final = re.compile(r"\w\(|\w=|\bconfig\[|\bcheckpoint_id\b|\btimeout_s\b")
ASYNC_ONLY: Final = "is async only"
IN_A_NOTE: Final = "resume with invoke(None, config)"

WAYS_OUT: Final[tuple[tuple[type[Exception], str], ...]] = (
    (ThreadBusyError, "Wait until that run ends (`chat` and `run` take --wait SECONDS), or stop it."),
    (
        LockedDatabaseError,
        "Another process keeps it so. Wait longer (`chat` and `run` take --wait SECONDS), or find that process.",
    ),
    (UnfinishedQuestionError, "Answer with {answer}, or take the turn that asked back with {back}."),
    (InvalidResumeError, "The question is still open: answer again with {answer}."),
    (ThreadNotFoundError, "`stepwell threads` lists those that exist."),
    (CheckpointNotFoundError, "`stepwell log THREAD` shows what there is."),
    (EmptyInputError, "Give --input a JSON object, or say something with -m TEXT."),
    (GraphRecursionError, "All steps up to here are kept. Go on with {go_on}, or check why it does not end."),
    (
        PlanChangedError,
        "If another graph made the thread, name it with --graph MODULE:NAME; if the node has a new name, "
        "compile the graph with aliases={{old: new}}.",
    ),
)
"""The first row that fits counts; an error without one is told as it is."""


def told(error: Exception, typed: Typed = FLAGS) -> str:
    """The message of an error for a person who types commands, or lines of a chat."""
    text = str(error) or type(error).__name__
    found = FIRST_SENTENCE.match(text)
    first = found[0] if found else text
    if not PYTHON.search(text, len(first)):
        return text
    if isinstance(error, TypeError) and ASYNC_ONLY in first:
        return f"{first} The command line calls graphs synchronously: give it a sync function, or write a program."
    if isinstance(error, UnknownInterruptError):
        return f"{first} {_how_to_answer(error, typed)}"
    way = next((way for kind, way in WAYS_OUT if isinstance(error, kind)), None)
    return text if way is None else f"{first} {way.format(go_on=typed.go_on, answer=typed.answer, back=typed.back)}"


def tell_notes(error: BaseException, typed: Typed = FLAGS) -> None:
    """Puts what to type into the notes of an error, which its traceback shows."""
    if notes := getattr(error, "__notes__", None):
        error.__notes__ = [str(note).replace(IN_A_NOTE, f"go on with {typed.go_on}") for note in notes]


def _how_to_answer(error: UnknownInterruptError, typed: Typed) -> str:
    if error.pending_ids:
        return f"""Answer with --answer '{{"ID": ANSWER}}', with ids out of {", ".join(error.pending_ids)}."""
    return f"`stepwell show THREAD` shows what is open; {typed.go_on} goes on without an answer."
