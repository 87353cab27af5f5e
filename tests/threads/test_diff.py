"""What two checkpoints hold differently."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import RemoveMessage

from stepwell.errors import CheckpointNotFoundError
from stepwell.graph import END, START, MessagesState, StateGraph
from stepwell.threads import diff_checkpoints, fork_thread, fork_to_thread, line_diff, turns_back

T = {"configurable": {"thread_id": "t"}}


class Notes(TypedDict, total=False):
    plan: str
    todos: list[Any]
    files: dict[str, Any]
    seen: set[str]
    log: Annotated[list[str], operator.add]


@pytest.fixture
def write(saver):
    """Writes a state step by step, as edits of a thread."""
    graph = StateGraph(Notes).add_node("note", lambda state: {}).add_edge(START, "note").add_edge("note", END)
    compiled = graph.compile(checkpointer=saver)

    def states(*values, thread="t"):
        config = {"configurable": {"thread_id": thread}}
        return [
            compiled.update_state(config, value, as_node="note")["configurable"]["checkpoint_id"] for value in values
        ]

    return states


def told(diff):
    """Every change as (path, kind, before, after)."""
    return [(c.path, c.kind, c.before, c.after) for channel in diff.channels for c in channel.changes]


class DescribeADiffOfState:
    def test_is_against_the_parent_when_one_checkpoint_is_named(self, saver, write):
        first, second = write({"plan": "a"}, {"plan": "b", "todos": [1]})

        diff = diff_checkpoints(saver, "t", second)

        assert told(diff) == [("plan", "changed", "a", "b"), ("todos", "added", None, [1])]
        assert (diff.before.checkpoint_id, diff.after.checkpoint_id) == (first, second)

    def test_of_the_first_checkpoint_says_that_all_of_it_is_new(self, saver, write):
        (first,) = write({"plan": "a"})

        diff = diff_checkpoints(saver, "t", first)

        assert told(diff) == [("plan", "added", None, "a")]
        assert diff.before.checkpoint_id is None and diff.ancestor is None and diff.ahead == (0, 1)

    def test_goes_down_to_the_part_that_differs(self, saver, write):
        a = {
            "todos": [{"do": "x", "done": False}, {"do": "y", "done": False}],
            "files": {"a.md": "1", "b": {"c": [1, 2]}},
        }
        b = {
            "todos": [{"do": "x", "done": True}, {"do": "y", "done": False}],
            "files": {"b": {"c": [1, 3, 4]}, "n": None},
        }
        first, second = write(a, b)

        assert told(diff_checkpoints(saver, "t", first, second)) == [
            ("todos[0].done", "changed", False, True),
            ('files."a.md"', "removed", "1", None),
            ("files.b.c[1]", "removed", 2, None),
            ("files.b.c[1]", "added", None, 3),
            ("files.b.c[2]", "added", None, 4),
            ("files.n", "added", None, None),
        ]

    def test_turned_round_takes_away_what_was_added(self, saver, write):
        first, second = write({"log": ["a"]}, {"log": ["b"]})

        assert told(diff_checkpoints(saver, "t", first, second)) == [("log[1]", "added", None, "b")]
        assert told(diff_checkpoints(saver, "t", second, first)) == [("log[1]", "removed", "b", None)]

    def test_tells_true_from_one(self, saver, write):
        first, second = write({"files": {"x": 1}, "todos": [1]}, {"files": {"x": True}, "todos": [True]})

        assert told(diff_checkpoints(saver, "t", first, second)) == [
            ("files.x", "changed", 1, True),
            ("todos[0]", "changed", 1, True),
        ]

    def test_has_nothing_where_equal_values_were_written_again(self, saver, write):
        big = {"plan": "word " * 500, "todos": [{"n": n} for n in range(40)], "files": {"a": "b" * 300}, "seen": {"x"}}
        first, _, third = write(big, {"plan": "", "todos": [], "files": {}, "seen": set()}, big)

        diff = diff_checkpoints(saver, "t", first, third)

        assert diff.channels == () and set(diff.same) >= {"plan", "todos", "files", "seen"}

    def test_tells_another_order_of_keys(self, saver, write):
        first, second = write({"files": {"a": 1, "b": 2}}, {"files": {"b": 2, "a": 1}})

        assert [(path, kind) for path, kind, *_ in told(diff_checkpoints(saver, "t", first, second))] == [
            ("files", "moved")
        ]

    def test_shows_changed_text_by_lines(self, saver, write):
        first, second = write({"plan": "one\ntwo\nthree"}, {"plan": "one\n2\nthree"})

        (change,) = diff_checkpoints(saver, "t", first, second).channels[0].changes

        assert change.lines == ("@@ -1,3 +1,3 @@", " one", "-two", "+2", " three")
        assert line_diff("a", "a") == ()

    def test_of_a_checkpoint_that_is_not_there_is_an_error(self, saver, write):
        (first,) = write({"plan": "a"})

        with pytest.raises(CheckpointNotFoundError):
            diff_checkpoints(saver, "t", first, "01a22dd9-5994-742d-90f2-025ada94295b")


class DescribeADiffOfMessages:
    def test_aligns_them_by_id(self, saver):
        graph = StateGraph(MessagesState).add_node("say", lambda state: {}).add_edge(START, "say")
        compiled = graph.compile(checkpointer=saver)

        def put(*messages):
            made = compiled.update_state(T, {"messages": list(messages)}, as_node="say")
            return made["configurable"]["checkpoint_id"]

        first = put(*({"role": "user", "content": text, "id": text} for text in "abcd"))
        second = put(
            RemoveMessage(id="a"),
            {"role": "user", "content": "C\nc", "id": "c"},
            {"role": "ai", "content": "e", "id": "e"},
        )

        changes = diff_checkpoints(saver, "t", first, second).channels[0].changes

        assert [(change.path, change.kind) for change in changes] == [
            ("messages[0]", "removed"),
            ("messages[1].content", "changed"),
            ("messages[3]", "added"),
        ]
        assert changes[1].lines == ("@@ -1 +1,2 @@", "+C", " c")

    def test_between_branches_names_what_each_said_since_they_parted(self, saver, talk):
        talk("t", "one", "two")
        fork = turns_back(saver, "t", 1)
        fork_thread(saver, "t", fork, name="other")
        talk("t", "else", "more", branch="other")
        heads = {head.name: head.checkpoint_id for head in saver.branches("t")}

        diff = diff_checkpoints(saver, "t", heads["main"], heads["other"])

        (channel,) = diff.channels
        assert (channel.channel, channel.count("removed"), channel.count("added")) == ("messages", 2, 4)
        assert (diff.ancestor, diff.ahead) == (fork, (3, 6))

    def test_between_threads_finds_where_a_copy_went_its_own_way(self, saver, talk):
        talk("t", "one", "two")
        head = saver.branches("t")[0].checkpoint_id
        fork_to_thread(saver, "t", "copy")
        talk("copy", "else")

        diff = diff_checkpoints(saver, "t", other_thread="copy")

        assert [(c.channel, c.count("added"), c.count("removed")) for c in diff.channels] == [("messages", 2, 0)]
        assert (diff.ancestor, diff.ahead) == (head, (0, 3))

    def test_between_strangers_has_no_ancestor(self, saver, talk):
        talk("t", "one")
        talk("u", "two")

        diff = diff_checkpoints(saver, "t", other_thread="u")

        assert diff.ancestor is None and diff.ahead == (3, 3)
        assert [(change.kind) for change in diff.channels[0].changes] == ["removed", "removed", "added", "added"]

    def test_moves_no_head_and_writes_nothing(self, saver, talk):
        talk("t", "one", "two")
        before = (saver.branches("t"), len(list(saver.list(T))))

        diff_checkpoints(saver, "t")

        assert (saver.branches("t"), len(list(saver.list(T)))) == before


class DescribeADiffOfPrunedHistory:
    def test_counts_what_was_cut(self, saver, talk):
        talk("t", "one", "two", "three")
        saver.tag({"configurable": {"thread_id": "t", "checkpoint_id": turns_back(saver, "t", 2)}}, "kept")
        saver.prune(["t"])

        diff = diff_checkpoints(saver, "t")

        assert diff.channels[0].count("added") == 4 and diff.ahead == (0, 6)
