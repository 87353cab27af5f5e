"""Errors carry what a program needs to act on them."""

from __future__ import annotations

import pytest

from stepwell import errors


def test_errors_that_fit_a_builtin_kind_are_of_that_kind():
    kinds = {
        ValueError: ["GraphError", "ThreadIdError", "NoSaverError", "ConfigError", "InvalidResumeError"],
        LookupError: ["ThreadNotFoundError", "CheckpointNotFoundError", "BranchNotFoundError", "AmbiguousIdError"],
        RuntimeError: ["OutsideRunError", "RootMemoryError"],
        RecursionError: ["GraphRecursionError"],
        TypeError: ["SerializationError"],
    }

    assert [
        name for kind, names in kinds.items() for name in names if not issubclass(getattr(errors, name), kind)
    ] == []


@pytest.mark.parametrize("name", ["GraphInterrupt", "ParentCommand"])
def test_control_flow_is_not_caught_with_ordinary_exceptions(name):
    assert not issubclass(getattr(errors, name), Exception)


def test_a_message_may_carry_a_code_to_look_up():
    message = errors.create_error_message(message="too far.", error_code=errors.ErrorCode.GRAPH_RECURSION_LIMIT)

    assert message == "too far. [GRAPH_RECURSION_LIMIT]"


def test_a_timeout_says_which_node_which_limit_and_how_long_it_ran():
    error = errors.NodeTimeoutError("slow", 3.21, "run", 3)

    assert str(error) == "node 'slow' was stopped after 3.21 s: its run timeout is 3 s"
    assert (error.node, error.elapsed, error.kind, error.limit) == ("slow", 3.21, "run", 3)


def test_a_drain_says_how_to_go_on_when_no_reason_was_given():
    assert str(errors.GraphDrained("redeploy")) == "redeploy"
    assert "continue it with invoke(None, config)" in str(errors.GraphDrained())


def test_an_ambiguous_id_has_its_candidates():
    assert errors.AmbiguousIdError("two fit", candidates=("a1", "a2")).candidates == ("a1", "a2")


def test_a_busy_thread_says_who_holds_it():
    error = errors.ThreadBusyError("busy", run="r1", holder="pid 7")

    assert (error.run, error.holder) == ("r1", "pid 7")


def test_an_unfitting_answer_is_told_from_other_errors():
    assert errors.is_invalid_resume(errors.InvalidResumeError("no"))
    assert not errors.is_invalid_resume(ValueError("no"))


def test_an_unknown_answer_says_why_and_which_questions_are_open():
    error = errors.UnknownInterruptError("none", reason="unknown", interrupt_ids=("a",), pending_ids=("b",))

    assert (error.reason, error.interrupt_ids, error.pending_ids) == ("unknown", ("a",), ("b",))
