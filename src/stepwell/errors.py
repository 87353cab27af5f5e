"""Every error of the library, in one place.

StepwellError                       base of all that are ordinary exceptions
├── GraphError                      the graph as declared is wrong (raised while building or compiling; a ValueError)
│   ├── UnsupportedError, RootMemoryError
│   └── WrongTypeError              a part of another kind than is asked for, a class instead of an object (a TypeError)
├── DrawingError                    a picture of a graph that cannot be drawn here
├── ThreadIdError                   a thread id, checkpoint id, namespace or branch name that is none (a ValueError)
├── PathError                       a path into a state that cannot be read (a ValueError)
├── NoSaverError                    the call needs a checkpointer and the graph has none (a ValueError)
├── ConfigError                     an entry of a config that cannot be (a ValueError)
├── OutsideRunError                 get_config() and its like outside of a node (a RuntimeError)
├── EmptyInputError                 nothing to run: no input, or nothing to resume
├── EmptyChannelError               a channel was read that holds no value
├── InvalidUpdateError              a write the state cannot take
│   ├── ConcurrentWriteError        two tasks wrote a key that keeps one value
│   ├── InvalidValueError           a value that the schema of its key forbids (a ValueError)
│   ├── UnknownKeyError             a key the state does not have (only with strict=True)
│   └── RouteError                  a route names a node the graph does not have, or answers outside its map
├── GraphRecursionError             the step limit was reached (a RecursionError)
├── GraphDrained                    the run was asked to stop after its step
├── NodeTimeoutError, NodeCancelledError
├── InterruptSwallowedError         a node caught the pause that interrupt() raised, and went on
├── UnfinishedQuestionError         new input while a question is open
├── UnknownInterruptError           an answer to a question that is not open
├── InvalidResumeError              an answer that does not fit the schema of its question (a ValueError)
├── PlanChangedError                the thread waits for a node or key the graph no longer has
├── TaskNotFound                    a task id that no task of the step has
├── StoredTaskError                 an error that a task raised before a restart, told again
├── InvalidNamespaceError           a namespace that a store cannot keep items under (a ValueError)
└── SaverError                      what a saver or its database reports
    ├── ThreadNotFoundError, CheckpointNotFoundError, BranchNotFoundError   (LookupError)
    ├── PathNotFoundError           a path into a state that leads nowhere (a LookupError)
    ├── AmbiguousIdError            a beginning of an id that fits several (a LookupError)
    ├── ThreadBusyError             somebody else runs this thread
    ├── StaleRunError               this run lost its thread to another; nothing was written
    ├── DuplicateCheckpointError    the id exists with other content
    ├── ParentMissingError          the parent of a checkpoint is gone
    ├── SearchOffError              search is not allowed on this saver
    ├── DatabaseError               full, read-only, locked, truncated, I/O
    │   ├── LockedDatabaseError     somebody else keeps it locked: try again
    │   ├── ForeignDatabaseError    not one of ours, or made by a newer version
    │   └── MixedSqliteError        two SQLite libraries on one file in one process
    └── SerializationError          (TypeError)
        ├── UnstorableTypeError     a value that cannot be stored
        ├── UnknownTypeError        a stored type this process does not know
        ├── InvalidModuleError      a type outside the allowlist of the serializer
        ├── ThreadFileError         an exported thread that is cut short, changed, newer, or none of ours
        └── SealError               bytes that none of our keys sealed, or that were changed

GraphBubbleUp                       base of control flow (a BaseException: `except Exception` does not swallow it)
├── GraphInterrupt                  a node asked a question
└── ParentCommand                   a command for the parent graph

StoredTypeWarning                   a class that another process will not know (a UserWarning)

NodeError                           not an exception: what an error handler is given
ErrorCode                           not an exception: stable names of faults people look up
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

LONGEST_WORD: Final = 300
"""Characters of an id, a name or a path that a message shows whole; more lose their middle."""
_LONG_WORD: Final = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


class ErrorCode(Enum):
    """Stable names of faults people look up."""

    GRAPH_RECURSION_LIMIT = "GRAPH_RECURSION_LIMIT"
    INVALID_CONCURRENT_GRAPH_UPDATE = "INVALID_CONCURRENT_GRAPH_UPDATE"
    INVALID_GRAPH_NODE_RETURN_VALUE = "INVALID_GRAPH_NODE_RETURN_VALUE"
    MULTIPLE_SUBGRAPHS = "MULTIPLE_SUBGRAPHS"
    INVALID_CHAT_HISTORY = "INVALID_CHAT_HISTORY"


def create_error_message(*, message: str, error_code: ErrorCode) -> str:
    """`message` with the code people can search the manual for."""
    return f"{message} [{error_code.value}]"


def shortened(message: str) -> str:
    """`message` with the middle left out of every word that is longer than LONGEST_WORD."""
    return _LONG_WORD.sub(lambda word: _without_middle(word[0], LONGEST_WORD), message)


def brief(value: object, longest: int = 200) -> str:
    """A value as messages show it: its repr, without the middle where it is longer than `longest`."""
    try:
        text = repr(value)
    except Exception:  # what is wrong with the value is told; that it cannot even be shown is not the point
        return f"<{type(value).__name__} whose repr fails>"
    return text if len(text) <= longest else _without_middle(text, longest)


def _without_middle(text: str, longest: int) -> str:
    kept = longest // 2
    return f"{text[:kept]}…({len(text)} characters)…{text[-kept // 2 :]}"


class StepwellError(Exception):
    """Base of every ordinary exception of this library. Very long words of its message lose their middle."""

    def __init__(self, *args: object) -> None:
        if args and isinstance(args[0], str) and len(args[0]) > LONGEST_WORD:
            args = (shortened(args[0]), *args[1:])
        super().__init__(*args)


class GraphError(StepwellError, ValueError):
    """The graph as declared cannot work."""


class DrawingError(StepwellError):
    """A picture of a graph that cannot be drawn here."""


class UnsupportedError(GraphError, NotImplementedError):
    """Something that is declared well but that no graph of ours can do."""


class RootMemoryError(GraphError, RuntimeError):
    """A graph compiled for its own memory inside another was called by itself."""


class WrongTypeError(GraphError, TypeError):
    """A part of a graph or an argument of another kind: the class of a saver instead of a saver, for example."""


class ThreadIdError(StepwellError, ValueError):
    """A thread id, checkpoint id, namespace or branch name that cannot be one."""


class PathError(StepwellError, ValueError):
    """A path into a state that cannot be read as one."""


class InvalidNamespaceError(StepwellError, ValueError):
    """A namespace that a store cannot keep items under."""


class NoSaverError(StepwellError, ValueError):
    """The call needs a checkpointer, and the graph was compiled without one."""


class ConfigError(StepwellError, ValueError):
    """An entry of a config that cannot be: a step limit below 1, for example."""


class OutsideRunError(StepwellError, RuntimeError):
    """get_config(), get_runtime() or their like were called where no node runs."""


class EmptyInputError(StepwellError):
    """There is nothing to run: no input, and nothing to resume."""


class EmptyChannelError(StepwellError):
    """A channel was read that holds no value."""


class InvalidUpdateError(StepwellError):
    """A write that the state cannot take."""


class ConcurrentWriteError(InvalidUpdateError):
    """Two tasks of one step wrote a key that keeps one value a step."""


class InvalidValueError(InvalidUpdateError, ValueError):
    """A value that the schema of its key forbids; nothing was stored."""


class UnknownKeyError(InvalidUpdateError):
    """An update names a key that the state does not have."""


class RouteError(InvalidUpdateError):
    """A route names a node that the graph does not have, or answers outside its map."""


class GraphRecursionError(StepwellError, RecursionError):
    """The run took as many supersteps as it may; everything up to there is saved."""


class GraphDrained(StepwellError):
    """The run was asked to stop and did, after its step was saved."""

    def __init__(self, reason: str | None = None) -> None:
        super().__init__(reason or "the run was asked to stop after its step; continue it with invoke(None, config)")
        self.reason = reason


class NodeTimeoutError(StepwellError):
    """A node took longer than its policy allows; `kind` is "run" or "idle"."""

    def __init__(self, node: str, elapsed: float, kind: str, limit: float) -> None:
        super().__init__(f"node {node!r} was stopped after {elapsed:.3g} s: its {kind} timeout is {limit:.3g} s")
        self.node, self.elapsed, self.kind, self.limit = node, elapsed, kind, limit


class NodeCancelledError(StepwellError):
    """A node raised CancelledError by itself."""


class InterruptSwallowedError(StepwellError):
    """A node caught the pause that interrupt() raised and went on as if it had been answered."""


class UnfinishedQuestionError(StepwellError):
    """New input came while a question of the thread is open."""


class UnknownInterruptError(StepwellError):
    """An answer that fits no open question. `reason` is unknown, answered, ambiguous or empty."""

    def __init__(
        self, message: str, *, reason: str, interrupt_ids: tuple[str, ...] = (), pending_ids: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.reason, self.interrupt_ids, self.pending_ids = reason, interrupt_ids, pending_ids


class InvalidResumeError(StepwellError, ValueError):
    """An answer that does not fit the response_schema of its question; the question stays open."""


def is_invalid_resume(error: BaseException) -> bool:
    """Whether `error` says that an answer did not fit its question's schema."""
    return isinstance(error, InvalidResumeError)


