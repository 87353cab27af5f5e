"""Messages as a key of the state."""

import subprocess
import sys
from typing import Annotated, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage, ToolMessage

from stepwell.channels import BinaryOperatorAggregate
from stepwell.errors import InvalidUpdateError, OutsideRunError
from stepwell.graph import START, MessagesState, StateGraph, add_messages
from stepwell.graph.message import REMOVE_ALL_MESSAGES, push_message, with_ids
from stepwell.types import Overwrite, RetryPolicy


def human(id, text="hi"):
    return HumanMessage(text, id=id)


def ids(messages):
    return [message.id for message in messages]


class DescribeAddMessages:
    def test_appends_what_is_new(self):
        assert ids(add_messages([human("1")], [human("2"), human("3")])) == ["1", "2", "3"]

    def test_replaces_in_place_what_has_the_same_id(self):
        merged = add_messages([human("1", "old"), human("2")], [human("1", "new"), human("3")])

        assert [(message.id, message.content) for message in merged] == [("1", "new"), ("2", "hi"), ("3", "hi")]

    def test_lets_the_last_of_one_update_win(self):
        merged = add_messages([], [human("1", "first"), human("1", "second")])

        assert [message.content for message in merged] == ["second"]

    def test_gives_ids_to_messages_without_one_on_both_sides(self):
        merged = add_messages([HumanMessage("a")], [HumanMessage("b")])

        assert all(ids(merged))
        assert len(set(ids(merged))) == 2

    @pytest.mark.parametrize(
        ("update", "type"),
        [
            ("hi", "human"),
            (("ai", "hi"), "ai"),
            ({"role": "user", "content": "hi"}, "human"),
            ([("system", "hi")], "system"),
            (HumanMessage("hi"), "human"),
        ],
    )
    def test_takes_messages_in_every_shape(self, update, type):
        (message,) = add_messages([], update)

        assert (message.type, message.content) == (type, "hi")
        assert message.id

    def test_makes_whole_messages_of_chunks(self):
        (message,) = add_messages([], [AIMessageChunk("hi", id="1")])

        assert type(message) is AIMessage

    def test_is_a_new_list_and_leaves_the_old_one_and_its_elements_alone(self):
        left = [human("1")]

        merged = add_messages(left, [human("2")])

        assert ids(left) == ["1"]
        assert merged is not left
        assert merged[0] is left[0]

    def test_needs_both_sides(self):
        with pytest.raises(InvalidUpdateError, match="given only left"):
            add_messages([human("1")], None)
        with pytest.raises(InvalidUpdateError, match="given only right"):
            add_messages(None, [human("1")])

    @given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), max_size=8))
    def test_agrees_with_a_dict_of_messages_in_any_order_of_updates(self, edits):
        model, left = {}, []
        for number, (id, remove) in enumerate(edits):
            if remove and id in model:
                del model[id]
                left = add_messages(left, RemoveMessage(id=id))
            elif not remove:
                model[id] = str(number)
                left = add_messages(left, human(id, str(number)))

        assert [(message.id, message.content) for message in left] == list(model.items())


class DescribeRemoval:
    def test_takes_a_message_out(self):
        assert ids(add_messages([human("1"), human("2")], [RemoveMessage(id="1")])) == ["2"]

    def test_of_a_message_of_the_same_update_leaves_nothing_of_it(self):
        assert ids(add_messages([], [human("1"), RemoveMessage(id="1")])) == []

    def test_may_be_followed_by_the_message_again(self):
        merged = add_messages([human("1", "old")], [RemoveMessage(id="1"), human("1", "new")])

        assert [message.content for message in merged] == ["new"]

    def test_of_an_id_that_is_not_there_is_refused(self):
        with pytest.raises(InvalidUpdateError, match="a message with id 'x' was to be removed, and there is none"):
            add_messages([human("1")], [RemoveMessage(id="x")])

    def test_of_all_keeps_only_what_follows(self):
        update = [human("2"), RemoveMessage(id=REMOVE_ALL_MESSAGES), human("3"), human("4")]

        assert ids(add_messages([human("1")], update)) == ["3", "4"]

    def test_of_all_may_be_followed_by_the_removal_of_one(self):
        update = [RemoveMessage(id=REMOVE_ALL_MESSAGES), human("3"), RemoveMessage(id="3")]

        assert add_messages([human("1")], update) == []

    def test_of_all_counts_from_the_last_one(self):
        everything = RemoveMessage(id=REMOVE_ALL_MESSAGES)

        assert ids(add_messages([human("1")], [everything, human("2"), everything, human("3")])) == ["3"]


