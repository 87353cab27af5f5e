"""What cannot be stored is refused before anything is, and the message says where it is."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pytest

from stepwell.errors import SerializationError, UnstorableTypeError
from stepwell.types import MISSING, Command, Unknown

LOCK = threading.Lock()


@dataclass
class Job:
    name: str
    tool: Any = None


class Plain:
    pass


@pytest.mark.parametrize(
    "value",
    [lambda: 1, print, LOCK, Plain(), object(), iter([]), (i for i in ()), memoryview(b"x"), threading, MISSING,
     defaultdict(lambda: 1), {}.keys(), property(), Unknown("a.B", {})],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_value_without_structure_is_refused(codec, value):
    with pytest.raises(UnstorableTypeError):
        codec.encode(value)


class DescribeTheMessage:
    def test_names_channel_place_and_type(self, codec):
        with pytest.raises(UnstorableTypeError, match=r"channel 'job', at \['a'\]\[1\]: .*_thread\.lock"):
            codec.encode({"a": [1, LOCK]}, "job")

    def test_names_the_field_of_an_object(self, codec):
        codec.registry.declare(Job)

        with pytest.raises(UnstorableTypeError, match=r"at \[0\]\.tool: a value of type _thread\.lock"):
            codec.encode([Job("a", LOCK)], "job")

    def test_names_the_place_within_a_tuple(self, codec):
        with pytest.raises(UnstorableTypeError, match=r"at \[1\]: a value of type builtins\.function"):
            codec.encode((1, lambda: 1))

    def test_names_the_place_within_a_command(self, codec):
        with pytest.raises(UnstorableTypeError, match=r"\['a'\]: a value of type _thread\.lock"):
            codec.encode(Command(update={"a": LOCK}))

    def test_says_what_to_do(self, codec):
        with pytest.raises(UnstorableTypeError, match="keep plain data, a dataclass or a pydantic model"):
            codec.encode(Plain())

    def test_of_a_value_alone_names_the_channel(self, codec):
        with pytest.raises(UnstorableTypeError, match=r"^channel 'x': a value of type .*Plain cannot be stored"):
            codec.encode(Plain(), "x")


class DescribeAValueThatContainsItself:
    def test_is_refused_by_name_and_not_by_a_recursion_error(self, codec):
        ring: list[Any] = []
        ring.append({"a": (ring,)})

        with pytest.raises(UnstorableTypeError, match=r"at \[0\]\['a'\]\[0\]: a list that contains itself"):
            codec.encode(ring)

    def test_is_refused_as_an_object_too(self, codec):
        codec.registry.declare(Job)
        job = Job("a")
        job.tool = {"job": job}

        with pytest.raises(UnstorableTypeError, match="Job that contains itself"):
            codec.encode(job)

    def test_is_not_confused_with_a_value_held_twice(self, codec):
        shared = [bytearray(b"x")]

        assert codec.decode(codec.encode([shared, shared])) == [shared, shared]


class DescribeAValueTooDeep:
    def test_is_refused_with_a_typed_error(self, codec):
        deep: Any = ()
        for _ in range(5000):
            deep = (deep,)

        with pytest.raises(UnstorableTypeError, match="nested too deeply"):
            codec.encode(deep)


def test_a_key_press_during_encoding_is_not_swallowed(codec):
    class Pressed:
        pass

    def press(*_: Any) -> Any:
        raise KeyboardInterrupt

    codec._writers[Pressed] = press

    with pytest.raises(KeyboardInterrupt):
        codec.encode([Pressed()])


def test_the_error_is_a_type_error_and_a_serialization_error():
    assert issubclass(UnstorableTypeError, SerializationError) and issubclass(UnstorableTypeError, TypeError)
