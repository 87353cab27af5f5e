"""Our serializer under the name people know, and the protocols around it."""

from __future__ import annotations

import json
import pickle
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from stepwell.checkpoint.serde.base import (
    SerializerCompat,
    SerializerProtocol,
    maybe_add_typed_methods,
)
from stepwell.checkpoint.serde.jsonplus import InvalidModuleError, JsonPlusSerializer
from stepwell.errors import SerializationError, StoredTypeWarning, UnstorableTypeError
from stepwell.serde import Codec, Registry
from stepwell.types import Unknown


@dataclass
class Ticket:
    n: int


@dataclass
class Person:
    name: str


class Json:
    def dumps(self, obj: Any) -> bytes:
        return json.dumps(obj).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)


@pytest.mark.claim("A-43")
class DescribeDumpsTyped:
    @pytest.mark.parametrize("value", [None, b"x", (1, {2}), {"a": HumanMessage("hi")}, bytearray(b"x")], ids=repr)
    def test_gives_a_type_and_bytes_that_loads_typed_takes(self, value):
        serde = JsonPlusSerializer()

        kind, data = serde.dumps_typed(value)

        assert isinstance(kind, str) and isinstance(data, bytes)
        again = serde.loads_typed((kind, data))
        assert again == value and type(again) is type(value)

    def test_fits_the_protocol_and_needs_no_wrapping(self):
        serde = JsonPlusSerializer()

        assert isinstance(serde, SerializerProtocol) and maybe_add_typed_methods(serde) is serde


class DescribeLoadsTyped:
    @pytest.mark.parametrize(
        ("kind", "told"),
        [
            ("json", "come from another library"),
            ("msgpack", "come from another library"),
            ("pickle", "pickle_fallback=True"),
            ("stepwell+aes-gcm", "are encrypted"),
            ("strange", "were not written by this serializer"),
        ],
    )
    def test_refuses_other_types_and_says_why(self, kind, told):
        with pytest.raises(SerializationError, match=told):
            JsonPlusSerializer().loads_typed((kind, pickle.dumps(print)))

    def test_reads_a_pickle_for_those_who_ask(self):
        serde = JsonPlusSerializer(pickle_fallback=True)

        assert serde.loads_typed(("pickle", pickle.dumps({1}))) == {1}
        assert serde.loads_typed(serde.dumps_typed([print])) == [print]

    @pytest.mark.parametrize(("kind", "value"), [("null", None), ("bytes", b"x"), ("bytearray", bytearray(b"x"))])
    def test_reads_the_plain_types_of_old(self, kind, value):
        assert JsonPlusSerializer().loads_typed((kind, b"x")) == value


class DescribeAnAllowlist:
    def test_makes_its_classes_known_and_leaves_the_others_as_they_are(self):
        serde = JsonPlusSerializer(allowed_msgpack_modules=[Ticket])

        with pytest.warns(StoredTypeWarning, match="Person") as told:
            stored = serde.dumps_typed([Ticket(1), Person("Kim")])

        assert len(told) == 1
        assert serde.loads_typed(stored) == [Ticket(1), Person("Kim")]

    def test_takes_names_and_imports_them_when_they_are_first_met(self, tmp_path, monkeypatch):
        (tmp_path / "allowed_for_test.py").write_text("class Thing(str): pass\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        import allowed_for_test  # type: ignore[import-not-found] # made above

        serde = JsonPlusSerializer(allowed_msgpack_modules=[("allowed_for_test", "Thing")])
        allowing = Registry()
        allowing.expect("allowed_for_test", "Thing")
        stored = Codec(allowing).encode(allowed_for_test.Thing("x"))
        monkeypatch.delitem(sys.modules, "allowed_for_test")

        assert type(Codec(Registry()).decode(stored)) is Unknown
        assert "allowed_for_test" not in sys.modules
        assert serde.loads_typed(("stepwell", stored)) == "x"
        assert "allowed_for_test" in sys.modules

    def test_can_be_widened(self):
        serde = JsonPlusSerializer(strict_types=True, allowed_msgpack_modules=[Ticket])
        wider = serde.with_msgpack_allowlist([Person])

        assert wider.loads_typed(wider.dumps_typed([Ticket(1), Person("a")])) == [Ticket(1), Person("a")]
        with pytest.raises(UnstorableTypeError, match="Person"):
            serde.dumps_typed(Person("a"))

    def test_of_something_else_is_refused(self):
        with pytest.raises(InvalidModuleError, match="a class, or a tuple"):
            JsonPlusSerializer(allowed_msgpack_modules=["app.models"])  # type: ignore[list-item] # the mistake


class DescribeAnUntypedSerializer:
    def test_is_wrapped(self):
        serde = maybe_add_typed_methods(Json())

        assert isinstance(serde, SerializerCompat)
        assert serde.dumps_typed({"a": 1}) == ("dict", b'{"a": 1}')
        assert serde.loads_typed(("dict", b'{"a": 1}')) == {"a": 1}


def test_serializers_share_what_the_process_has_met():
    @dataclass
    class Met:
        x: int

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoredTypeWarning)
        stored = JsonPlusSerializer().dumps_typed(Met(1))

    assert JsonPlusSerializer().loads_typed(stored) == Met(1)
