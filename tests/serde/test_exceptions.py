"""Exceptions in a state: what they told is kept; those whose class is known come back as exceptions."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from stepwell.errors import GraphRecursionError, NodeTimeoutError, StoredTypeWarning
from stepwell.serde import Codec, Registry
from stepwell.types import Unknown


class PaymentError(Exception):
    def __init__(self, amount: int, *, reason: str) -> None:
        super().__init__(f"{amount} refused")
        self.amount, self.reason = amount, reason


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x", (1, 2)), KeyError("k"), OSError(2, "gone", "file"), FileNotFoundError(2, "gone", "file"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), StopIteration(5), SystemExit(3), ImportError("x", name="m"),
        ExceptionGroup("g", [ValueError(1), TypeError("t")]), KeyboardInterrupt(),
        NodeTimeoutError("n", 1.0, "run", 0.5), GraphRecursionError("too far"),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
class DescribeABuiltinException:
    def test_comes_back_as_one(self, codec, error):
        again = codec.decode(codec.encode({"error": error}))["error"]

        assert type(again) is type(error) and repr(again) == repr(error) and str(again) == str(error)

    def test_gives_the_same_bytes_again(self, codec, error):
        data = codec.encode(raised(error))

        assert codec.encode(codec.decode(data)) == data


class DescribeAnExceptionOfYours:
    def test_comes_back_with_its_attributes_when_it_is_known(self, codec):
        codec.registry.register(PaymentError)

        again = codec.decode(codec.encode(PaymentError(5, reason="limit")))

        assert type(again) is PaymentError and str(again) == "5 refused"
        assert (again.amount, again.reason) == (5, "limit")

    def test_shows_what_it_told_when_it_is_not(self, codec):
        error = raised(PaymentError(5, reason="limit"))
        error.add_note("while paying")
        with pytest.warns(StoredTypeWarning):
            data = codec.encode(error)

        unknown = Codec(Registry()).decode(data)

        assert type(unknown) is Unknown and unknown.type_name == f"{__name__}.PaymentError"
        assert unknown.data["message"] == "5 refused" and unknown.data["notes"] == ["while paying"]
        assert "raise error" in unknown.data["traceback"]


class DescribeTheRecord:
    def test_keeps_notes_and_the_text_of_the_traceback(self, codec):
        error = raised(ValueError("x"))
        error.add_note("note")

        again = codec.decode(codec.encode(error))

        assert again.__notes__ == ["note"] and again.__traceback__ is None
        assert "raise error" in again.stored_traceback

    def test_takes_arguments_that_cannot_be_stored_as_their_text(self, codec):
        lock = threading.Lock()
        error = ValueError("x", lock, [bytearray(b"y")])
        error.response = lock  # type: ignore[attr-defined] # as HTTP clients do
        error.code = 5  # type: ignore[attr-defined] # as HTTP clients do

        again: Any = codec.decode(codec.encode(error))

        assert again.args == ("x", repr(lock), [bytearray(b"y")])
        assert again.code == 5 and not hasattr(again, "response")

    def test_bears_an_exception_whose_str_fails(self, codec):
        class Broken(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        codec.registry.declare(Broken)

        assert type(codec.decode(codec.encode(Broken("x")))) is Broken
