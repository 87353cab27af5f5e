"""What happens when a node fails: retries, error handlers, what is kept."""

from __future__ import annotations

import contextlib
import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.errors import NodeError
from stepwell.graph import END, START, StateGraph
from stepwell.types import Command, RetryPolicy, interrupt
from tests.specs.given import Opens, cfg, chain, cid, fails, raises_once, side_by_side, writes_name

FAST = RetryPolicy(initial_interval=0.001, max_interval=0.001, jitter=False, max_attempts=3, retry_on=OSError)


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]
    n: int


def one_node(saver, node, **options):
    builder = StateGraph(State)
    builder.add_node("a", node, **options)
    builder.add_node("b", writes_name("b"))
    builder.add_edge(START, "a")
    builder.add_edge("a", "b")
    builder.add_edge("b", END)
    return builder.compile(checkpointer=saver)


class Flaky:
    """A node that fails `times` times before it works; counts its runs."""

    def __init__(self, times, error=OSError):
        self.times, self.error, self.runs = times, error, 0

    def __call__(self, state):
        self.runs += 1
        if self.runs <= self.times:
            raise self.error(f"failure {self.runs}")
        return {"log": ["a"]}


class DescribeAFailure:
    def test_is_raised_as_the_nodes_own_error_with_a_note(self, drive, saver):
        graph = chain({"a": fails(ValueError("boom"))}, saver)

        with pytest.raises(ValueError, match="boom") as raised:
            drive.invoke(graph, {"log": []}, cfg())

        assert any("a" in note for note in raised.value.__notes__)

    def test_makes_no_checkpoint(self, drive, saver):
        graph = chain({"a": writes_name("a"), "b": fails(ValueError("boom"))}, saver)
        with pytest.raises(ValueError, match="boom"):
            drive.invoke(graph, {"log": []}, cfg())

        assert [s.next for s in drive.history(graph, cfg())] == [("b",), ("a",), ("__start__",)]

    def test_is_tried_again_by_carrying_on(self, drive, saver):
        ran: list[str] = []
        graph = chain({"a": writes_name("a", ran), "b": raises_once(ValueError("boom"), {"log": ["b"]})}, saver)
        with pytest.raises(ValueError, match="boom"):
            drive.invoke(graph, {"log": []}, cfg())

        assert drive.invoke(graph, None, cfg())["log"] == ["a", "b"] and ran == ["a"]

    def test_keeps_what_finished_beside_it(self, drive, saver, gates):
        ran: list[str] = []
        gate = gates()

        def fails_late(state):
            gate.pass_()
            raise ValueError("boom")

        graph = side_by_side({"good": writes_name("good", ran), "late": fails_late}, saver)
        shown = []
        with pytest.raises(ValueError, match="boom"):
            shown = drive.start(Opens(graph, gate), "stream", {"log": []}, cfg()).result()

        assert shown == [] and drive.get_state(graph, cfg()).values["log"] == ["good"]
        assert drive.get_state(graph, cfg()).next == ("late",)
        with pytest.raises(ValueError, match="boom"):
            drive.invoke(graph, None, cfg())
        assert ran == ["good"]

    def test_then_a_new_input_starts_from_the_entry(self, drive, saver):
        ran: list[str] = []
        graph = chain({"a": writes_name("a", ran), "b": raises_once(ValueError("boom"), {"log": ["b"]})}, saver)
        with pytest.raises(ValueError, match="boom"):
            drive.invoke(graph, {"log": ["1"]}, cfg())

        assert drive.invoke(graph, {"log": ["2"]}, cfg())["log"] == ["1", "a", "2", "a", "b"]