class DescribeAFormat:
    def test_turns_contents_into_openai_blocks_and_keeps_ids(self):
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "xx"}}
        merged = add_messages([], [HumanMessage([image], id="1")], format="langchain-openai")

        assert merged[0].content[0]["type"] == "image_url"
        assert merged[0].id == "1"

    def test_is_kept_for_later_when_there_are_no_messages_yet(self):
        class State(TypedDict):
            messages: Annotated[list, add_messages(format="langchain-openai")]

        graph = StateGraph(State).add_node("n", lambda state: {"messages": "hi"}).add_edge(START, "n").compile()

        assert [message.content for message in graph.invoke({"messages": "q"})["messages"]] == ["q", "hi"]

    def test_may_be_none(self):
        assert ids(add_messages()([], [human("1")])) == ["1"]

    def test_is_one_that_is_known(self):
        with pytest.raises(InvalidUpdateError, match="format is 'other'"):
            add_messages([], [human("1")], format="other")


class DescribeMessagesInAState:
    def test_are_given_ids_when_a_node_writes_them(self):
        channel = BinaryOperatorAggregate(list, add_messages)
        written = channel.prepare([HumanMessage("a")])

        (merged,) = channel.fold([], [written])

        assert merged is written[0]
        assert merged.id

    def test_are_given_ids_inside_an_overwrite(self):
        channel = BinaryOperatorAggregate(list, add_messages)

        assert channel.prepare(Overwrite([HumanMessage("a")])).value[0].id

    def test_leave_old_elements_alone(self):
        assert BinaryOperatorAggregate(list, add_messages).pure

    def test_flow_through_a_graph(self):
        graph = (
            StateGraph(MessagesState).add_node("n", lambda state: {"messages": ("ai", "hello")}).add_edge(START, "n")
        )

        messages = graph.compile().invoke({"messages": [("user", "hi")]})["messages"]

        assert [(message.type, message.content) for message in messages] == [("human", "hi"), ("ai", "hello")]

    def test_keep_the_ids_they_are_given_at_the_start_of_a_run(self):
        message = HumanMessage("hi")
        graph = StateGraph(MessagesState).add_node("n", lambda state: None).add_edge(START, "n").compile()

        (merged,) = graph.invoke({"messages": [message]})["messages"]

        assert merged is message

    def test_of_a_tool_keep_their_kind(self):
        (message,) = with_ids([ToolMessage("42", tool_call_id="c")])

        assert type(message) is ToolMessage


class DescribePushMessage:
    def test_needs_a_run(self):
        with pytest.raises(OutsideRunError, match="outside of a node"):
            push_message(human("1"))

    def test_needs_an_id(self):
        def node(state):
            push_message(AIMessage("hi"))

        graph = StateGraph(MessagesState).add_node("n", node).add_edge(START, "n").compile()

        with pytest.raises(InvalidUpdateError, match="without an id"):
            graph.invoke({"messages": []})


class DescribeAPushedMessage:
    @staticmethod
    def graph(state_key="messages"):
        def node(state):
            push_message({"role": "assistant", "content": "soon", "id": "1"}, state_key=state_key)
            return {"messages": AIMessage("done", id="2")}

        return StateGraph(MessagesState).add_node("n", node).add_edge(START, "n").compile()

    def test_is_added_before_what_its_node_returns(self, drive):
        assert ids(drive.invoke(self.graph(), {"messages": []})["messages"]) == ["1", "2"]

    def test_is_added_to_nothing_where_no_key_is_named(self, drive):
        assert ids(drive.invoke(self.graph(None), {"messages": []})["messages"]) == ["2"]

    def test_is_streamed_once_before_its_node_ends(self, drive):
        chunks = drive.stream(self.graph(), {"messages": []}, stream_mode="messages")

        assert [(message.id, told["langgraph_node"]) for message, told in chunks] == [("1", "n"), ("2", "n")]

    def test_of_an_attempt_that_failed_is_not_added(self, drive):
        tries = []

        def node(state):
            tries.append(1)
            push_message(AIMessage("soon", id=str(len(tries))))
            if len(tries) == 1:
                raise ConnectionError

        graph = StateGraph(MessagesState)
        graph.add_node("n", node, retry_policy=RetryPolicy(initial_interval=0, jitter=False)).add_edge(START, "n")

        assert ids(drive.invoke(graph.compile(), {"messages": []})["messages"]) == ["2"]


def test_langchain_is_imported_only_once_there_are_messages():
    code = "import sys, stepwell.graph; print([m for m in ('langchain_core', 'pydantic') if m in sys.modules])"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
