"""Messages of any kind as lines of a conversation."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from stepwell.threads import Said, said_in, text_of, transcript
from stepwell.types import Unknown


class DescribeALineOfAConversation:
    @pytest.mark.parametrize(
        "message",
        [
            HumanMessage("hi"),
            {"role": "user", "content": "hi"},
            {"type": "human", "content": "hi"},
            ("human", "hi"),
            Unknown("langchain_core.messages.human.HumanMessage", {"type": "human", "content": "hi"}),
        ],
    )
    def test_of_the_user_reads_the_same_from_every_kind_of_message(self, message):
        assert (said_in(message).role, said_in(message).text) == ("you", "hi")

    def test_names_the_tools_that_a_message_calls(self):
        message = AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "1"}], id="m1")

        assert said_in(message) == Said("assistant", "", id="m1", calls=("search",))

    def test_of_a_tool_keeps_its_role_and_name(self):
        said = said_in(ToolMessage("42", tool_call_id="1", name="search"))

        assert (said.role, said.name, said.text) == ("tool", "search", "42")

    @pytest.mark.parametrize("value", [None, 3, "text", {"content": "no role"}, {"role": "user"}, ("a", 1), object()])
    def test_is_none_for_what_is_no_message(self, value):
        assert said_in(value) is None


class DescribeATranscript:
    def test_keeps_the_order_and_leaves_out_what_is_no_message(self):
        said = transcript([HumanMessage("a"), 3, AIMessage("b")])

        assert [(line.role, line.text) for line in said] == [("you", "a"), ("assistant", "b")]

    def test_takes_a_single_message_and_a_single_pair(self):
        assert transcript(HumanMessage("a"))[0].text == transcript(("human", "a"))[0].text == "a"


class DescribeTheTextOfAMessage:
    def test_is_that_of_its_blocks_with_other_blocks_named(self):
        blocks = ["one ", {"type": "text", "text": "two "}, {"type": "image_url", "image_url": {}}]

        assert text_of(blocks) == "one two [image_url]"

    def test_of_nothing_is_empty(self):
        assert text_of(None) == ""
