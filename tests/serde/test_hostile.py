"""Bytes that somebody else wrote: they run nothing, import nothing, and end in a typed error or in plain data."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass
from typing import Any

import ormsgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from stepwell.errors import SerializationError
from stepwell.serde import Codec, Registry, codes
from stepwell.types import Unknown

pytestmark = pytest.mark.claim("H-21")


@dataclass
class Point:
    a: str


def ext(code: int, *parts: Any) -> bytes:
    return ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb([*parts])))


def sample() -> bytes:
    codec = Codec(Registry())
    codec.registry.declare(Point)
    return codec.encode([Point("x"), AIMessage("hi", id="1"), (1, {2}), 2**70, {(1,): b"\x00"}])


NAMES = [
    "os.system", "builtins.eval", "builtins.exec", "subprocess.Popen", "antigravity.geohash", "this.s", "os.path.join",
    "stepwell.types.interrupt", "stepwell.types.Callable", "", ".", "a", "builtins.",
    "builtins.type", "builtins.object",
    "__main__.x", "langchain_core.load.load", "pip._internal.main", "builtins.__import__",
]  # fmt: skip


class DescribeAForgedName:
    @pytest.mark.parametrize("code", codes.NAMED)
    @pytest.mark.parametrize("name", NAMES)
    def test_runs_nothing_and_imports_nothing(self, codec, code, name):
        loaded = set(sys.modules)
        rest: dict[int, tuple[Any, ...]] = {
            codes.TYPE: (), codes.OBJECT: ({"args": "touch /tmp/pwned"},), codes.ENUM: ("x", "touch /tmp/pwned"),
            codes.SUBCLASS: ("touch /tmp/pwned", {}), codes.EXCEPTION: ({"notes": [], "traceback": None}, ["x"], {}),
        }  # fmt: skip

        try:
            value = codec.decode(ext(code, name, *rest[code]))
        except SerializationError:
            value = None

        assert value is None or isinstance(value, Unknown | type)
        assert set(sys.modules) == loaded
        assert not os.path.exists("/tmp/pwned")

    def test_of_the_same_length_is_plain_data(self, codec, tmp_path, monkeypatch):
        (tmp_path / "evil_for_test.py").write_text("def Pwned(a): raise SystemExit(1)\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        codec.registry.declare(Point)
        module = Point.__module__
        data = codec.encode(Point("x")).replace(
            f"{module}.Point".encode(), "evil_for_test.Pwned".ljust(len(module) + 6).encode()
        )

        value = codec.decode(data)

        assert type(value) is Unknown and value.data == {"a": "x"}
        assert "evil_for_test" not in sys.modules

    def test_in_a_generic_form_is_not_subscripted(self, codec):
        assert type(codec.decode(ext(codes.TYPE, ["[]", "os.environ", "builtins.int"]))) is Unknown


class DescribeACalledClass:
    def test_is_never_called(self, codec):
        class Trap:
            def __init__(self, *_: Any, **__: Any) -> None:
                raise AssertionError("called")

            def __setstate__(self, _state: Any) -> None:
                raise AssertionError("called")

        codec.registry.register(Trap)

        value = codec.decode(ext(codes.OBJECT, f"{Trap.__module__}.{Trap.__qualname__}", {"a": 1}))

        assert type(value) is Unknown


class DescribeDamagedBytes:
    @pytest.mark.parametrize("cut", range(len(sample())))
    def test_cut_off_anywhere_raise_a_typed_error(self, codec, cut):
        with pytest.raises(SerializationError):
            codec.decode(sample()[:cut])

    @pytest.mark.parametrize("code", range(128))
    @pytest.mark.parametrize(
        "payload",
        [b"", b"\xc0", b"\x01", b"\x90", b"\x91\xc0", b"\x92\xff\xc0", b"\x93\x01\x02\x03", b"\xa1x", b"\x81\xa1a\x01"],
    )
    def test_with_any_extension_raise_a_typed_error_or_are_data(self, codec, code, payload):
        value = None
        with contextlib.suppress(SerializationError):
            value = codec.decode(ormsgpack.packb(ormsgpack.Ext(code, payload)))

        assert value is None or not callable(value) or isinstance(value, type)

    @given(st.binary(max_size=60))
    @example(b"\xdd\xff\xff\xff\xff")
    @example(b"\xc6\xff\xff\xff\xff")
    @example(b"\xc9\xff\xff\xff\xff\x04")
    def test_of_any_kind_raise_nothing_but_typed_errors(self, data):
        with contextlib.suppress(SerializationError):
            Codec(Registry()).decode(data)

    @given(st.integers(0, len(sample()) - 1), st.integers(0, 255))
    def test_with_one_byte_changed_raise_nothing_but_typed_errors(self, place, byte):
        data = bytearray(sample())
        data[place] = byte
        with contextlib.suppress(SerializationError):
            Codec(Registry()).decode(bytes(data))

    def test_nested_deeper_than_any_value_raise_a_typed_error(self, codec):
        data = b"\xc0"
        for _ in range(3000):
            data = ormsgpack.packb(ormsgpack.Ext(codes.TUPLE, b"\x91" + data))

        with pytest.raises(SerializationError):
            codec.decode(data)
        with pytest.raises(SerializationError):
            codec.decode(b"\x91" * 5000 + b"\xc0")

    def test_say_what_became_of_them(self, codec):
        with pytest.raises(SerializationError, match="They were cut off, changed, or written by something else"):
            codec.decode(b"\xc1")


class DescribeAPickle:
    def test_is_refused_unless_asked_for(self, codec):
        unsafe = Codec(Registry(), pickle_fallback=True)
        data = unsafe.encode(print)

        assert unsafe.decode(data) is print
        with pytest.raises(SerializationError, match="pickle_fallback=True"):
            codec.decode(data)


class DescribeAStoredArray:
    @pytest.mark.parametrize(
        "parts",
        [
            ("|O", [1], b"\0" * 8),
            ("<f8", [2], b"\0" * 8),
            ("<f8", [-1], b""),
            ("<f8", [2**40], b""),
            ([["a", "|O"]], [1], b"\0" * 8),
        ],
    )
    def test_that_lies_about_itself_is_refused(self, codec, parts):
        pytest.importorskip("numpy")
        with pytest.raises(SerializationError):
            codec.decode(ext(codes.NDARRAY, *parts))


def test_user_data_that_looks_like_a_stored_object_stays_a_dict(codec):
    value = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain_core", "messages", "AIMessage"],
        "kwargs": {"content": "x"},
    }

    assert codec.decode(codec.encode(value)) == value
