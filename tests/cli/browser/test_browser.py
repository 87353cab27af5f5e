"""The browser of threads, driven as by a person: keys in, screens out."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.cli.browser.app import Browser
from stepwell.graph import START, MessagesState, StateGraph
from stepwell.types import interrupt
from tests.cli.browser.screens import is_as_kept, text_of

SIZE = (110, 24)


def answers(state):
    text = state["messages"][-1].content
    if text.startswith("pay"):
        interrupt("Really pay?")
    return {"messages": [("ai", f"You said: {text}")]}


def talks(saver):
    return StateGraph(MessagesState).add_node("chat", answers).add_edge(START, "chat").compile(checkpointer=saver)


def say(saver, thread, *texts, **metadata):
    config = {"configurable": {"thread_id": thread}, "metadata": {"graph": "stepwell.demo:conversation", **metadata}}
    for text in texts:
        talks(saver).invoke({"messages": [("user", text)]}, config)


@pytest.fixture
def saver(tmp_path):
    with SqliteSaver(tmp_path / "threads.db") as saver:
        say(saver, "bill", "pay 7 euros", title="The bill")
        say(saver, "oslo", "Where is Oslo?", "And Bergen?", "我叫小明", title="A trip [b]north[/b]")
        yield saver


@asynccontextmanager
async def browsing(saver, size=SIZE):
    """The browser, and a function that presses keys and waits for what they set off."""
    browser = Browser(saver, lambda command: None)
    browser.commands = []
    browser.step_aside = browser.commands.append
    browser.told = []
    browser.notify = lambda message, **_: browser.told.append(message)
    async with browser.run_test(size=size) as pilot:

        async def press(*keys):
            for key in keys:
                await pilot.press(key)
                await settle()

        async def settle():
            await pilot.pause()
            while reading := [worker for worker in browser.workers if worker.group != "default"]:
                await browser.workers.wait_for_complete(reading)
                await pilot.pause()

        await settle()
        yield browser, press


class DescribeTheList:
    async def test_shows_what_there_is(self, saver):
        async with browsing(saver) as (browser, _):
            assert is_as_kept(browser, "list")

    async def test_of_nothing_says_how_to_begin(self, tmp_path):
        with SqliteSaver(tmp_path / "none.db") as saver:
            async with browsing(saver) as (browser, _):
                assert "0 threads. `stepwell chat` begins one." in text_of(browser)

    async def test_is_searched_as_one_types(self, saver):
        async with browsing(saver) as (browser, press):
            await press("slash", *"trip")
            assert "A trip" in text_of(browser) and "The bill" not in text_of(browser)

            await press("escape")
            assert "The bill" in text_of(browser)

    async def test_is_searched_in_the_messages_with_enter(self, saver):
        async with browsing(saver) as (browser, press):
            await press("slash", *"bergen")
            assert "A trip" not in text_of(browser)

            await press("enter")
            assert "A trip" in text_of(browser) and "The bill" not in text_of(browser)

    async def test_finds_what_somebody_else_began_meanwhile(self, saver):
        async with browsing(saver) as (browser, press):
            say(saver, "new", "hello", title="Begun elsewhere")

            await press("f5")

            assert "Begun elsewhere" in text_of(browser)


class DescribeAThread:
    async def test_shows_its_tree_and_what_was_said(self, saver):
        async with browsing(saver) as (browser, press):
            await press("enter")

            assert is_as_kept(browser, "thread")

    async def test_shows_the_checkpoint_under_the_cursor(self, saver):
        async with browsing(saver) as (browser, press):
            await press("enter", "down")

            assert "And Bergen?" in text_of(browser) and "You said: 我叫小明" not in text_of(browser)

    async def test_shows_its_state(self, saver):
        async with browsing(saver) as (browser, press):
            await press("down", "enter", "2")

            assert is_as_kept(browser, "state")

    async def test_shows_what_the_last_step_changed(self, saver):
        async with browsing(saver) as (browser, press):
            await press("enter", "d")

            assert "messages: 1 added" in text_of(browser)

    async def test_shows_what_changed_since_a_mark(self, saver):
        async with browsing(saver) as (browser, press):
            await press("enter", "end", "m", "home", "d")

            assert is_as_kept(browser, "diff")

    async def test_goes_on_below_its_last_line(self, saver, monkeypatch):
        monkeypatch.setattr("stepwell.cli.browser.thread_screen.PAGE", 2)
        async with browsing(saver) as (browser, press):
            await press("enter")
            assert "1 more below" in text_of(browser)

            await press("end")
            assert "Where is Oslo?" in text_of(browser) and "more below" not in text_of(browser)

    async def test_is_left_by_escape_from_the_text_to_the_tree_to_the_list(self, saver):
        async with browsing(saver) as (browser, press):
            await press("enter", "enter", "escape")
            assert "Transcript" in text_of(browser)

            await press("escape")
            assert "2 threads" in text_of(browser)


class DescribeAKey:
    async def test_forks(self, saver):
        async with browsing(saver) as (browser, press):
            await press("enter", "down", "f", *"bergen", "enter")

            assert "(bergen)" in text_of(browser)
        heads = {branch.name: branch.checkpoint_id for branch in saver.branches("oslo")}
        assert heads["bergen"] < heads["main"]

    async def test_forks_nothing_where_the_name_is_taken_and_says_so(self, saver):
        async with browsing(saver) as (browser, press):
            await press("enter", "f", *"main", "enter")

            assert "has a branch 'main' already" in browser.told[0]

    async def test_tags_with_a_note(self, saver):
        async with browsing(saver) as (browser, press):
            await press("enter", "t", *"good", "space", *"news", "enter")

            assert "tag: good" in text_of(browser)
        assert [(tag.name, tag.note) for tag in saver.tags("oslo")] == [("good", "news")]

    async def test_asks_for_nothing_that_escape_leaves(self, saver):
        async with browsing(saver) as (_, press):
            await press("enter", "t", *"good", "escape", "f", "enter")

        assert saver.tags("oslo") == [] and len(saver.branches("oslo")) == 1

    async def test_resumes_with_a_chat_where_nothing_is_due(self, saver):
        async with browsing(saver) as (browser, press):
            await press("enter", "r")

        assert browser.commands == [["chat", "--thread", "oslo"]]

    async def test_resumes_an_open_question(self, saver):
        async with browsing(saver) as (browser, press):
            await press("down", "enter", "r")

        assert browser.commands == [["resume", "bill"]]

    async def test_resumes_only_where_a_branch_ends(self, saver):
        async with browsing(saver) as (browser, press):
            await press("enter", "down", "r")

            assert "fork first" in browser.told[0]
        assert browser.commands == []

    async def test_asks_before_it_runs_a_graph_of_somebody(self, saver):
        say(saver, "mine", "hello", title="Mine", graph="shop:graph")
        async with browsing(saver) as (browser, press):
            await press("enter", "r")
            assert "shop:graph" in text_of(browser) and browser.commands == []

            await press("enter")
        assert browser.commands == [["chat", "--thread", "mine", "--graph", "shop:graph"]]

    async def test_shows_the_keys(self, saver):
        async with browsing(saver) as (browser, press):
            await press("question_mark")

            assert is_as_kept(browser, "help")

    async def test_shows_the_keys_whole_on_a_narrow_terminal(self, saver):
        async with browsing(saver, (60, 40)) as (browser, press):
            await press("question_mark")

            assert "in all messages" in " ".join(text_of(browser).replace("│", " ").split())


class DescribeALook:
    async def test_moves_no_head_and_takes_no_lease(self, saver):
        before = list(saver.export_thread("oslo"))

        async with browsing(saver) as (_, press):
            await press("enter", "down", "2", "d", "m", "up", "a", "f5", "escape")

        assert list(saver.export_thread("oslo")) == before
