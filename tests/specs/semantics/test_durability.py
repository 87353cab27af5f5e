"""When a step is on disk: durability sync, async and exit."""

from __future__ import annotations

import time

import pytest

from stepwell.graph import END, START, StateGraph
from stepwell.types import Command, interrupt
from tests.specs.given import Log, cfg, chain, cid, fails, parent_cid, writes_name

MODES = ["sync", "async", "exit"]


@pytest.mark.parametrize("durability", MODES)
def test_the_result_and_the_state_are_the_same_in_every_mode(drive, saver, durability):
    graph = chain("abc", saver)

    ended = drive.invoke(graph, {"log": ["in"]}, cfg(), durability=durability)

    assert ended == drive.get_state(graph, cfg()).values == {"log": ["in", "a", "b", "c"]}
    assert drive.invoke(graph, {"log": ["|"]}, cfg(), durability=durability)["log"][-4:] == ["|", "a", "b", "c"]


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_each_step_is_an_entry(drive, saver, durability):
    graph = chain("abc", saver)
    drive.invoke(graph, {"log": []}, cfg(), durability=durability)

    assert [s.metadata["step"] for s in drive.history(graph, cfg())] == [3, 2, 1, 0, -1]


def test_exit_makes_one_entry_for_each_run(drive, saver):
    graph = chain("abc", saver)
    drive.invoke(graph, {"log": []}, cfg(), durability="exit")
    (first,) = drive.history(graph, cfg())

    drive.invoke(graph, {"log": []}, cfg(), durability="exit")

    second, same = drive.history(graph, cfg())
    assert same == first and parent_cid(second) == cid(first)


def test_sync_has_each_step_stored_before_the_next_node_starts(drive, saver):
    stored = []

    def looks(state):
        stored.append(len(list(saver.list(cfg()))))
        return {"log": ["x"]}

    drive.invoke(chain(dict.fromkeys("abc", looks), saver), {"log": []}, cfg(), durability="sync")

    assert stored == [2, 3, 4]


@pytest.mark.parametrize("durability", MODES)
def test_a_question_is_stored_in_every_mode(drive, saver, durability):
    graph = chain({"a": writes_name("a"), "ask": lambda s: {"log": [interrupt("?")]}}, saver)

    drive.invoke(graph, {"log": []}, cfg(), durability=durability)

    snapshot = drive.get_state(graph, cfg())
    assert snapshot.next == ("ask",) and [i.value for i in snapshot.interrupts] == ["?"]


@pytest.mark.parametrize("durability", MODES)
def test_a_failure_leaves_what_was_done_in_every_mode(drive, saver, durability):
    graph = chain({"a": writes_name("a"), "b": fails(ValueError("boom"))}, saver)

    with pytest.raises(ValueError, match="boom"):
        drive.invoke(graph, {"log": []}, cfg(), durability=durability)

    snapshot = drive.get_state(graph, cfg())
    assert snapshot.values["log"] == ["a"] and snapshot.next == ("b",)


@pytest.mark.parametrize("durability", MODES)
def test_a_value_that_cannot_be_stored_fails_the_run(drive, saver, durability):
    graph = chain({"a": lambda s: {"log": [lambda: None]}}, saver)

    with pytest.raises(TypeError):
        drive.invoke(graph, {"log": []}, cfg(), durability=durability)


def fan(saver, last):
    """START → fast, slow → join → last; fast is done, and what it wrote owed, while slow still runs."""

    def slow(state):
        time.sleep(0.05)
        return {"log": ["slow"]}

    builder = StateGraph(Log)
    for name, node in {"fast": writes_name("fast"), "slow": slow, "join": writes_name("join"), "last": last}.items():
        builder.add_node(name, node)
    builder.add_edge(START, "fast")
    builder.add_edge(START, "slow")
    builder.add_edge(["fast", "slow"], "join")
    builder.add_edge("join", "last")
    builder.add_edge("last", END)
    return builder.compile(checkpointer=saver)


@pytest.mark.parametrize("durability", MODES)
def test_a_finished_thread_has_no_writes_of_earlier_steps_pending(drive, saver, durability):
    graph = fan(saver, writes_name("last"))

    drive.invoke(graph, {"log": []}, cfg(), durability=durability)

    assert drive.get_state(graph, cfg()).next == ()
    assert saver.get_tuple(cfg()).pending_writes == []
    assert saver.thread_info("t").status == "idle"


@pytest.mark.parametrize("durability", MODES)
def test_a_handled_error_of_an_earlier_step_does_not_make_a_finished_thread_failed(drive, saver, durability):
    def slow(state):
        time.sleep(0.05)

    builder = StateGraph(Log)
    builder.add_node("bad", fails(ValueError("boom")), error_handler=writes_name("handled"))
    builder.add_node("slow", slow)
    builder.add_node("after", writes_name("after"))
    builder.add_edge(START, "bad")
    builder.add_edge(START, "slow")
    builder.add_edge("slow", "after")
    graph = builder.compile(checkpointer=saver)

    drive.invoke(graph, {"log": []}, cfg(), durability=durability)

    assert saver.get_tuple(cfg()).pending_writes == []
    assert saver.thread_info("t").status == "idle"


@pytest.mark.parametrize("durability", MODES)
def test_a_question_after_earlier_steps_is_all_that_is_pending(drive, saver, durability):
    graph = fan(saver, lambda state: {"log": [interrupt("?")]})

    drive.invoke(graph, {"log": []}, cfg(), durability=durability)

    (asking,) = drive.get_state(graph, cfg()).tasks
    assert [question.value for question in asking.interrupts] == ["?"]
    assert {task for task, _, _ in saver.get_tuple(cfg()).pending_writes} == {asking.id}
    assert saver.thread_info("t").status == "waiting"

    ended = drive.invoke(graph, Command(resume="yes"), cfg(), durability=durability)

    assert sorted(ended["log"]) == ["fast", "join", "slow", "yes"]
    assert saver.get_tuple(cfg()).pending_writes == []
    assert saver.thread_info("t").status == "idle"
