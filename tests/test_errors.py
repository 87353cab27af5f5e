"""Errors carry what a program needs to act on them."""

from __future__ import annotations

import pickle

import pytest

from stepwell import errors


def test_errors_that_fit_a_builtin_kind_are_of_that_kind():
    kinds = {
        ValueError: ["GraphError", "ThreadIdError", "NoSaverError", "ConfigError", "InvalidResumeError", "PathError"],
        LookupError: [
            "ThreadNotFoundError",
            "CheckpointNotFoundError",
            "BranchNotFoundError",
            "PathNotFoundError",
            "AmbiguousIdError",
        ],
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


def errors_of_a_message():
    kinds = [errors.StepwellError]
    for kind in kinds:
        kinds += [below for below in kind.__subclasses__() if below not in kinds]
    return [kind for kind in kinds if kind not in (errors.GraphDrained, errors.NodeTimeoutError)]


@pytest.mark.parametrize("kind", errors_of_a_message())
def test_a_message_leaves_out_the_middle_of_very_long_names(kind):
    name = "begins" + "x" * 50_000 + "ends"
    facts = {"reason": "unknown"} if kind is errors.UnknownInterruptError else {}

    error = kind(f"thread {name!r} waits. Give it an answer.", **facts)

    assert str(error).startswith("thread 'beginsxxx") and str(error).endswith("xends' waits. Give it an answer.")
    assert "(50012 characters)" in str(error) and len(str(error)) < 2 * errors.LONGEST_WORD


def test_a_shortened_message_is_the_same_in_another_process():
    error = errors.GraphError(f"node {'x' * 1000} is none")

    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_message_keeps_long_names_and_long_texts_whole():
    message = f"the file {'x' * errors.LONGEST_WORD} is none. " + "Say why. " * 500

    assert str(errors.GraphError(message)) == message


def test_an_error_with_facts_beside_its_message_shortens_it_too():
    error = errors.ThreadBusyError(f"thread {'x' * 1000} is held", run="r1")

    assert len(str(error)) < 400 and error.run == "r1"


def test_a_value_is_shown_as_it_is_and_without_its_middle_where_it_is_long():
    assert errors.brief({"a": [1]}) == "{'a': [1]}"

    long = errors.brief(["ab"] * 10_000)

    assert long.startswith("['ab', 'ab'") and long.endswith("'ab']") and "(60000 characters)" in long
    assert len(long) < 250


def test_a_value_that_cannot_be_shown_is_named_by_its_type():
    class Broken:
        def __repr__(self):
            raise RuntimeError("no")

    assert errors.brief(Broken()) == "<Broken whose repr fails>"
