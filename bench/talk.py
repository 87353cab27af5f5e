"""A conversation that grows by a human and an AI message a turn: the graph, its texts, and what they weigh as JSON."""

import json
import random
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from bench.library import Library

TEXT_BYTES = 500


DICE = random.Random(1)
CORPUS = " ".join("".join(DICE.choices("abcdefghijklmnopqrstuvwxyz", k=DICE.randint(2, 9))) for _ in range(10_000))
"""Words that mean nothing; cut from here so that making a text costs the benchmarks nothing."""


def text(turn: int, who: str, thread: int = 0) -> str:
    """500 bytes of words, always the same for the same turn."""
    head = f"{who} {thread} {turn} "
    start = (turn * 7919 + thread * 104_729 + len(who)) % (len(CORPUS) - TEXT_BYTES)
    return head + CORPUS[start : start + TEXT_BYTES - len(head)]


def identity(turn: int, who: str, thread: int = 0) -> str:
    """An id in the shape of a UUID, always the same for the same turn."""
    return f"{thread:08x}-{len(who):04x}-4000-8000-{turn:012x}"


def human(turn: int, thread: int = 0) -> HumanMessage:
    """What the person says in a turn."""
    return HumanMessage(text(turn, "human", thread), id=identity(turn, "human", thread))


def ai(turn: int, thread: int = 0) -> AIMessage:
    """What the model answers in a turn."""
    return AIMessage(text(turn, "ai", thread), id=identity(turn, "ai", thread))


def encoded_bytes(turns: int) -> int:
    """What the messages of the first `turns` turns weigh as JSON objects of type, id and content."""
    messages = [message for turn in range(turns) for message in (human(turn), ai(turn))]
    return sum(len(json.dumps({"type": m.type, "id": m.id, "content": m.content})) for m in messages)


def by_id(current: Sequence[BaseMessage] | None, writes: Sequence[Sequence[BaseMessage]]) -> list[BaseMessage]:
    """The merge for the reference's delta channel: all writes of a step at once, a known id replaces."""
    merged = {message.id: message for message in current or ()}
    for write in writes:
        merged.update((message.id, message) for message in (write if isinstance(write, list) else [write]))
    return list(merged.values())


def state(library: Library) -> Any:
    """The state's schema: one list of messages; under the variant "delta" in the library's delta channel."""
    merge = library.add_messages
    if library.variant == "delta":
        merge = library.take("channels.delta", "DeltaChannel")(by_id)
    return TypedDict("State", {"messages": Annotated[list, merge]})  # type: ignore[misc]


def conversation(library: Library, driver: str = "sync") -> Any:
    """START → model → END; the model answers with the text of this turn."""

    def model(values: Any) -> dict[str, list[AIMessage]]:
        return {"messages": [ai(len(values["messages"]) // 2)]}

    async def amodel(values: Any) -> dict[str, list[AIMessage]]:
        return model(values)

    graph = library.StateGraph(state(library))
    graph.add_node("model", model if driver == "sync" else amodel)
    graph.add_edge(library.START, "model")
    graph.add_edge("model", library.END)
    return graph
