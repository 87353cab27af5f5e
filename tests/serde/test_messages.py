"""Messages and documents of langchain_core come back as they were: fields, given fields, extras, and class."""

from __future__ import annotations

from typing import Any

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
)
from pydantic import BaseModel, PrivateAttr

from stepwell.serde import Codec, Registry
from stepwell.serde.messages import BY_NAME, reader
from tests.serde.exact import same

CALL = {"name": "search", "args": {"q": "x", "n": (1, 2)}, "id": "c1", "type": "tool_call"}
USAGE = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "input_token_details": {"cache_read": 1}}
BLOCKS: Any = ["a", {"type": "text", "text": "b"}, {"type": "image", "base64": "aGk=", "mime_type": "image/png"}]
MESSAGES: list[Any] = [
    AIMessage("hi"), AIMessage("", id="1", name="bot"), AIMessage(BLOCKS), AIMessage("hi", tool_calls=[CALL]),
    AIMessage("hi", usage_metadata=USAGE, response_metadata={"model_name": "m", "logprobs": None}),
    AIMessage("hi", additional_kwargs={"raw": b"\x00"}, invalid_tool_calls=[{**CALL, "args": "{", "error": "e"}]),
    AIMessage("hi", additional_kwargs={}, response_metadata={}, tool_calls=[], invalid_tool_calls=[], id=None),
    AIMessage("hi", example=True), AIMessage("half an emoji \ud83d"), AIMessage("żółć", response_metadata={"b": b"x"}),
    AIMessage("hi", additional_kwargs={"b": bytearray(b"x"), "keys": {1: 2}}),
    AIMessageChunk(content="h"), AIMessageChunk(content="", chunk_position="last"),
    AIMessageChunk(content="", tool_call_chunks=[{"name": "f", "args": '{"a":1}', "id": "c", "index": 0}]),
    HumanMessage("hi"), HumanMessage("hi", id="1", custom={"a": (1,)}), HumanMessage(BLOCKS),
    HumanMessageChunk(content="h"),
    SystemMessage("be nice"), SystemMessage("be nice", additional_kwargs={"__openai_role__": "developer"}),
    SystemMessageChunk(content="s"), ChatMessage(role="judge", content="no"), ChatMessageChunk(role="r", content="c"),
    FunctionMessage(name="f", content="1"), FunctionMessageChunk(name="f", content="1"),
    ToolMessage("1", tool_call_id="c1"),
    ToolMessage("1", tool_call_id="c1", artifact=(1, {2}), status="error", name="f"),
    ToolMessage("1", tool_call_id="c1", artifact=[]), ToolMessage(BLOCKS, tool_call_id=""),
    ToolMessage("1", tool_call_id="c1", artifact={}), ToolMessageChunk(content="1", tool_call_id="c1"),
    RemoveMessage(id="x"), RemoveMessage(id="__remove_all__"),
    Document(page_content="text"), Document(page_content="text", id="1", metadata={"page": 1, "box": (0, 1)}),
]  # fmt: skip


def slots(model: BaseModel) -> tuple[Any, ...]:
    """All that a pydantic model is made of."""
    return (
        [*model.__dict__.items()],
        model.__pydantic_fields_set__,
        model.__pydantic_extra__,
        model.__pydantic_private__,
    )


@pytest.mark.claim("A-43")
@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: f"{type(message).__name__}-{message!r:.30}")
class DescribeAMessage:
    def test_comes_back_as_the_validated_one_was(self, codec, message):
        again = codec.decode(codec.encode(message))

        assert type(again) is type(message)
        assert all(map(same, slots(again)[0], slots(message)[0]))
        assert slots(again) == slots(message)
        assert again == message and repr(again) == repr(message)

    def test_comes_back_in_a_list(self, codec, message):
        again = codec.decode(codec.encode([message, (message,)]))

        assert slots(again[0]) == slots(again[1][0]) == slots(message)

    def test_gives_the_same_bytes_again(self, codec, message):
        data = codec.encode(message)

        assert codec.encode(codec.decode(data)) == data

    def test_dumps_what_the_validated_one_dumps(self, codec, message):
        again = codec.decode(codec.encode(message))

        for choice in ({}, {"exclude_unset": True}, {"exclude_defaults": True}):
            assert again.model_dump(**choice) == message.model_dump(**choice)


