"""Who listens to a run: callbacks of LangChain, and those for questions and answers."""

from __future__ import annotations

import pytest
from langchain_core.callbacks import BaseCallbackHandler

from stepwell.callbacks import GraphCallbackHandler
from stepwell.types import Command, interrupt
from tests.specs.given import cfg, chain, cid, fails, writes_name


class Hears(BaseCallbackHandler):
    """Notes which chain runs begin, end and fail, and what they are told."""

    def __init__(self):
        self.told = []
        self.began = {}

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **options):
        self.told.append(("start", options["name"]))
        self.began[options["name"]] = {"inputs": inputs, "run": run_id, "parent": parent_run_id, **options}

    def on_chain_end(self, outputs, **options):
        self.told.append(("end", outputs))

    def on_chain_error(self, error, **options):
        self.told.append(("error", str(error)))


class Asked(GraphCallbackHandler):
    """Notes questions and resumptions."""

    def __init__(self):
        self.told = []

    def on_interrupt(self, event):
        self.told.append(("asked", event))

    def on_resume(self, event):
        self.told.append(("resumed", event))


class DescribeChainRuns:
    def test_are_the_graph_and_each_node(self, drive, saver):
        ear = Hears()
        graph = chain("ab", saver, name="mine")

        drive.invoke(graph, {"log": []}, {**cfg(), "callbacks": [ear]})

        assert ear.told == [
            ("start", "mine"),
            ("start", "a"),
            ("end", {"log": ["a"]}),
            ("start", "b"),
            ("end", {"log": ["b"]}),
            ("end", {"log": ["a", "b"]}),
        ]

    def test_of_nodes_are_below_that_of_the_graph(self, drive, saver):
        ear = Hears()
        drive.invoke(chain("a", saver, name="mine"), {"log": ["in"]}, {**cfg(), "callbacks": [ear]})

        node = ear.began["a"]
        assert node["parent"] == ear.began["mine"]["run"] and node["inputs"] == {"log": ["in"]}
        assert "graph:step:1" in node["tags"]
        assert node["metadata"]["langgraph_node"] == "a" and node["metadata"]["langgraph_step"] == 1

    def test_carry_tags_and_metadata_of_the_caller(self, drive, saver):
        ear = Hears()
        config = {**cfg(), "callbacks": [ear], "tags": ["mine"], "metadata": {"user": "u1"}}

        drive.invoke(chain("a", saver), {"log": []}, config)

        assert "mine" in ear.began["a"]["tags"] and ear.began["a"]["metadata"]["user"] == "u1"

    def test_tell_of_a_failure(self, drive, saver):
        ear = Hears()
        with pytest.raises(ValueError, match="boom"):
            drive.invoke(chain({"a": fails(ValueError("boom"))}, saver), {"log": []}, {**cfg(), "callbacks": [ear]})

        assert [what for what, _ in ear.told] == ["start", "start", "error", "error"]
        assert "boom" in ear.told[2][1]

    def test_of_a_subgraph_are_below_that_of_its_node(self, drive, saver):
        ear = Hears()
        graph = chain({"child": chain({"inner": writes_name("inner")}, name="sub")}, saver, name="mine")

        drive.invoke(graph, {"log": []}, {**cfg(), "callbacks": [ear]})

        assert ear.began["inner"]["parent"] != ear.began["mine"]["run"] and ear.began["inner"]["parent"] is not None

    def test_may_be_the_graphs_own(self, drive, saver):
        ear = Hears()
        graph = chain("a", saver).with_config({"callbacks": [ear]})

        drive.invoke(graph, {"log": []}, cfg())

        assert ("start", "a") in ear.told


class DescribeQuestions:
    def test_are_told_with_where_they_stand(self, drive, saver):
        ear = Asked()
        graph = chain({"ask": lambda s: {"log": [interrupt("?")]}}, saver)
        config = {**cfg(), "callbacks": [ear]}

        drive.invoke(graph, {"log": []}, config)

        ((what, event),) = ear.told
        assert what == "asked" and [i.value for i in event.interrupts] == ["?"]
        assert event.checkpoint_id == cid(drive.get_state(graph, cfg())) and event.checkpoint_ns == ()

    def test_are_told_to_be_resumed(self, drive, saver):
        ear = Asked()
        graph = chain({"ask": lambda s: {"log": [interrupt("?")]}}, saver)
        drive.invoke(graph, {"log": []}, cfg())
        waiting = cid(drive.get_state(graph, cfg()))

        drive.invoke(graph, Command(resume="yes"), {**cfg(), "callbacks": [ear]})

        ((what, event),) = ear.told
        assert what == "resumed" and event.checkpoint_id == waiting

    def test_are_not_told_of_when_there_are_none(self, drive, saver):
        ear = Asked()

        drive.invoke(chain("ab", saver), {"log": []}, {**cfg(), "callbacks": [ear]})

        assert ear.told == []
