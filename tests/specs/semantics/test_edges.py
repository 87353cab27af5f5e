"""What runs after what: edges, joins, deferred nodes, conditional edges, sends."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypedDict

import pytest
from langchain_core.runnables import RunnableLambda

from stepwell.errors import InvalidUpdateError
from stepwell.graph import END, START, StateGraph
from stepwell.types import Send
from tests.specs.given import Log, cfg, chain, side_by_side, writes_name


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]
    n: int


class Small(TypedDict):
    n: int


def graph_of(saver, edges: Sequence[tuple[Any, str]], *, defer=(), ran=None, nodes=None, **options):
    """A graph from a list of edges; every name in it is a node that appends its name to the log."""
    builder = StateGraph(State)
    names = {name for pair in edges for end in pair for name in ([end] if isinstance(end, str) else end)}
    for name in sorted(names - {START, END}):
        action = (nodes or {}).get(name) or writes_name(name, ran)
        builder.add_node(name, action, defer=name in defer)
    for source, target in edges:
        builder.add_edge(source, target)
    return builder.compile(checkpointer=saver, **options)


class DescribeANode:
    def test_that_returns_nothing_still_leads_on(self, drive, saver):
        graph = chain({"a": lambda s: None, "b": writes_name("b")}, saver)

        updates = drive.stream(graph, {"log": ["in"]}, cfg(), stream_mode="updates")

        assert updates == [{"a": None}, {"b": {"log": ["b"]}}]

    def test_may_return_an_empty_update(self, drive, saver):
        graph = chain({"a": lambda s: {}, "b": writes_name("b")}, saver)

        assert drive.invoke(graph, {"log": []}, cfg()) == {"log": ["b"]}

    @pytest.mark.parametrize("wrong", ["text", 5, [1, 2]])
    def test_that_returns_something_else_fails(self, drive, saver, wrong):
        graph = chain({"a": lambda s: wrong}, saver)

        with pytest.raises(InvalidUpdateError):
            drive.invoke(graph, {"log": []}, cfg())

    def test_may_be_async_in_an_async_run(self, async_drive, saver):
        async def node(state):
            return {"log": ["async"]}

        graph = chain({"a": node, "b": writes_name("b")}, saver)

        assert async_drive.invoke(graph, {"log": []}, cfg())["log"] == ["async", "b"]

    def test_that_is_async_only_cannot_run_in_a_sync_run(self, saver):
        async def node(state):
            return {"log": ["async"]}

        with pytest.raises(TypeError, match="a"):
            chain({"a": node}, saver).invoke({"log": []}, cfg())

    def test_sees_only_the_keys_of_its_own_input_schema(self, drive, saver):
        seen = []

        def node(state: Small):
            seen.append(dict(state))
            return {"log": ["a"]}

        drive.invoke(graph_of(saver, [(START, "a")], nodes={"a": node}), {"log": ["in"], "n": 5}, cfg())

        assert seen == [{"n": 5}]

    def test_does_not_see_keys_nobody_wrote(self, drive, saver):
        seen = []

        def node(state):
            seen.append(dict(state))
            return {"log": ["a"]}

        drive.invoke(graph_of(saver, [(START, "a")], nodes={"a": node}), {"log": ["in"]}, cfg())

        assert seen == [{"log": ["in"]}]

    def test_may_be_a_generator_whose_last_value_counts(self, drive, saver):
        def node(state):
            yield {"log": ["first"]}
            yield {"log": ["last"]}

        assert drive.invoke(chain({"a": node}, saver), {"log": []}, cfg())["log"] == ["last"]

    def test_may_be_a_dict_of_runnables(self, drive, saver):
        node = {"log": RunnableLambda(lambda state: [len(state["log"])])}

        assert drive.invoke(chain({"a": node}, saver), {"log": ["in"]}, cfg())["log"] == ["in", 1]


class DescribeAnInput:
    def test_may_be_empty(self, drive, saver):
        assert drive.invoke(chain("a", saver), {}, cfg()) == {"log": ["a"]}

    def test_may_not_be_nothing_on_a_new_thread(self, drive, saver):
        with pytest.raises(Exception, match=r"t"):
            drive.invoke(chain("a", saver), None, cfg())


class DescribeASingleEdge:
    def test_from_two_nodes_of_one_step_runs_the_target_once(self, drive, saver):
        graph = graph_of(saver, [(START, "a"), (START, "b"), ("a", "j"), ("b", "j")])

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["a", "b", "j"]

    def test_from_nodes_of_two_steps_runs_the_target_twice(self, drive, saver):
        graph = graph_of(saver, [(START, "a"), (START, "b"), ("b", "c"), ("a", "j"), ("c", "j")])

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["a", "b", "c", "j", "j"]


class DescribeAJoin:
    EDGES = ((START, "a"), (START, "b"), ("b", "c"), (["a", "c"], "j"))

    def test_waits_for_all_it_lists(self, drive, saver):
        assert drive.invoke(graph_of(saver, self.EDGES), {"log": []}, cfg())["log"] == ["a", "b", "c", "j"]

    def test_waits_anew_in_the_next_turn(self, drive, saver):
        graph = graph_of(saver, self.EDGES)
        drive.invoke(graph, {"log": []}, cfg())

        assert drive.invoke(graph, {"log": ["|"]}, cfg())["log"] == ["a", "b", "c", "j", "|", "a", "b", "c", "j"]

    def test_keeps_what_has_arrived_through_a_restart(self, drive, open_saver):
        drive.invoke(graph_of(open_saver(), self.EDGES, interrupt_before=["c"]), {"log": []}, cfg())

        ended = drive.invoke(graph_of(open_saver(), self.EDGES), None, cfg())

        assert ended["log"] == ["a", "b", "c", "j"]


class DescribeADeferredNode:
    def test_waits_until_nothing_else_is_due(self, drive, saver):
        edges = [(START, "a"), (START, "b"), ("b", "c"), ("a", "j"), ("c", "j")]

        assert drive.invoke(graph_of(saver, edges, defer="j"), {"log": []}, cfg())["log"] == ["a", "b", "c", "j"]

    def test_runs_together_with_other_deferred_ones(self, drive, saver):
        edges = [(START, "a"), (START, "y"), ("a", "x")]

        graph = graph_of(saver, edges, defer="xy")
        drive.invoke(graph, {"log": []}, cfg())

        assert [s.next for s in drive.history(graph, cfg())][1] == ("x", "y")

    def test_waits_for_the_end_of_a_loop(self, drive, saver):
        builder = StateGraph(State)
        builder.add_node("loop", lambda s: {"log": ["loop"]})
        builder.add_node("last", writes_name("last"), defer=True)
        builder.add_edge(START, "loop")
        builder.add_edge("loop", "last")
        builder.add_conditional_edges("loop", lambda s: "loop" if len(s["log"]) < 3 else END)

        ended = drive.invoke(builder.compile(checkpointer=saver), {"log": []}, cfg())

        assert ended["log"] == ["loop", "loop", "loop", "last"]


class DescribeAConditionalEdge:
    def branching(self, saver, path, path_map=None):
        builder = StateGraph(State)
        for name in ("a", "x", "y"):
            builder.add_node(name, writes_name(name))
        builder.add_edge(START, "a")
        builder.add_conditional_edges("a", path, path_map)
        return builder.compile(checkpointer=saver)

    def test_sees_what_its_node_wrote(self, drive, saver):
        graph = self.branching(saver, lambda s: "x" if s["log"][-1] == "a" else "y")

        assert drive.invoke(graph, {"log": ["in"]}, cfg())["log"] == ["in", "a", "x"]

    def test_does_not_see_what_siblings_wrote(self, drive, saver):
        builder = StateGraph(State)
        for name in ("a", "b", "x"):
            builder.add_node(name, writes_name(name))
        builder.add_edge(START, "a")
        builder.add_edge(START, "b")
        builder.add_conditional_edges("b", lambda s: "x" if s["log"] == ["in", "b"] else END)

        ended = drive.invoke(builder.compile(checkpointer=saver), {"log": ["in"]}, cfg())

        assert ended["log"] == ["in", "a", "b", "x"]

    def test_may_answer_with_several_names(self, drive, saver):
        assert drive.invoke(self.branching(saver, lambda s: ["y", "x"]), {"log": []}, cfg())["log"] == ["a", "x", "y"]

    def test_may_answer_through_a_map(self, drive, saver):
        graph = self.branching(saver, lambda s: len(s["log"]) > 1, {True: "x", False: END})

        assert drive.invoke(graph, {"log": []}, cfg("short"))["log"] == ["a"]
        assert drive.invoke(graph, {"log": ["in"]}, cfg("long"))["log"] == ["in", "a", "x"]

    def test_may_be_async(self, async_drive, saver):
        async def path(state):
            return "x"

        assert async_drive.invoke(self.branching(saver, path), {"log": []}, cfg())["log"] == ["a", "x"]

    def test_that_answers_outside_its_map_fails(self, drive, saver):
        graph = self.branching(saver, lambda s: "nowhere", {"there": "x"})

        with pytest.raises(Exception, match="nowhere"):
            drive.invoke(graph, {"log": []}, cfg())

    def test_that_answers_outside_its_literal_fails(self, drive, saver):
        def path(state) -> Literal["x"]:
            return "y"  # type: ignore[return-value]

        with pytest.raises(Exception, match="y"):
            drive.invoke(self.branching(saver, path), {"log": []}, cfg())

    def test_may_be_the_entry(self, drive, saver):
        builder = StateGraph(State)
        builder.add_node("x", writes_name("x"))
        builder.add_node("y", writes_name("y"))
        builder.add_conditional_edges(START, lambda s: s["log"][0])

        assert drive.invoke(builder.compile(checkpointer=saver), {"log": ["y"]}, cfg())["log"] == ["y", "y"]


class DescribeASend:
    def fan_out(self, saver, sends, also_edge=False):
        builder = StateGraph(State)
        builder.add_node("split", lambda s: {})
        builder.add_node("w", lambda arg: {"log": [arg["n"]] if "n" in arg else ["edge"]})
        builder.add_edge(START, "split")
        builder.add_conditional_edges("split", lambda s: sends, ["w"])
        if also_edge:
            builder.add_edge("split", "w")
        return builder.compile(checkpointer=saver)

    def test_is_one_task_each_in_the_order_they_were_sent(self, drive, saver):
        graph = self.fan_out(saver, [Send("w", {"n": n}) for n in (3, 1, 2)])

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == [3, 1, 2]

    def test_gives_its_argument_as_the_whole_input(self, drive, saver):
        graph = self.fan_out(saver, [Send("w", {"n": 1})])

        assert drive.invoke(graph, {"log": ["in"], "n": 9}, cfg())["log"] == ["in", 1]

    def test_comes_after_tasks_that_edges_started(self, drive, saver):
        graph = self.fan_out(saver, [Send("w", {"n": 1})], also_edge=True)

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["edge", 1]

    def test_to_the_end_is_an_error(self, drive, saver):
        with pytest.raises(Exception, match=r"(?i)end"):
            drive.invoke(self.fan_out(saver, [Send(END, {})]), {"log": []}, cfg())

    def test_shows_as_next_once_for_each(self, drive, saver):
        graph = self.fan_out(saver, [Send("w", {"n": n}) for n in (1, 2)])
        drive.invoke(graph, {"log": []}, cfg(), interrupt_before=["w"])

        assert drive.get_state(graph, cfg()).next == ("w", "w")
        assert drive.invoke(graph, None, cfg())["log"] == [1, 2]


class DescribeTheOrderOfWrites:
    def test_is_by_name_and_not_by_who_finished_first(self, drive, saver, gates):
        gate = gates()

        def early(state):
            gate.open()
            return {"log": ["z"]}

        def late(state):
            gate.pass_()
            return {"log": ["a"]}

        graph = side_by_side({"z": early, "a": late}, saver, schema=Log)

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["a", "z"]

    def test_is_by_name_however_the_nodes_were_added(self, drive, saver):
        assert drive.invoke(side_by_side("cab", saver), {"log": []}, cfg())["log"] == ["a", "b", "c"]

    def test_gives_no_node_sight_of_its_siblings(self, drive, saver):
        seen = []

        def look(state):
            seen.append(list(state["log"]))
            return {"log": ["x"]}

        drive.invoke(side_by_side({"a": look, "b": look}, saver), {"log": ["in"]}, cfg())

        assert seen == [["in"], ["in"]]
