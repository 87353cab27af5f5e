"""Messages are found by words, in every script, wherever a checkpoint holds them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypedDict

import pytest

from stepwell.errors import ConfigError
from stepwell.graph import StateGraph
from stepwell.graph.message import add_messages
from stepwell.threads import asearch_messages, fork_thread, rewind_thread, search_messages


class Chat(TypedDict):
    messages: Annotated[list[Any], add_messages]


@pytest.fixture
def say(saver: Any) -> Callable[..., Any]:
    """Puts messages into a thread, a turn each; the node answers `echo: …`."""

    def answer(state: Chat) -> dict[str, Any]:
        return {"messages": [("ai", f"echo: {state['messages'][-1].content}")]}

    builder = StateGraph(Chat)
    builder.add_node("answer", answer)
    builder.set_entry_point("answer")
    builder.set_finish_point("answer")
    graph = builder.compile(checkpointer=saver)

    def turn(thread: str, *texts: str, **configurable: Any) -> Any:
        config = {"configurable": {"thread_id": thread, **configurable}}
        for text in texts:
            graph.invoke({"messages": [("user", text)]}, config)
        return graph

    return turn


def found(page: Any, role: str = "you") -> list[tuple[str, str]]:
    return [(hit.thread_id, hit.said.text) for hit in page.hits if hit.said.role == role]


class DescribeASearch:
    @pytest.mark.parametrize(
        ("text", "query"),
        [
            ("我们在北京见面", "北京"),
            ("明日は京都へ行きます", "へ行き"),
            ("カタカナで書く", "カナ"),
            ("한국어 공부", "국어"),
            ("ผมชอบกินข้าว", "กินข้าว"),
            ("部署到Kubernetes集群", "kubernetes 集群"),
            ("well done 🎉", "🎉"),
            ("it's 100% done_deal", "100% done_deal"),
            ('an O\'Brien "quoted" word', '"O\'Brien quoted"'),
            ("Straße", "STRASSE"),
        ],
    )
    def test_finds_words_of_every_script(self, saver, say, text, query):
        say("here", text)
        say("elsewhere", "北 国 へ ข้ done deal no")

        assert found(search_messages(saver, query)) == [("here", text)]

    @pytest.mark.parametrize("query", ["", "%", "_", '"', "') --", "*"])
    def test_for_no_word_finds_nothing(self, saver, say, query):
        say("a", "anything % _ at all")

        page = search_messages(saver, query)

        assert (page.hits, page.more, page.words) == ((), False, ())

    def test_wants_all_words_in_one_message(self, saver, say):
        say("a", "red apple", "green pear", "red pear")

        assert found(search_messages(saver, "pear red")) == [("a", "red pear")]

    def test_tells_the_checkpoint_with_which_a_message_first_appears(self, saver, say):
        graph = say("a", "first", "needle", "last")

        hit = next(hit for hit in search_messages(saver, "needle").hits if hit.said.role == "you")

        config = {"configurable": {"thread_id": "a", "checkpoint_id": hit.checkpoint_id}}
        state = graph.get_state(config)
        parent = graph.get_state(state.parent_config)
        assert state.values["messages"][-1].content == "needle"
        assert [message.content for message in parent.values["messages"]] == ["first", "echo: first"]
        assert (hit.branch, hit.namespace, hit.key) == ("main", "", "messages")
        assert (hit.step, hit.created_at) == (state.metadata["step"], state.created_at)
        assert hit.said.id == state.values["messages"][-1].id

    def test_sees_what_was_said_since_the_last_search(self, saver, say):
        say("a", "one")
        search_messages(saver, "one")
        say("a", "two")
        say("b", "two")

        assert sorted(found(search_messages(saver, "two"))) == [("a", "two"), ("b", "two")]

    def test_marks_what_fits_in_a_piece_of_a_long_message(self, saver, say):
        say("a", "word " * 100 + "the needle is here " + "word " * 100)

        hit = next(hit for hit in search_messages(saver, "needle").hits if hit.said.role == "you")

        assert [hit.snippet[start:end] for start, end in hit.marks] == ["needle"]
        assert len(hit.snippet) <= 165
        assert hit.snippet.startswith("…")
        assert hit.snippet.endswith("…")

    def test_shows_the_messages_around(self, saver, say):
        say("a", "one", "needle", "three")

        hit = next(hit for hit in search_messages(saver, "needle", context=2).hits if hit.said.role == "you")

        assert [said.text for said in hit.before] == ["one", "echo: one"]
        assert [said.text for said in hit.after] == ["echo: needle", "three"]

    def test_finds_the_names_of_called_tools(self, saver, say):
        graph = say("a", "hello")
        call = {"name": "book_flight", "args": {}, "id": "1", "type": "tool_call"}
        message = {"role": "ai", "content": "", "tool_calls": [call]}
        graph.update_state({"configurable": {"thread_id": "a"}}, {"messages": [message]})

        (hit,) = search_messages(saver, "book_flight").hits

        assert hit.said.calls == ("book_flight",)
        assert hit.snippet.strip() == "book_flight"

    @pytest.mark.anyio
    async def test_is_the_same_on_the_event_loop(self, saver, say):
        say("a", "needle")

        page = await asearch_messages(saver, "needle", role="you", limit=1)

        assert found(page) == [("a", "needle")]


class DescribeFilters:
    def test_narrow_by_thread_and_role(self, saver, say):
        say("a", "needle")
        say("b", "needle")

        in_a = search_messages(saver, "needle", thread_id="a")
        answers = search_messages(saver, "needle", role="assistant", thread_id=["a", "b", "none"])

        assert {hit.thread_id for hit in in_a.hits} == {"a"}
        assert sorted((hit.thread_id, hit.said.role) for hit in answers.hits) == [
            ("a", "assistant"),
            ("b", "assistant"),
        ]

    def test_narrow_by_time(self, saver, say):
        say("a", "needle")

        ahead = search_messages(saver, "needle", since=datetime.now(UTC) + timedelta(hours=1))
        lately = search_messages(saver, "needle", since=timedelta(hours=1))

        assert (len(ahead.hits), len(lately.hits)) == (0, 2)

    def test_narrow_by_metadata_of_the_thread(self, saver, say):
        say("a", "needle")
        graph = say("b")
        graph.invoke(
            {"messages": [("user", "needle")]}, {"configurable": {"thread_id": "b"}, "metadata": {"team": "x"}}
        )

        assert found(search_messages(saver, "needle", filter={"team": "x"})) == [("b", "needle")]
        assert search_messages(saver, "needle", filter={"team": "y"}).hits == ()

    def test_sort_and_page(self, saver, say):
        say("a", "needle one")
        say("b", "needle two")
        say("c", "needle three")

        pages = [search_messages(saver, "needle", role="you", sort="newest", limit=2, offset=at) for at in (0, 2)]

        assert [found(page) for page in pages] == [[("c", "needle three"), ("b", "needle two")], [("a", "needle one")]]
        assert [page.more for page in pages] == [True, False]

    @pytest.mark.parametrize("options", [{"sort": "oldest"}, {"limit": 0}, {"offset": -1}, {"context": True}])
    def test_that_cannot_be_are_refused(self, saver, options):
        with pytest.raises(ConfigError):
            search_messages(saver, "x", **options)


class DescribeBranches:
    def test_hold_what_main_does_not(self, saver, say):
        say("a", "trunk")
        fork_thread(saver, "a", name="try")
        say("a", "needle", branch="try")
        say("a", "other")

        (hit, _) = search_messages(saver, "needle", sort="newest").hits

        assert hit.branch == "try"

    def test_share_what_stands_before_their_fork(self, saver, say):
        say("a", "needle", "second")
        fork_thread(saver, "a", name="try")
        say("a", "third", branch="try")

        assert {hit.branch for hit in search_messages(saver, "needle").hits} == {"main"}

    def test_that_a_rewind_left_are_named(self, saver, say):
        graph = say("a", "start")
        start = graph.get_state({"configurable": {"thread_id": "a"}}).config["configurable"]["checkpoint_id"]
        say("a", "needle")
        rewind_thread(saver, "a", start)
        say("a", "instead")

        branches = {hit.branch for hit in search_messages(saver, "needle").hits}

        assert len(branches) == 1
        assert branches.pop().startswith("main@")

    def test_hold_a_replaced_message_in_both_versions(self, saver, say):
        graph = say("a", "needle old")
        config = {"configurable": {"thread_id": "a"}}
        first = graph.get_state(config).values["messages"][0]
        graph.update_state(config, {"messages": [{"role": "user", "content": "needle new", "id": first.id}]})

        assert sorted(found(search_messages(saver, "needle", role="you"))) == [("a", "needle new"), ("a", "needle old")]


class DescribeWhatWasTakenAway:
    def test_is_not_found_after_the_thread_was_deleted(self, saver, say):
        say("a", "needle")
        say("b", "needle")
        search_messages(saver, "needle")

        saver.delete_thread("a")

        assert found(search_messages(saver, "needle")) == [("b", "needle")]

    def test_is_not_found_after_a_prune(self, saver, say):
        graph = say("a", "needle")
        config = {"configurable": {"thread_id": "a"}}
        first = graph.get_state(config).values["messages"][0]
        graph.update_state(config, {"messages": [{"role": "user", "content": "thread", "id": first.id}]})
        assert found(search_messages(saver, "needle")) == [("a", "needle")]

        saver.prune(["a"])

        assert found(search_messages(saver, "needle")) == []
        assert found(search_messages(saver, "thread")) == [("a", "thread")]

    def test_stays_found_where_a_copy_holds_it(self, saver, say):
        say("a", "needle")
        search_messages(saver, "needle")
        saver.copy_thread("a", "b")
        saver.delete_thread("a")

        assert found(search_messages(saver, "needle")) == [("b", "needle")]

    def test_and_imported_again_is_found(self, saver, say):
        say("a", "needle")
        data = b"".join(saver.export_thread("a"))
        saver.delete_thread("a")
        saver.import_thread(data, "c")

        assert found(search_messages(saver, "needle")) == [("c", "needle")]
