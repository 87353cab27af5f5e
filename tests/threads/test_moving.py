"""Threads as files, and as pages to read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ormsgpack
import pytest

from stepwell.checkpoint.memory import InMemorySaver
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.checkpoint.tools.threadfile import read_file
from stepwell.errors import BranchNotFoundError, ThreadFileError, ThreadIdError
from stepwell.graph import START, MessagesState, StateGraph
from stepwell.threads import (
    export_thread,
    import_thread_file,
    json_transcript,
    markdown_transcript,
    read_thread_file,
    rename_thread,
    show_checkpoint,
)
from stepwell.types import interrupt
from tests.threads.nested import outer

OLD = Path(__file__).parents[1] / "fixtures" / "thread_1.stepwell"


def frames(saver: Any, thread: str, **options: Any) -> dict[str, list[Any]]:
    """What a thread's file holds, without its id."""
    found = read_file(export_thread(saver, thread, **options)).frames
    found["T"][0][0] = ""
    return found


@pytest.fixture
def nested(saver: Any) -> Any:
    """A saver with thread t: graphs inside a graph, a branch, a tag, a title."""
    graph = outer().compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    for text in ("one", "two"):
        graph.invoke({"log": [text], "all": [text]}, config)
    saver.create_branch(next(iter(saver.list(config, limit=1, before=None))).config, "side")
    graph.invoke({"log": ["three"], "all": ["three"]}, {"configurable": {"thread_id": "t", "branch": "side"}})
    saver.tag(config, "good", "a note")
    rename_thread(saver, "t", "Inside out")
    return saver


class DescribeAThreadFile:
    def test_goes_round_without_a_change(self, nested, tmp_path):
        first = frames(nested, "t")

        with SqliteSaver(tmp_path / "other.db") as other:
            import_thread_file(other, export_thread(nested, "t"), "u")
            assert frames(other, "u") == first
            memory = InMemorySaver()
            import_thread_file(memory, export_thread(other, "u"), "v")
        import_thread_file(nested, export_thread(memory, "v"), "w")

        assert frames(nested, "w") == frames(memory, "v") == first
        assert nested.namespaces("w") == nested.namespaces("t") and len(nested.namespaces("t")) > 3

    def test_of_one_branch_goes_round_too(self, nested):
        first = frames(nested, "t", branch="side")

        import_thread_file(nested, export_thread(nested, "t", branch="side"), "u")

        assert frames(nested, "u") == first
        assert [head.name for head in nested.branches("u")] == ["main"]
        sides = [show_checkpoint(nested, "t", branch="side"), show_checkpoint(nested, "u")]
        assert sides[0].values == sides[1].values and "three" in sides[1].values["log"]
        with pytest.raises(BranchNotFoundError, match="It has: main, side"):
            export_thread(nested, "t", branch="no")

    def test_tells_what_is_in_it_and_overwrites_nothing(self, nested):
        file = read_thread_file(export_thread(nested, "t"))

        seen = import_thread_file(nested, file, "u", dry_run=True)
        assert (seen.thread_id, seen.original_id, seen.title, seen.version) == ("u", "t", "Inside out", 2)
        assert (seen.branches, seen.tags, seen.exists, seen.is_dry_run) == (("main", "side"), ("good",), False, True)
        assert seen.checkpoints == len(list(nested.list({"configurable": {"thread_id": "t"}})))
        assert seen.size_bytes == sum(map(len, export_thread(nested, "t")))
        assert nested.thread_info("u") is None
        assert import_thread_file(nested, file, dry_run=True).exists

        with pytest.raises(ThreadIdError, match="already"):
            import_thread_file(nested, file)

    def test_of_version_1_comes_in(self, saver):
        came = import_thread_file(saver, OLD.read_bytes(), "new")

        assert (came.original_id, came.version, came.title) == ("old", 1, "An old thread")
        assert (came.branches, came.tags) == (("main", "other"), ("good",))
        assert came.checkpoints == len(frames(saver, "new")["R"])
        assert len(saver.namespaces("new")) == 4
        assert saver.notes("new").ttl_s == 3600 and saver.notes("new").metadata == {"project": "move"}
        graph = outer().compile(checkpointer=saver)
        for _ in range(2):
            values = graph.invoke({"log": ["in"], "all": ["in"]}, {"configurable": {"thread_id": "the same again"}})
        assert show_checkpoint(saver, "new").values == values
        assert show_checkpoint(saver, "new", branch="other").step == 2
        before, after = read_file(OLD.read_bytes()).frames, frames(saver, "new")
        for fields in before["R"] + after["R"]:
            fields[12] = ormsgpack.unpackb(fields[12])  # metadata, in another order
        assert before["R"] == after["R"]
        assert [before[letter] for letter in "INPOG"] == [after[letter] for letter in "INPOG"]
        assert sorted(before["H"]) == sorted(after["H"])

    @pytest.mark.parametrize("end", [b"", b"?", b"?" * 9])
    def test_of_version_1_is_refused_when_damaged(self, saver, end):
        with pytest.raises(ThreadFileError, match="Nothing was imported"):
            import_thread_file(saver, OLD.read_bytes()[:-1] + end)

        assert saver.thread_info("old") is None


