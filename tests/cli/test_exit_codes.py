"""Which exit code each error means: one row for every class of the library."""

from __future__ import annotations

import pytest

from stepwell import errors
from stepwell.cli.exits import BUSY, DAMAGED, EXIT_CODES, FAILED, NOT_FOUND, STOPPED, USAGE, exit_code


class DescribeExitCodes:
    @pytest.mark.parametrize(
        ("error", "code"),
        [
            (errors.ThreadNotFoundError("t"), NOT_FOUND),
            (errors.CheckpointNotFoundError("c"), NOT_FOUND),
            (errors.BranchNotFoundError("b"), NOT_FOUND),
            (errors.PathNotFoundError("p"), NOT_FOUND),
            (errors.PathError("p"), USAGE),
            (errors.AmbiguousIdError("a"), USAGE),
            (errors.ThreadIdError("i"), USAGE),
            (errors.UnfinishedQuestionError("q"), USAGE),
            (errors.ThreadBusyError("busy"), BUSY),
            (errors.StaleRunError("stale"), BUSY),
            (errors.LockedDatabaseError("locked"), BUSY),
            (errors.ForeignDatabaseError("foreign"), DAMAGED),
            (errors.MixedSqliteError("mixed"), DAMAGED),
            (errors.UnknownTypeError("type"), DAMAGED),
            (errors.UnstorableTypeError("lock"), FAILED),
            (errors.GraphRecursionError("limit"), FAILED),
            (ZeroDivisionError("of a node"), FAILED),
            (KeyboardInterrupt(), STOPPED),
        ],
    )
    def test_follow_the_table(self, error, code):
        assert exit_code(error) == code

    def test_no_row_is_hidden_by_one_above_it(self):
        kinds = [kind for kind, _ in EXIT_CODES]

        hidden = [late for index, late in enumerate(kinds) for early in kinds[:index] if issubclass(late, early)]

        assert hidden == []
