"""The data that users hold."""

from __future__ import annotations

import copy
import pickle

import pytest

from stepwell.errors import StepwellError, WrongTypeError
from stepwell.types import (
    MISSING,
    Command,
    Interrupt,
    Send,
    Unknown,
    default_retry_on,
    ensure_valid_checkpointer,
    interrupt,
    omit_payload,
)


class DescribeACommand:
    def test_with_an_answer_of_none_answers(self):
        assert Command(resume=None).answers
        assert not Command().answers

    def test_shows_what_it_was_given(self):
        assert repr(Command()) == "Command()"
        assert repr(Command(update={"x": 1}, goto="a")) == "Command(update={'x': 1}, goto='a')"
        assert repr(Command(resume=None)) == "Command(resume=None)"
        assert repr(Command(graph=Command.PARENT)) == "Command(graph='__parent__')"


class DescribeAnInterrupt:
    def test_made_from_a_namespace_has_its_id_from_there(self):
        assert Interrupt.from_ns("sure?", "a:1") == Interrupt.from_ns("sure?", "a:1")
        assert Interrupt.from_ns("sure?", "a:1").id != Interrupt.from_ns("sure?", "a:2").id
        assert Interrupt.from_ns("sure?", "a:1", response_schema=int).response_schema is int

    def test_outside_of_a_node_is_an_error(self):
        with pytest.raises(StepwellError, match=r"interrupt\(\) was called outside of a node"):
            interrupt("sure?")


class DescribeMissing:
    def test_stays_the_one_it_is(self):
        assert pickle.loads(pickle.dumps(MISSING)) is MISSING
        assert copy.deepcopy(MISSING) is MISSING

    def test_is_false_and_shows_its_name(self):
        assert not MISSING
        assert repr(MISSING) == "MISSING"


class Response(Exception):
    def __init__(self, status):
        self.response = type("R", (), {"status_code": status})()


@pytest.mark.parametrize(
    ("error", "is_worth_it"),
    [
        (ConnectionError(), True), (TimeoutError(), False), (ValueError(), False), (KeyError(), False),
        (Response(503), True), (Response(404), False), (Response("503"), True), (Exception(), True),
    ],
)  # fmt: skip
def test_another_try_is_worth_it_for_what_may_pass(error, is_worth_it):
    assert default_retry_on(error) is is_worth_it


@pytest.mark.parametrize("accepted", [None, True, False])
def test_a_checkpointer_may_be_left_to_the_graph_above(accepted):
    assert ensure_valid_checkpointer(accepted) is accepted


def test_a_checkpointer_has_the_methods_of_a_saver(memory_saver):
    assert ensure_valid_checkpointer(memory_saver) is memory_saver
    with pytest.raises(TypeError, match="checkpointer is 'dict', which lacks get_tuple, put, put_writes, list"):
        ensure_valid_checkpointer({})


def test_a_checkpointer_is_no_class(memory_saver):
    with pytest.raises(WrongTypeError, match=r"is the class InMemorySaver.*Call it: checkpointer=InMemorySaver\("):
        ensure_valid_checkpointer(type(memory_saver))


def test_an_unknown_value_can_be_a_key_and_hides_its_bytes():
    one = Unknown("pkg.Thing", {"n": 1}, b"raw")

    assert {one: 1}[Unknown("pkg.Thing", {"n": 1}, b"raw")] == 1
    assert "raw" not in repr(one)


def test_a_trace_may_show_nothing():
    assert omit_payload({"secret": 1}) == {}


def test_a_send_is_its_node_and_its_argument():
    assert Send("a", 1) == Send("a", 1)
    assert Send("a", 1, timeout=3).timeout == 3
