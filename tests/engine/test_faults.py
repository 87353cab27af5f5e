"""Errors of tasks: what is stored, and what a person is told."""

from __future__ import annotations

import asyncio
import concurrent.futures

import pytest

from stepwell.engine.faults import CancelledError, error_record, is_cancelled, retold, with_note
from stepwell.errors import StoredTaskError
from tests.engine.play import due, node, plan, saved_run


def raised(error):
    try:
        raise error
    except Exception as caught:
        return caught


def test_an_error_is_stored_as_text():
    error = raised(ValueError("no"))
    error.add_note("a note")

    stored = error_record(error)

    assert (stored["type"], stored["message"], stored["notes"]) == ("ValueError", "no", ["a note"])
    assert "raise error" in stored["traceback"]


def test_a_stored_error_is_told_again_with_its_notes_and_traceback():
    told = retold({"type": "ValueError", "message": "no", "notes": ["a note"], "traceback": "Traceback …"})

    assert isinstance(told, StoredTaskError)
    assert str(told) == "ValueError: no"
    assert told.__notes__ == ["a note", "Traceback …"]


def test_an_error_is_noted_once():
    [task] = due(saved_run(plan(node("a"))), "a")
    error = ValueError("no")

    with_note(with_note(error, task), task)

    assert len(error.__notes__) == 1


@pytest.mark.parametrize("error", [CancelledError(), asyncio.CancelledError(), concurrent.futures.CancelledError()])
def test_a_task_that_was_taken_back_is_known_by_name(error):
    assert is_cancelled(error)
    assert not is_cancelled(None)