def test_every_class_of_messages_is_tried_here():
    assert {(type(message).__module__, type(message).__name__) for message in MESSAGES} == set(BY_NAME)


class DescribeAReadMessage:
    def test_shares_nothing_with_another(self, codec):
        data = codec.encode(AIMessage("hi"))

        first, second = codec.decode(data), codec.decode(data)
        first.tool_calls.append(CALL)
        first.additional_kwargs["a"] = 1
        first.response_metadata["a"] = 1
        first.id = "new"

        assert second == AIMessage("hi") and codec.decode(data) == AIMessage("hi")

    def test_can_be_changed_copied_and_added_to(self, codec):
        chunk = codec.decode(codec.encode(AIMessageChunk(content="a", id="1")))

        assert (chunk + AIMessageChunk(content="b")).content == "ab"
        assert chunk.model_copy(update={"content": "c"}).content == "c"
        assert chunk.pretty_repr() == AIMessageChunk(content="a", id="1").pretty_repr()

    def test_keeps_what_was_set_after_it_was_made(self, codec):
        message = AIMessage("hi")
        message.content = "changed"
        message.later = 5

        again = codec.decode(codec.encode(message))

        assert slots(again) == slots(message) and again.later == 5

    def test_with_an_extra_that_was_not_given_comes_back(self, codec):
        message = HumanMessage("hi")
        message.__pydantic_extra__["later"] = 1

        assert slots(codec.decode(codec.encode(message))) == slots(message)

    def test_made_without_a_field_comes_back_without_it(self, codec):
        message = AIMessage.model_construct(content="hi", id="1")
        del message.__dict__["tool_calls"]

        again = codec.decode(codec.encode(message))

        assert slots(again) == slots(message)


class DescribeTheTextOfAMessage:
    def test_comes_back_with_its_class(self, codec):
        text = AIMessage("hi").text

        again = codec.decode(codec.encode({"text": text}))["text"]

        assert type(again) is type(text) and again == "hi"


class Remark(AIMessage):
    score: int = 0
    _draft: str = PrivateAttr(default="")


class DescribeASubclassOfAMessage:
    def test_comes_back_whole(self, codec):
        codec.registry.declare(Remark)
        remark = Remark("hi", score=3)
        remark._draft = "d"

        again = codec.decode(codec.encode([remark]))[0]

        assert type(again) is Remark and slots(again) == slots(remark) and again._draft == "d"


@given(
    st.text(st.characters(codec=None)),
    st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.binary() | st.tuples(st.integers())),
    st.none() | st.text(),
    st.sampled_from([HumanMessage, AIMessage, SystemMessage, AIMessageChunk]),
)
def test_any_message_comes_back(content, kwargs, ident, kind):
    message: BaseMessage = kind(content=content, additional_kwargs=kwargs, id=ident)
    codec = Codec(Registry())

    again = codec.decode(codec.encode(message))

    assert type(again) is kind and same(slots(again)[0], slots(message)[0]) and slots(again) == slots(message)


class DescribeAnotherVersionOfTheLibrary:
    """The table of fields was made for one version; bytes and classes of others must still fit."""

    def test_that_lost_a_field_gets_it_as_an_extra(self, codec):
        kind = BY_NAME["langchain_core.messages.human", "HumanMessage"]
        future = kind._replace(fields=(*kind.fields, "mood"))
        data = ormsgpack.packb([1 << 6, "hi", "glad"])

        message = reader(future)(data, ormsgpack.unpackb)

        assert slots(message)[0] == slots(HumanMessage("hi"))[0]
        assert message.mood == "glad" and message.model_fields_set == {"content", "mood"}

    def test_that_gained_a_field_gets_its_default(self, codec):
        kind = BY_NAME["langchain_core.messages.tool", "ToolMessage"]
        past = kind._replace(fields=kind.fields[:-2])

        message = reader(past)(ormsgpack.packb([0, "hi", "c1"]), ormsgpack.unpackb)

        assert message == ToolMessage("hi", tool_call_id="c1") and message.status == "success"

    def test_that_gained_a_field_is_written_by_name(self, codec):
        message = HumanMessage("hi")
        message.__dict__["mood"] = "glad"

        assert codec.decode(codec.encode(message)) == HumanMessage("hi")


def test_defaults_take_no_room(codec):
    assert len(codec.encode(AIMessage("x" * 20))) <= 28
