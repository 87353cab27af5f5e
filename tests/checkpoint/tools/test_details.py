"""What threads hold, as a page of a list shows it: turns, messages, bytes, and how they began."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.graph import END, START, MessagesState, StateGraph
from stepwell.serde.encrypted import EncryptedSerializer
from stepwell.sql.query import Query
from stepwell.types import ThreadDetails
from tests.checkpoint.conftest import cfg, grow


class Wide(TypedDict, total=False):
    messages: Annotated[list[Any], operator.add]


def replies(saver: Any) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("chat", lambda state: {"messages": [("ai", f"re: {state['messages'][-1].content}")]})
    graph.add_edge(START, "chat")
    graph.add_edge("chat", END)
    return graph.compile(checkpointer=saver)


def say(saver: Any, *texts: str, thread: str = "t", **at: Any) -> None:
    for text in texts:
        replies(saver).invoke({"messages": [("user", text)]}, cfg(thread, **at))


def of(saver: Any, thread: str = "t") -> ThreadDetails:
    [found] = saver.details([thread])
    assert found.thread_id == thread
    return found


def ends(saver: Any, thread: str = "t") -> list[Any]:
    """The configs of the ends of turns, newest first."""
    return [shot.config for shot in replies(saver).get_state_history(cfg(thread)) if not shot.next]


class DescribeDetails:
    def test_count_turns_and_messages(self, saver: Any) -> None:
        say(saver, "one", "two", "three")

        found = of(saver)

        assert (found.turns, found.messages) == (3, 6)
        assert [message.content for message in found.opening] == ["one", "re: one", "two"]
        assert found.size_bytes > 100

    def test_are_of_the_line_that_leads_to_the_head(self, saver: Any) -> None:
        say(saver, "one", "two", "three")
        saver.create_branch(ends(saver)[2], "other")
        say(saver, "four", "five", "six", branch="other")

        assert (of(saver).turns, of(saver).messages) == (3, 6)

    def test_follow_a_head_that_moved_back(self, saver: Any) -> None:
        say(saver, "one", "two", "three")
        saver.set_head(cfg("t"), ends(saver)[2]["configurable"]["checkpoint_id"])
        assert (of(saver).turns, of(saver).messages) == (1, 2)

        say(saver, "another two")

        assert (of(saver).turns, of(saver).messages) == (2, 4)

    @pytest.mark.claim("H-13")
    def test_leave_out_subgraphs(self, saver: Any) -> None:
        outer = StateGraph(MessagesState)
        outer.add_node("inner", replies(True))
        outer.add_edge(START, "inner")
        outer.add_edge("inner", END)
        graph = outer.compile(checkpointer=saver)
        for text in ("one", "two"):
            graph.invoke({"messages": [("user", text)]}, cfg("t"))

        shown = graph.get_state(cfg("t")).values["messages"]

        assert (of(saver).turns, of(saver).messages) == (2, len(shown))

    def test_of_a_thread_that_was_pruned_are_of_what_is_left(self, saver: Any) -> None:
        say(saver, "one", "two", "three")
        before = of(saver).size_bytes

        saver.prune(["t"])

        assert (of(saver).turns, of(saver).messages) == (0, 6)
        assert of(saver).opening[0].content == "one"
        if isinstance(saver, SqliteSaver):
            assert of(saver).size_bytes < before

    def test_know_a_list_that_was_edited_again_and_again(self, saver: Any) -> None:
        say(saver, *map(str, range(30)))
        graph = replies(saver)
        messages = graph.get_state(cfg("t")).values["messages"]
        for message in messages[0:60:3]:
            edited = message.model_copy(update={"content": f"edited {message.content}"})
            graph.update_state(cfg("t"), {"messages": [edited]})

        found = of(saver)

        assert (found.turns, found.messages) == (30, 60)
        assert [message.content for message in found.opening] == ["edited 0", "re: 0", "1"]

    def test_find_the_messages_among_many_channels(self, saver: Any) -> None:
        wide = TypedDict("wide", {"messages": Annotated[list[Any], operator.add], **{f"k{n}": int for n in range(40)}})  # type: ignore[misc]
        graph = StateGraph(wide)
        graph.add_node("all", lambda state: {f"k{n}": n for n in range(40)})
        graph.add_node("one", lambda state: {"k1": 7})
        for edge in ((START, "all"), ("all", "one"), ("one", END)):
            graph.add_edge(*edge)
        app = graph.compile(checkpointer=saver)
        app.invoke({"messages": ["hello", "you"]}, cfg("t"))
        for _ in range(10):
            app.invoke({"k2": 1}, cfg("t"))

        found = of(saver)

        assert (found.turns, found.messages, found.opening) == (11, 2, ("hello", "you"))

    @pytest.mark.parametrize(
        ("value", "count", "opening"),
        [
            ([], 0, ()),
            (["a"] * 3, 3, ("a",) * 3),
            (("a", "b"), 2, ("a", "b")),
            ({"a": 1}, None, ()),
            ("text", None, ()),
            (None, None, ()),
            (["x" * 5000] * 9, 9, ("x" * 5000,) * 3),
        ],
    )
    def test_of_whatever_is_called_messages(self, saver: Any, value: Any, count: int | None, opening: Any) -> None:
        graph = StateGraph(TypedDict("plain", {"messages": Any}))
        graph.add_node("a", lambda state: {"messages": value})
        graph.add_edge(START, "a")
        graph.compile(checkpointer=saver).invoke({"messages": 0}, cfg("t"))

        assert (of(saver).messages, of(saver).opening) == (count, opening)

    def test_of_a_thread_without_messages(self, saver: Any) -> None:
        grow(saver, 3)
        saver.ensure_thread(cfg("empty"))

        assert (of(saver).turns, of(saver).messages, of(saver).opening) == (0, None, ())
        assert saver.details(["empty"]) == [ThreadDetails("empty", 0, None, 0)]

    def test_may_leave_turns_and_bytes_out(self, saver: Any) -> None:
        say(saver, "one", "two")

        [found] = saver.details(["t"], sizes=False)

        assert (found.turns, found.messages, found.size_bytes) == (None, 4, None)
        assert found.opening == of(saver).opening

    def test_are_in_the_order_that_was_asked_for(self, saver: Any) -> None:
        for thread in "abc":
            say(saver, thread, thread=thread)

        found = saver.details(["c", "never", "a", "b"])

        assert [each.thread_id for each in found] == ["c", "a", "b"]
        assert [each.opening[0].content for each in found] == ["c", "a", "b"]

    async def test_have_an_async_twin(self, saver: Any) -> None:
        say(saver, "one")

        assert await saver.adetails(["t"]) == saver.details(["t"])

    def test_of_an_encrypted_file(self, tmp_path: Path) -> None:
        serde = EncryptedSerializer.from_keys({"k": b"1" * 32}, current="k")
        with SqliteSaver(tmp_path / "x.db", serde=serde) as saver:
            say(saver, "one", "two")
            say(saver, "three", thread="other")

            assert (of(saver).turns, of(saver).messages) == (2, 4)
            assert [each.opening[0].content for each in saver.details(["other", "t"])] == ["three", "one"]

    def test_take_as_many_statements_for_a_page_as_for_one_thread(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with SqliteSaver(tmp_path / "x.db") as saver:
            for thread in range(12):
                say(saver, "one", "two", "three", thread=str(thread))
            asked: list[str] = []
            made = Query.__init__

            def count(query: Query, sql: str, *rest: Any) -> None:
                asked.append(sql)
                made(query, sql, *rest)

            monkeypatch.setattr(Query, "__init__", count)

            saver.details(["1"])
            of_one = len(asked)
            assert len(saver.details(map(str, range(12)))) == 12

            assert len(asked) - of_one == of_one > 0
