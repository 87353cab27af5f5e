"""Which exit code an error means, in one table."""

from __future__ import annotations

from typing import Final

from stepwell.errors import (
    AmbiguousIdError,
    BranchNotFoundError,
    CheckpointNotFoundError,
    DatabaseError,
    DuplicateCheckpointError,
    EmptyInputError,
    GraphError,
    InvalidResumeError,
    LockedDatabaseError,
    NoSaverError,
    ParentMissingError,
    PathError,
    PathNotFoundError,
    SearchOffError,
    SerializationError,
    StaleRunError,
    ThreadBusyError,
    ThreadIdError,
    ThreadNotFoundError,
    UnfinishedQuestionError,
    UnknownInterruptError,
    UnstorableTypeError,
)

NOT_FOUND: Final = 1
USAGE: Final = 2
BUSY: Final = 3
DAMAGED: Final = 4
FAILED: Final = 5
UNWRITTEN: Final = 6
STOPPED: Final = 130

EXIT_CODES: Final[tuple[tuple[type[BaseException], int], ...]] = (
    (AmbiguousIdError, USAGE),
    (ThreadNotFoundError, NOT_FOUND),
    (CheckpointNotFoundError, NOT_FOUND),
    (BranchNotFoundError, NOT_FOUND),
    (PathNotFoundError, NOT_FOUND),
    (PathError, USAGE),
    (ThreadIdError, USAGE),
    (GraphError, USAGE),
    (NoSaverError, USAGE),
    (EmptyInputError, USAGE),
    (UnfinishedQuestionError, USAGE),
    (UnknownInterruptError, USAGE),
    (InvalidResumeError, USAGE),
    (SearchOffError, USAGE),
    (ThreadBusyError, BUSY),
    (StaleRunError, BUSY),
    (LockedDatabaseError, BUSY),
    (UnstorableTypeError, FAILED),
    (SerializationError, DAMAGED),
    (DuplicateCheckpointError, DAMAGED),
    (ParentMissingError, DAMAGED),
    (DatabaseError, DAMAGED),
    (KeyboardInterrupt, STOPPED),
)
"""The first row that fits counts; an error without one is that of a graph's own code: FAILED."""


def exit_code(error: BaseException) -> int:
    """The exit code of an error."""
    return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), FAILED)
