"""Who wrote a value of the state."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import RemoveMessage

from stepwell.errors import PathError, PathNotFoundError
from stepwell.graph import END, START, MessagesState, StateGraph
from stepwell.threads import blame_value, fork_thread, turns_back
from stepwell.types import RetryPolicy

T = {"configurable": {"thread_id": "t"}}


class Work(TypedDict, total=False):
    plan: str
    todos: list[dict[str, Any]]
    files: dict[str, str]
    log: Annotated[list[str], operator.add]


@pytest.fixture
def edit(saver):
    """Writes into the state of thread `t` as one of three nodes, a checkpoint each."""
    graph = StateGraph(Work)
    for name in ("ann", "ben", "cleo"):
        graph.add_node(name, lambda state: {}).add_edge(START, name)
    compiled = graph.compile(checkpointer=saver)

    def write(node, **values):
        return compiled.update_state(T, values, as_node=node)["configurable"]["checkpoint_id"]

    return write


def who(saver, path, **options):
    """The nodes that wrote a value, and the checkpoint that has it first."""
    (found,) = blame_value(saver, "t", path, **options)
    return [wrote.node for wrote in found.writers], found.checkpoint_id


class DescribeBlame:
    def test_names_the_step_the_node_the_run_the_time_and_the_attempt(self, saver):
        failures = [ConnectionError("once")]

        def shaky(state):
            if failures:
                raise failures.pop()
            return {"plan": "made"}

        graph = StateGraph(Work).add_node("shaky", shaky, retry_policy=RetryPolicy(initial_interval=0.001))
        graph.add_edge(START, "shaky").add_edge("shaky", END).compile(checkpointer=saver).invoke({"log": ["x"]}, T)
        head = saver.get_tuple(T)

        (found,) = blame_value(saver, "t", "plan")

        assert (found.path, found.value, found.step, found.source) == ("plan", "made", 1, "loop")
        assert [(wrote.node, wrote.attempt) for wrote in found.writers] == [("shaky", 2)]
        assert (found.checkpoint_id, found.created_at) == (head.checkpoint["id"], head.checkpoint["ts"])
        assert found.run_id == found.writers[0].run_id != ""

    def test_of_an_input_names_the_start(self, saver, talk):
        talk("t", "one", "two")

        assert who(saver, "messages[0]")[0] == ["__start__"] and who(saver, "messages[-1]")[0] == ["answer"]

    def test_is_the_first_checkpoint_since_which_a_value_stands_unchanged(self, saver, edit):
        edit("ann", plan="x")
        edit("ben", plan="y")
        third = edit("cleo", plan="x")
        edit("ann", plan="x")
        edit("ben", log=["later"])

        assert who(saver, "plan") == (["cleo"], third)

    def test_goes_to_the_part_and_passes_over_changes_beside_it(self, saver, edit):
        first = edit("ann", todos=[{"do": "x", "done": False}, {"do": "y", "done": False}], files={"a.md": "1"})
        second = edit(
            "ben", todos=[{"do": "x", "done": True}, {"do": "y", "done": False}], files={"a.md": "1", "b": "2"}
        )
        third = edit("cleo", todos=[{"do": "z", "done": True}, {"do": "y", "done": False}])

        assert who(saver, "todos.0.done") == (["ben"], second)
        assert who(saver, "todos[0].do") == (["cleo"], third)
        assert who(saver, "todos[-1]") == who(saver, 'files."a.md"') == (["ann"], first)
        assert who(saver, "files.b") == (["ben"], second)
        assert who(saver, "files") == (["ben"], second)

    def test_follows_an_entry_through_many_that_come_after_it(self, saver, edit):
        files = {"first": "1"}
        first = edit("ann", files=dict(files))
        for number in range(40):
            files[f"f{number}"] = "x" * number
            edit("ben", files=dict(files))
        changed = edit("cleo", files={**files, "f3": "new"})

        assert who(saver, "files.first") == (["ann"], first) and who(saver, "files.f3") == (["cleo"], changed)

    def test_follows_an_element_when_others_before_it_go_or_come(self, saver, edit):
        graph = StateGraph(MessagesState).add_node("say", lambda state: {}).add_node("cut", lambda state: {})
        compiled = graph.add_edge(START, "say").add_edge(START, "cut").compile(checkpointer=saver)

        def put(node, *messages):
            return compiled.update_state(T, {"messages": list(messages)}, as_node=node)["configurable"]["checkpoint_id"]

        first = put("say", *({"role": "user", "content": text, "id": text} for text in "ab"))
        second = put("say", {"role": "user", "content": "c", "id": "c"})
        put("cut", RemoveMessage(id="a"))
        fourth = put("cut", {"role": "user", "content": "B", "id": "b"})

        assert who(saver, "messages[1]") == (["say"], second)
        assert who(saver, "messages[0]") == (["cut"], fourth) and who(saver, "messages[0].id") == (["say"], first)

    def test_of_one_step_with_several_writers_names_the_one(self, saver):
        graph = StateGraph(Work)
        for name in ("a", "b", "c"):
            graph.add_node(name, lambda state, name=name: {"log": [f"from {name}"]}).add_edge(START, name)
        graph.compile(checkpointer=saver).invoke({}, T)

        assert [who(saver, f"log[{n}]")[0] for n in range(3)] == [["a"], ["b"], ["c"]]
        assert who(saver, "log")[0] == ["a", "b", "c"]

    def test_without_a_path_has_every_key_of_the_state(self, saver, edit):
        edit("ann", plan="x", log=["1"])
        edit("ben", log=["2"])

        found = {each.path: [wrote.node for wrote in each.writers] for each in blame_value(saver, "t")}

        assert found == {
            "plan": ["ann"],
            "log": ["ben"],
        }

    def test_of_another_branch_or_checkpoint_looks_from_there(self, saver, talk):
        talk("t", "one", "two")
        at = turns_back(saver, "t", 1)
        fork_thread(saver, "t", at, name="other")
        talk("t", "else", branch="other")
        heads = {head.name: head.checkpoint_id for head in saver.branches("t")}

        assert who(saver, "messages[-1]", branch="other")[1] == heads["other"]
        assert who(saver, "messages[-1]")[1] == heads["main"]
        assert who(saver, "messages[-1]", checkpoint_id=at)[1] == at
        assert who(saver, "messages[1]", branch="other") == who(saver, "messages[1]") == (["answer"], at)

    def test_walks_a_long_line(self, saver, edit):
        first = edit("ann", plan="x", log=["first"])
        for number in range(60):
            edit("ben", log=[str(number)])

        assert who(saver, "plan") == who(saver, "log[0]") == (["ann"], first)

    def test_moves_no_head_and_writes_nothing(self, saver, talk):
        talk("t", "one", "two")
        before = (saver.branches("t"), len(list(saver.list(T))))

        blame_value(saver, "t")

        assert (saver.branches("t"), len(list(saver.list(T)))) == before


class DescribeBlameOfPrunedHistory:
    def test_says_that_the_writer_was_cut(self, saver, talk):
        talk("t", "one", "two")
        saver.prune(["t"])

        (found,) = blame_value(saver, "t", "messages[0]")

        assert found.is_cut and found.writers == () and found.checkpoint_id == saver.branches("t")[0].checkpoint_id

    def test_still_names_a_writer_that_the_kept_checkpoint_holds(self, saver, talk):
        talk("t", "one", "two")
        saver.prune(["t"])

        (found,) = blame_value(saver, "t", "messages[-1]")

        assert not found.is_cut and [wrote.node for wrote in found.writers] == ["answer"]

    def test_between_two_kept_checkpoints_does_not_blame_the_later_one(self, saver, talk):
        talk("t", "one", "two", "three")
        kept = turns_back(saver, "t", 2)
        saver.tag({"configurable": {"thread_id": "t", "checkpoint_id": kept}}, "kept")
        saver.prune(["t"])

        (found,) = blame_value(saver, "t", "messages[2]")
        (older,) = blame_value(saver, "t", "messages[1]")

        assert found.is_cut and found.writers == ()
        assert older.checkpoint_id == kept and [wrote.node for wrote in older.writers] == ["answer"]


class DescribeBlameOfWhatIsNotThere:
    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ("plans", r"state of thread 't' has no 'plans'\. It has: plan, todos"),
            ("todos[4]", r"todos of thread 't' has no 4\. It has 1 elements"),
            ("todos[-2]", r"todos of thread 't' has no -2"),
            ("todos.0.when", r"todos\.0 of thread 't' has no 'when'\. It has: do"),
            ("plan.x", r"plan of thread 't' has no 'x'\. It is a str, which has no parts"),
        ],
    )
    def test_says_how_far_the_path_leads(self, saver, edit, path, message):
        edit("ann", plan="x", todos=[{"do": "y"}])

        with pytest.raises(PathNotFoundError, match=message):
            blame_value(saver, "t", path)

    def test_and_of_what_is_no_path(self, saver, edit):
        edit("ann", plan="x")

        with pytest.raises(PathError):
            blame_value(saver, "t", "plan[")
