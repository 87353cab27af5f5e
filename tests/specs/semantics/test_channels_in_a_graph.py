"""Keys that are merged in another way: topics, ephemeral and untracked values, overwriting."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest

from stepwell.channels import AnyValue, EphemeralValue, Topic, UntrackedValue
from stepwell.errors import InvalidUpdateError
from stepwell.types import Overwrite
from tests.specs.given import cfg, chain, cid, side_by_side


class Kinds(TypedDict, total=False):
    log: Annotated[list, operator.add]
    tags: Annotated[set, operator.or_]
    once: Annotated[str, EphemeralValue]
    news: Annotated[list, Topic(str)]
    every: Annotated[list, Topic(str, accumulate=True)]
    same: Annotated[int, AnyValue]
    live: Annotated[Any, UntrackedValue]


def looking(key, seen):
    def node(state):
        seen.append(state.get(key, "nothing"))
        return {}

    return node


class DescribeAKeyWithAReducer:
    def test_reads_as_empty_before_it_was_written(self, drive, saver):
        seen = []
        drive.invoke(chain({"a": looking("log", seen)}, saver, schema=Kinds), {"same": 1}, cfg())

        assert seen == [[]]

    def test_may_be_overwritten(self, drive, saver):
        graph = chain({"a": lambda s: {"log": Overwrite(["new"])}}, saver, schema=Kinds)

        assert drive.invoke(graph, {"log": ["old"]}, cfg())["log"] == ["new"]

    def test_may_not_be_overwritten_twice_in_a_step(self, drive, saver):
        nodes = dict.fromkeys("ab", lambda s: {"log": Overwrite(["new"])})

        with pytest.raises(InvalidUpdateError):
            drive.invoke(side_by_side(nodes, saver, schema=Kinds), {"log": ["old"]}, cfg())

    def test_when_overwritten_ignores_the_other_writes_of_the_step(self, drive, saver):
        nodes = {
            "a": lambda s: {"log": ["a"]},
            "b": lambda s: {"log": Overwrite(["b!"])},
            "c": lambda s: {"log": ["c"]},
        }
        graph = side_by_side(nodes, saver, schema=Kinds)

        live = drive.invoke(graph, {"log": ["in"]}, cfg())["log"]

        assert live == ["b!"] == drive.get_state(graph, cfg()).values["log"]

    def test_may_be_a_set(self, drive, saver):
        graph = side_by_side({"a": lambda s: {"tags": {1, 2}}, "b": lambda s: {"tags": {2, 3}}}, saver, schema=Kinds)

        assert drive.invoke(graph, {"tags": {0}}, cfg())["tags"] == {0, 1, 2, 3}


class DescribeAnEphemeralValue:
    def test_is_there_in_the_next_step_only(self, drive, saver):
        seen = []
        nodes = {"a": lambda s: {"once": "x"}, "b": looking("once", seen), "c": looking("once", seen)}
        graph = chain(nodes, saver, schema=Kinds)

        drive.invoke(graph, {"log": []}, cfg())

        assert seen == ["x", "nothing"] and "once" not in drive.get_state(graph, cfg()).values


class DescribeATopic:
    def test_holds_the_writes_of_the_last_step(self, drive, saver):
        seen = []
        nodes = {"a": lambda s: {"news": ["1", "2"]}, "b": looking("news", seen), "c": looking("news", seen)}

        drive.invoke(chain(nodes, saver, schema=Kinds), {"log": []}, cfg())

        assert seen[0] == ["1", "2"] and seen[1] in ([], "nothing")

    def test_may_gather_all_of_them(self, drive, saver):
        nodes = {"a": lambda s: {"every": "1"}, "b": lambda s: {"every": ["2", "3"]}}

        assert drive.invoke(chain(nodes, saver, schema=Kinds), {"log": []}, cfg())["every"] == ["1", "2", "3"]


class DescribeAnyValue:
    def test_takes_several_writes_of_a_step(self, drive, saver):
        graph = side_by_side(dict.fromkeys("ab", lambda s: {"same": 7}), saver, schema=Kinds)

        assert drive.invoke(graph, {"log": []}, cfg())["same"] == 7


class DescribeAnUntrackedValue:
    def test_is_seen_in_the_run_and_never_stored(self, drive, saver):
        seen = []
        handle = object()
        nodes = {"a": lambda s: {"live": handle}, "b": looking("live", seen)}
        graph = chain(nodes, saver, schema=Kinds)

        drive.invoke(graph, {"log": []}, cfg())

        assert seen == [handle] and "live" not in drive.get_state(graph, cfg()).values


def test_every_kind_reads_back_as_it_was_live(drive, saver):
    nodes = {
        "a": lambda s: {"log": ["a"], "tags": {1}, "every": ["x"], "same": 1},
        "b": lambda s: {"log": ["b"], "tags": {2}, "every": ["y"], "once": "o", "news": ["n"]},
    }
    graph = chain(nodes, saver, schema=Kinds)

    shown = drive.stream(graph, {"log": ["in"]}, cfg(), stream_mode="values")

    stored = [s.values for s in drive.history(graph, cfg())][::-1]
    assert shown == stored[1:] and len({cid(s) for s in drive.history(graph, cfg())}) == 4