class DescribeARetry:
    def test_runs_the_node_until_it_works(self, drive, saver):
        node = Flaky(2)

        ended = drive.invoke(one_node(saver, node, retry_policy=FAST), {"log": []}, cfg())

        assert ended["log"] == ["a", "b"] and node.runs == 3

    def test_gives_up_after_its_attempts(self, drive, saver):
        node = Flaky(9)

        with pytest.raises(OSError, match="failure 3"):
            drive.invoke(one_node(saver, node, retry_policy=FAST), {"log": []}, cfg())

        assert node.runs == 3

    def test_is_not_for_other_errors(self, drive, saver):
        node = Flaky(9, KeyError)

        with pytest.raises(KeyError):
            drive.invoke(one_node(saver, node, retry_policy=FAST), {"log": []}, cfg())

        assert node.runs == 1

    @pytest.mark.parametrize(
        ("error", "runs"), [(ConnectionError, 2), (type("Odd", (Exception,), {}), 2), (ValueError, 1), (OSError, 1)]
    )
    def test_by_default_is_for_what_may_pass(self, drive, saver, error, runs):
        node = Flaky(1, error)
        graph = one_node(saver, node, retry_policy=RetryPolicy(initial_interval=0.001, jitter=False))

        with contextlib.suppress(error):
            drive.invoke(graph, {"log": []}, cfg())

        assert node.runs == runs

    def test_may_be_decided_by_a_function(self, drive, saver):
        node = Flaky(1, KeyError)
        policy = FAST._replace(retry_on=lambda error: "failure" in str(error))

        assert drive.invoke(one_node(saver, node, retry_policy=policy), {"log": []}, cfg())["log"] == ["a", "b"]

    def test_takes_the_first_of_several_policies_that_fits(self, drive, saver):
        node = Flaky(4)
        policies = [FAST._replace(retry_on=KeyError), FAST._replace(max_attempts=5)]

        assert drive.invoke(one_node(saver, node, retry_policy=policies), {"log": []}, cfg())["log"] == ["a", "b"]

    def test_keeps_the_task_id_and_counts_attempts(self, drive, saver):
        seen = []

        def node(state, runtime):
            info = runtime.execution_info
            seen.append((info.task_id, info.node_attempt))
            if len(seen) < 3:
                raise OSError("flaky")
            return {"log": ["a"]}

        drive.invoke(one_node(saver, node, retry_policy=FAST), {"log": []}, cfg())

        assert len({id_ for id_, _ in seen}) == 1 and [n for _, n in seen] == [1, 2, 3]

    def test_keeps_answers(self, drive, saver):
        flaky = Flaky(1)

        def node(state):
            answer = interrupt("?")
            flaky(state)
            return {"log": [answer]}

        graph = one_node(saver, node, retry_policy=FAST)
        drive.invoke(graph, {"log": []}, cfg())

        assert drive.invoke(graph, Command(resume="yes"), cfg())["log"] == ["yes", "b"] and flaky.runs == 2

    def test_may_be_the_default_of_a_graph(self, drive, saver):
        builder = StateGraph(State)
        node = Flaky(1)
        builder.add_node("a", node)
        builder.add_edge(START, "a")
        builder.set_node_defaults(retry_policy=FAST)

        assert drive.invoke(builder.compile(checkpointer=saver), {"log": []}, cfg())["log"] == ["a"]


class DescribeAnErrorHandler:
    def test_is_given_the_state_and_the_error(self, drive, saver):
        told = []

        def handler(state, error: NodeError):
            told.append((state["log"], error.node, str(error.error)))
            return {"log": ["handled"]}

        graph = one_node(saver, fails(ValueError("boom")), error_handler=handler)

        assert drive.invoke(graph, {"log": ["in"]}, cfg())["log"] == ["in", "handled"]
        assert told == [(["in"], "a", "boom")]

    def test_stands_in_for_the_node_whose_edges_do_not_fire(self, drive, saver):
        graph = one_node(saver, fails(ValueError("boom")), error_handler=lambda s: {"log": ["handled"]})

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["handled"]
        assert drive.get_state(graph, cfg()).next == ()

    def test_may_go_on_somewhere(self, drive, saver):
        graph = one_node(
            saver, fails(ValueError("boom")), error_handler=lambda s: Command(update={"log": ["h"]}, goto="b")
        )

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["h", "b"]

    def test_comes_after_the_retries(self, drive, saver):
        node = Flaky(9)
        graph = one_node(saver, node, retry_policy=FAST, error_handler=lambda s: {"log": ["handled"]})

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["handled"] and node.runs == 3

    def test_does_not_disturb_siblings(self, drive, saver):
        builder = StateGraph(State)
        builder.add_node("bad", fails(ValueError("boom")), error_handler=lambda s: {"log": ["handled"]})
        builder.add_node("good", writes_name("good"))
        builder.add_edge(START, "bad")
        builder.add_edge(START, "good")

        ended = drive.invoke(builder.compile(checkpointer=saver), {"log": []}, cfg())

        assert sorted(ended["log"]) == ["good", "handled"]

    @pytest.mark.parametrize("mode", ["values", "updates", "custom", "tasks", "debug"])
    def test_lets_no_error_out_of_any_stream(self, drive, saver, mode):
        graph = one_node(saver, fails(ValueError("boom")), error_handler=lambda s: {"log": ["handled"]})

        drive.stream(graph, {"log": []}, cfg(), stream_mode=mode, subgraphs=True)

        assert drive.get_state(graph, cfg()).values["log"] == ["handled"]

    def test_is_not_for_questions(self, drive, saver):
        graph = one_node(saver, lambda s: {"log": [interrupt("?")]}, error_handler=lambda s: {"log": ["handled"]})

        assert [i.value for i in drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]] == ["?"]
        assert drive.invoke(graph, Command(resume="yes"), cfg())["log"] == ["yes", "b"]

    def test_runs_in_the_step_of_the_failure(self, drive, saver):
        graph = one_node(saver, fails(ValueError("boom")), error_handler=lambda s: {"log": ["handled"]})
        drive.invoke(graph, {"log": []}, cfg())

        assert [s.metadata["step"] for s in drive.history(graph, cfg())] == [1, 0, -1]
        assert len({cid(s) for s in drive.history(graph, cfg())}) == 3

    def test_may_be_the_default_of_a_graph(self, drive, saver):
        builder = StateGraph(State)
        builder.add_node("a", fails(ValueError("boom")))
        builder.add_edge(START, "a")
        builder.set_node_defaults(error_handler=lambda s: {"log": ["handled"]})

        assert drive.invoke(builder.compile(checkpointer=saver), {"log": []}, cfg())["log"] == ["handled"]
