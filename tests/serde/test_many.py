"""Many values decoded at once come back as one by one, and bytes that are no value of ours are refused as they are."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from stepwell.errors import SerializationError
from stepwell.serde import Codec, Registry
from stepwell.serde.codec import _KEPT_WRITERS, _Writers
from tests.serde.exact import same
from tests.serde.test_messages import MESSAGES

OTHERS: list[Any] = [None, 1, "text", b"", 1.5, [1, [2]], {"a": (1,)}, {1: 2}, {3}, complex(1, 2), "x" * 70_000]
LONG = HumanMessage("x" * 300)


@pytest.fixture
def codec() -> Codec:
    return Codec(registry=Registry())


def test_are_as_one_by_one(codec: Codec) -> None:
    values = [*MESSAGES, LONG, *OTHERS, *MESSAGES]

    decoded = codec.decode_all(map(codec.encode, values))

    assert len(decoded) == len(values)
    assert all(map(same, decoded, values))


def test_share_nothing(codec: Codec) -> None:
    first, second = codec.decode_all([codec.encode(LONG)] * 2)

    first.additional_kwargs["mine"] = first.response_metadata["mine"] = True
    first.model_fields_set.add("name")

    assert same(second, LONG)


@pytest.mark.parametrize("message", [HumanMessage("hi"), LONG], ids=["short", "long"])
@pytest.mark.parametrize("spoil", ["cut", "size", "mask"])
def test_that_are_damaged_are_refused_as_one_by_one(codec: Codec, message: HumanMessage, spoil: str) -> None:
    data = bytearray(codec.encode(message))
    if spoil == "cut":
        del data[-1]
    elif spoil == "size":
        data[2 if len(data) > 300 else 1] ^= 1
    else:
        data[data.index(message.content.encode()) - 4 :] = b"\x93\xc0\xa1a\xa1b"

    with pytest.raises(SerializationError):
        codec.decode(bytes(data))
    with pytest.raises(SerializationError):
        codec.decode_all([codec.encode(LONG), bytes(data)])


class DescribeClassesThatAreMadeAtRunTime:
    def test_do_not_pile_up_and_drive_no_others_out(self) -> None:
        asked = []
        writers = _Writers(lambda cls: asked.append(cls) or writers[int])

        for number in range(3 * _KEPT_WRITERS):
            writers[type(f"Made{number}", (), {})]

        assert len(writers) < 2 * _KEPT_WRITERS
        assert not {int, list, dict, tuple} & set(asked)
