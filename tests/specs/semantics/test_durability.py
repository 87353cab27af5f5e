"""When a step is on disk: durability sync, async and exit."""

from __future__ import annotations

import pytest

from stepwell.types import interrupt
from tests.specs.given import cfg, chain, cid, fails, parent_cid, writes_name

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