class PlanChangedError(StepwellError):
    """The thread waits for a node or a key that the graph no longer has."""


class TaskNotFound(StepwellError):
    """A task id that no task of the step has."""


class StoredTaskError(StepwellError):
    """An error that a task raised before a restart, told again: the original object is gone."""


class SaverError(StepwellError):
    """Base of what a saver or its database reports."""


class ThreadNotFoundError(SaverError, EmptyInputError, LookupError):
    """No thread has this id."""


class CheckpointNotFoundError(SaverError, LookupError):
    """The thread has no checkpoint with this id."""


class BranchNotFoundError(SaverError, LookupError):
    """The thread has no branch or tag of this name."""


class PathNotFoundError(SaverError, LookupError):
    """The state holds nothing where this path leads."""


class AmbiguousIdError(SaverError, LookupError):
    """A beginning of an id that more than one thread or checkpoint has; `candidates` are theirs."""

    def __init__(self, message: str, *, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.candidates = candidates


class ThreadBusyError(SaverError):
    """Another run holds the thread."""

    def __init__(self, message: str, *, run: str | None = None, holder: str | None = None) -> None:
        super().__init__(message)
        self.run, self.holder = run, holder


class StaleRunError(SaverError):
    """This run no longer holds its thread; what it tried to write was not written."""


class DuplicateCheckpointError(SaverError):
    """The checkpoint id exists already, with other content."""


class ParentMissingError(SaverError):
    """The parent of a checkpoint is not in the thread (any more)."""


class DatabaseError(SaverError):
    """The database could not do what it was asked: full, read-only, locked, truncated, I/O."""


class SearchOffError(SaverError):
    """Search keeps the words of messages in the clear, and nobody has allowed it to on this saver."""


class LockedDatabaseError(DatabaseError):
    """Another process or connection kept the database locked for longer than the timeout; nothing was changed."""


class ForeignDatabaseError(DatabaseError):
    """The file is not a database of ours, or was made by a newer version."""


class MixedSqliteError(DatabaseError):
    """A file would be open through two SQLite libraries in one process, which loses commits."""


class SerializationError(SaverError, TypeError):
    """Base of errors on the way between values and bytes."""


class UnstorableTypeError(SerializationError):
    """A value that cannot be stored; the message names channel and type."""


class UnknownTypeError(SerializationError):
    """A stored value whose type this process does not know; the message names it and how to register it."""


class InvalidModuleError(SerializationError):
    """A type outside the allowlist of the serializer."""


class ThreadFileError(SerializationError):
    """An exported thread that is cut short, was changed, is of a newer version, or is none of ours."""


class SealError(SerializationError):
    """Bytes that were not sealed with one of our keys, were changed, or belong to another row."""


class StoredTypeWarning(UserWarning):
    """A class that another process will not know, or that changed since its values were stored."""


class GraphBubbleUp(BaseException):
    """Base of control flow between a node and the engine. A BaseException, so that `except Exception` lets it pass."""


class GraphInterrupt(GraphBubbleUp):
    """A node asked a question; `interrupts` are the Interrupt objects."""

    def __init__(self, interrupts: tuple[Any, ...] = ()) -> None:
        super().__init__(interrupts)
        self.interrupts = tuple(interrupts)


class ParentCommand(GraphBubbleUp):
    """A command for a graph above the one that raised it."""

    def __init__(self, command: Any) -> None:
        super().__init__(command)
        self.command = command


@dataclass(frozen=True, slots=True)
class NodeError:
    """What an error handler is told: the node that failed, its error, and how often it was tried."""

    node: str
    error: BaseException
    attempts: int = 1
