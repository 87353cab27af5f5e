"""What a consumer of a stream is shown, and in which order: values, updates, custom, lists of modes."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.config import get_stream_writer
from stepwell.graph import END, START, StateGraph
from stepwell.types import Command, Interrupt, StreamWriter, interrupt
from tests.specs.given import Opens, cfg, chain, side_by_side, writes_name


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]
    n: int


class Count(TypedDict):
    n: int


def asks(state):
    return {"log": [interrupt("sure?")]}


class DescribeValues:
    def test_are_the_state_after_the_input_and_after_each_step(self, drive, saver):
        shown = drive.stream(chain("ab", saver), {"log": ["in"]}, cfg(), stream_mode="values")

        assert shown == [{"log": ["in"]}, {"log": ["in", "a"]}, {"log": ["in", "a", "b"]}]

    def test_are_not_shown_for_a_step_that_changed_none(self, drive, saver):
        graph = chain({"a": lambda s: None, "b": writes_name("b")}, saver)

        shown = drive.stream(graph, {"log": ["in"]}, cfg(), stream_mode="values")

        assert shown == [{"log": ["in"]}, {"log": ["in", "b"]}]

    def test_show_the_questions_in_an_event_of_their_own(self, drive, saver):
        shown = drive.stream(chain({"ask": asks}, saver), {"log": ["in"]}, cfg(), stream_mode="values")

        before, asked = shown
        assert before == {"log": ["in"]} and asked["log"] == ["in"]
        assert [i.value for i in asked["__interrupt__"]] == ["sure?"]

    def test_show_what_was_there_first_when_a_run_is_carried_on(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": ["in"]}, cfg(), interrupt_before=["b"])

        shown = drive.stream(graph, None, cfg(), stream_mode="values")

        assert shown == [{"log": ["in", "a"]}, {"log": ["in", "a", "b"]}]

    def test_show_every_key_also_those_outside_of_the_output(self, drive, saver):
        builder = StateGraph(State, output_schema=Count)
        builder.add_node("a", lambda s: {"n": 1, "log": ["a"]})
        builder.add_edge(START, "a")
        graph = builder.compile(checkpointer=saver)

        assert drive.stream(graph, {"log": []}, cfg(), stream_mode="values")[-1] == {"log": ["a"], "n": 1}
        assert drive.invoke(graph, {"log": []}, cfg()) == {"n": 1}

    def test_may_be_restricted_by_the_call(self, drive, saver):
        graph = chain({"a": lambda s: {"n": 1, "log": ["a"]}}, saver, schema=State)

        assert drive.stream(graph, {"log": []}, cfg(), stream_mode="values", output_keys="n") == [1]
        assert drive.invoke(graph, {"log": []}, cfg("2"), output_keys=["n"]) == {"n": 1}


class DescribeUpdates:
    def test_are_the_default(self, drive, saver):
        assert drive.stream(chain("ab", saver), {"log": []}, cfg()) == [{"a": {"log": ["a"]}}, {"b": {"log": ["b"]}}]

    def test_come_when_a_task_finishes_and_not_by_name(self, drive, saver, gates):
        gate = gates()

        def waits(state):
            gate.pass_()
            return {"log": ["a"]}

        graph = side_by_side({"a": waits, "z": writes_name("z")}, saver)

        shown = drive.start(Opens(graph, gate), "stream", {"log": []}, cfg()).result()

        assert [list(event) for event in shown] == [["z"], ["a"]]

    def test_of_several_writes_to_one_key_are_a_list(self, drive, saver):
        graph = chain({"a": lambda s: [{"log": ["1"]}, Command(update={"log": ["2"]})]}, saver)

        assert drive.stream(graph, {"log": []}, cfg()) == [{"a": [{"log": ["1"]}, {"log": ["2"]}]}]

    def test_show_a_question_as_a_tuple(self, drive, saver):
        (event,) = drive.stream(chain({"ask": asks}, saver), {"log": []}, cfg())

        (question,) = event["__interrupt__"]
        assert isinstance(event["__interrupt__"], tuple) and isinstance(question, Interrupt)
        assert question.value == "sure?"

    def test_show_a_static_breakpoint_as_an_empty_one(self, drive, saver):
        shown = drive.stream(chain("ab", saver), {"log": []}, cfg(), interrupt_before=["b"])

        assert shown == [{"a": {"log": ["a"]}}, {"__interrupt__": ()}]

    def test_do_not_show_the_step_that_takes_the_input(self, drive, saver):
        assert [list(event) for event in drive.stream(chain("a", saver), {"log": []}, cfg())] == [["a"]]


class DescribeCustomEvents:
    def test_come_from_a_writer_by_parameter_by_call_and_by_runtime(self, drive, saver):
        def node(state, writer: StreamWriter, runtime):
            writer("one")
            get_stream_writer()("two")
            runtime.stream_writer({"three": 3})
            return {"log": ["a"]}

        shown = drive.stream(chain({"a": node}, saver), {"log": []}, cfg(), stream_mode="custom")

        assert shown == ["one", "two", {"three": 3}]

    def test_are_dropped_when_nobody_listens(self, drive, saver):
        def node(state, writer: StreamWriter):
            writer("unheard")
            return {"log": ["a"]}

        assert drive.stream(chain({"a": node}, saver), {"log": []}, cfg()) == [{"a": {"log": ["a"]}}]

    def test_come_before_the_update_of_their_node(self, drive, saver):
        def node(state, writer: StreamWriter):
            writer(1)
            writer(2)
            return {"log": ["a"]}

        shown = drive.stream(chain({"a": node}, saver), {"log": []}, cfg(), stream_mode=["updates", "custom"])

        assert shown == [("custom", 1), ("custom", 2), ("updates", {"a": {"log": ["a"]}})]

    def test_are_shown_while_the_node_still_runs(self, drive, saver, gates):
        gate = gates()

        def node(state, writer: StreamWriter):
            writer("early")
            gate.pass_()
            return {"log": ["a"]}

        graph = side_by_side({"a": node, "b": writes_name("b")}, saver)
        run = drive.start(Opens(graph, gate), "stream", {"log": []}, cfg(), stream_mode="custom")

        assert run.result() == ["early"]


class DescribeAListOfModes:
    def test_names_the_mode_of_each_event(self, drive, saver):
        shown = drive.stream(chain("a", saver), {"log": ["in"]}, cfg(), stream_mode=["values", "updates"])

        assert shown == [
            ("values", {"log": ["in"]}),
            ("updates", {"a": {"log": ["a"]}}),
            ("values", {"log": ["in", "a"]}),
        ]

    def test_of_one_is_still_named(self, drive, saver):
        assert drive.stream(chain("a", saver), {"log": []}, cfg(), stream_mode=["updates"]) == [
            ("updates", {"a": {"log": ["a"]}})
        ]

    def test_shows_a_step_in_this_order(self, drive, saver):
        def node(state, writer: StreamWriter):
            writer("c")
            return {"log": ["a"]}

        modes = ["values", "updates", "custom", "tasks", "checkpoints"]
        shown = drive.stream(chain({"a": node}, saver), {"log": ["in"]}, cfg(), stream_mode=modes)

        kinds = [mode for mode, _ in shown]
        first = kinds.index("tasks")
        assert kinds[first:] == ["tasks", "custom", "updates", "tasks", "values", "checkpoints"]


class DescribeTwoStreams:
    def test_of_two_threads_do_not_mix(self, drive, saver):
        graph = chain("abc", saver)

        runs = [drive.start(graph, "stream", {"log": [n]}, cfg(f"t{n}"), stream_mode="values") for n in range(8)]

        for n, run in enumerate(runs):
            assert run.result()[-1] == {"log": [n, "a", "b", "c"]}


class DescribeLeavingEarly:
    def test_keeps_what_was_shown_and_runs_no_further(self, drive, saver):
        ran: list[str] = []
        graph = chain("abc", saver, ran=ran)

        assert drive.take(1, graph, "stream", {"log": []}, cfg()) == [{"a": {"log": ["a"]}}]

        snapshot = drive.get_state(graph, cfg())
        assert "a" in snapshot.values["log"] and snapshot.next
        assert drive.invoke(graph, None, cfg())["log"] == ["a", "b", "c"]
        assert ran == ["a", "b", "c"]

    def test_leaves_the_thread_free(self, drive, saver):
        graph = chain("abc", saver)
        drive.take(1, graph, "stream", {"log": []}, cfg())

        assert drive.invoke(graph, {"log": ["new"]}, cfg())["log"][-4:] == ["new", "a", "b", "c"]


class DescribeAnErrorInAStream:
    def test_comes_after_what_was_shown_before_it(self, drive, saver):
        def fails(state):
            raise ValueError("boom")

        graph = chain({"a": writes_name("a"), "b": fails}, saver)

        assert drive.take(1, graph, "stream", {"log": []}, cfg()) == [{"a": {"log": ["a"]}}]
        with pytest.raises(ValueError, match="boom"):
            drive.stream(graph, {"log": []}, cfg("2"))


class DescribeTheSecondVersion:
    def test_names_type_namespace_and_data(self, drive, saver):
        shown = drive.stream(chain("a", saver), {"log": ["in"]}, cfg(), stream_mode=["values", "updates"], version="v2")

        assert [(e["type"], e["ns"], e["data"]) for e in shown] == [
            ("values", (), {"log": ["in"]}),
            ("updates", (), {"a": {"log": ["a"]}}),
            ("values", (), {"log": ["in", "a"]}),
        ]

    def test_shows_questions_beside_the_values(self, drive, saver):
        shown = drive.stream(chain({"ask": asks}, saver), {"log": []}, cfg(), stream_mode="values", version="v2")

        assert [i.value for i in shown[-1]["interrupts"]] == ["sure?"]
        assert "__interrupt__" not in shown[-1]["data"]

    def test_of_invoke_gives_value_and_questions(self, drive, saver):
        done = drive.invoke(chain("a", saver), {"log": []}, cfg("1"), version="v2")
        asked = drive.invoke(chain({"ask": asks}, saver), {"log": []}, cfg("2"), version="v2")

        assert done.value == {"log": ["a"]} and done.interrupts == ()
        assert [i.value for i in asked.interrupts] == ["sure?"]


class Gone:
    """A terminal that is not there any more."""

    def write(self, text):
        raise OSError("the terminal is gone")

    def flush(self):
        pass


class DescribePrinting:
    def test_to_a_terminal_that_is_gone_gives_the_thread_back(self, drive, saver, monkeypatch):
        graph = chain("ab", saver)
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", Gone())
            with pytest.raises(OSError, match="the terminal is gone") as raised:
                drive.invoke(graph, {"log": []}, cfg(), print_mode="updates")

        ended = drive.invoke(graph, None, {**cfg(), "on_busy": "reject"})

        assert ended["log"] == ["a", "b"]
        assert raised.value  # as long as the error is kept, so is what it was raised in

    def test_shows_events_on_the_terminal_and_changes_nothing(self, drive, saver, capsys):
        quiet = drive.invoke(chain("ab", saver), {"log": []}, cfg("1"))
        assert capsys.readouterr().out == ""

        loud = drive.invoke(chain("ab", saver), {"log": []}, cfg("2"), print_mode="updates")

        printed = capsys.readouterr().out
        assert loud == quiet and "'a'" in printed and "'b'" in printed

    @pytest.mark.parametrize("version", ["v1", "v2"])
    @pytest.mark.parametrize("options", [{"print_mode": "updates"}, {"print_mode": "values"}, {"debug": True}])
    def test_leaves_the_result_as_it_is_with_a_schema_of_the_output(self, drive, saver, capsys, options, version):
        builder = StateGraph(State, output_schema=Count)
        builder.add_node("a", lambda s: {"n": 1})
        builder.add_edge(START, "a")
        graph = builder.compile(checkpointer=saver)

        quiet = drive.invoke(graph, {"log": ["in"]}, cfg("1"), version=version)
        loud = drive.invoke(graph, {"log": ["in"]}, cfg("2"), version=version, **options)

        assert loud == quiet and "'n': 1" in capsys.readouterr().out

    def test_leaves_a_question_where_it_is(self, drive, saver):
        graph = chain({"ask": asks}, saver)

        ended = drive.invoke(graph, {"log": []}, cfg(), print_mode="updates")

        assert [question.value for question in ended["__interrupt__"]] == ["sure?"] and ended["log"] == []

    def test_is_done_for_a_call_that_debugs_and_for_no_other(self, drive, saver, capsys):
        graph = chain("a", saver)
        loud_graph = chain("a", saver, debug=True)

        drive.invoke(graph, {"log": []}, cfg("1"), debug=True)
        assert "'log': ['a']" in capsys.readouterr().out

        drive.invoke(loud_graph, {"log": []}, cfg("2"), debug=False)
        assert drive.stream(loud_graph, {"log": []}, cfg("3"), debug=False) and capsys.readouterr().out == ""

    def test_does_not_mix_with_what_is_streamed(self, drive, saver, capsys):
        shown = drive.stream(chain("a", saver), {"log": []}, cfg(), stream_mode="values", print_mode=["updates"])

        assert shown == [{"log": []}, {"log": ["a"]}] and "'a'" in capsys.readouterr().out


class DescribeASubgraphInAStream:
    def nested(self, saver):
        child = StateGraph(State)
        child.add_node("inner", lambda s: {"n": 1})
        child.add_edge(START, "inner")
        parent = StateGraph(State)
        parent.add_node("child", child.compile())
        parent.add_node("after", lambda s: {"log": ["after"]})
        parent.add_edge(START, "child")
        parent.add_edge("child", "after")
        parent.add_edge("after", END)
        return parent.compile(checkpointer=saver)

    def test_is_silent_unless_asked_for(self, drive, saver):
        shown = drive.stream(self.nested(saver), {"log": ["in"]}, cfg())

        assert [list(event) for event in shown] == [["child"], ["after"]]

    def test_comes_under_its_namespace(self, drive, saver):
        shown = drive.stream(self.nested(saver), {"log": ["in"]}, cfg(), subgraphs=True)

        (inner_ns, inner), (outer_ns, outer), last = shown
        assert inner == {"inner": {"n": 1}} and outer_ns == () and list(outer) == ["child"]
        assert len(inner_ns) == 1 and inner_ns[0].startswith("child:")
        assert last == ((), {"after": {"log": ["after"]}})

    def test_with_several_modes_comes_as_triples(self, drive, saver):
        shown = drive.stream(
            self.nested(saver), {"log": ["in"]}, cfg(), stream_mode=["values", "updates"], subgraphs=True
        )

        assert {len(event) for event in shown} == {3}
        assert [(len(ns), mode) for ns, mode, _ in shown] == [
            (0, "values"),
            (1, "values"),
            (1, "updates"),
            (1, "values"),
            (0, "updates"),
            (0, "values"),
            (0, "updates"),
            (0, "values"),
        ]

    def test_sends_its_custom_events_up_when_asked_for(self, drive, saver):
        def inner(state, writer: StreamWriter):
            writer("from inside")
            return {"n": 1}

        child = chain({"inner": inner}, schema=State)
        graph = chain({"child": child}, saver, schema=State)

        assert drive.stream(graph, {"log": []}, cfg(), stream_mode="custom", subgraphs=True)[0][1] == "from inside"
        assert drive.stream(graph, {"log": []}, cfg("2"), stream_mode="custom") == []