class DescribeATranscript:
    def test_is_a_page_to_read(self, saver, talk):
        talk("t", "# hi `there`", "two\nlines")
        rename_thread(saver, "t", "A `talk`\nof two")
        shown = show_checkpoint(saver, "t")

        page = "".join(markdown_transcript(saver, "t"))

        assert page.startswith("# A `talk` of two\n\nThread `t`, branch `main`, checkpoint `")
        assert [line for line in page.splitlines() if line.startswith("## ")] == ["## you", "## assistant"] * 2
        assert "\n## you\n\ntwo\nlines\n\n## assistant\n\n" + shown.said[-1].text in page

    def test_is_an_object(self, saver, talk):
        talk("t", "one", "two")
        shown = show_checkpoint(saver, "t")

        read = json.loads("".join(json_transcript(saver, "t")))

        assert (read["thread"], read["branch"], read["checkpoint"]) == ("t", "main", shown.checkpoint_id)
        assert [(each["role"], each["text"]) for each in read["messages"]] == [(s.role, s.text) for s in shown.said]

    def test_is_of_a_branch(self, saver, talk):
        talk("t", "one")
        saver.create_branch({"configurable": {"thread_id": "t"}}, "side")
        talk("t", "two", branch="side")

        assert "two" not in "".join(markdown_transcript(saver, "t"))
        assert "two" in "".join(markdown_transcript(saver, "t", branch="side"))
        with pytest.raises(BranchNotFoundError):
            json_transcript(saver, "t", branch="no")

    def test_shows_calls_and_open_questions(self, saver):
        def ask(state):
            return {"messages": [("assistant", interrupt("Which `one`?"))]}

        builder = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask")
        call = {"role": "assistant", "content": "", "tool_calls": [{"name": "look", "args": {}, "id": "1"}]}
        said = [("user", "go"), call, {"role": "tool", "content": "seen", "tool_call_id": "1", "name": "look"}]
        builder.compile(checkpointer=saver).invoke({"messages": said}, {"configurable": {"thread_id": "t"}})

        page = "".join(markdown_transcript(saver, "t"))

        assert "\n## assistant\n\n*Calls `look`.*\n\n## tool (look)\n\nseen\n" in page
        assert page.endswith("\n*Waits for an answer: Which `one`?*\n")
        assert json.loads("".join(json_transcript(saver, "t")))["questions"] == 1

    def test_of_a_state_without_messages_says_so(self, nested):
        assert "Nothing was said." in "".join(markdown_transcript(nested, "t"))
        assert json.loads("".join(json_transcript(nested, "t")))["messages"] == []
