"""Conversations: the chat graph of the article, and short ways to read what was said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from stepwell.graph import END, START, StateGraph
from stepwell.graph.message import add_messages


class Chat(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


def human(text: str) -> dict[str, Any]:
    """The input of a chat turn."""
    return {"messages": [HumanMessage(text)]}


def texts(values: Any) -> list[str]:
    """The texts of the messages in a state, a snapshot or a checkpoint."""
    if hasattr(values, "values") and not callable(values.values):
        values = values.values
    return [message.content for message in values.get("messages", [])]


def reply(state: Chat) -> dict[str, Any]:
    """The node of the chat graph: it answers with the number of messages it has seen."""
    return {"messages": [AIMessage(f"reply#{len(state['messages'])}")]}


def chat_graph(saver: Any = None, node: Callable[..., Any] = reply, **options: Any) -> Any:
    """START → chat → END over a list of messages: the graph of the article."""
    builder = StateGraph(Chat)
    builder.add_node("chat", node)
    builder.add_edge(START, "chat")
    builder.add_edge("chat", END)
    return builder.compile(checkpointer=saver, **options)
