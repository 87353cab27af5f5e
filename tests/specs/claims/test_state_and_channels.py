"""The state is a dict of typed channels (B-23, B-25 … B-27, B-32, B-33)."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.errors import InvalidUpdateError
from tests.specs.given import cfg, chain, side_by_side, writes_name

claim = pytest.mark.claim


class Three(TypedDict):
    name: str
    total: Annotated[int, operator.add]
    todos: list


class DescribeTheState:
    @claim("B-23")
    def test_has_the_fields_of_its_schema(self, drive, saver):
        graph = chain({"a": lambda s: {"name": "n", "todos": ["t"]}}, saver, schema=Three)

        drive.invoke(graph, {"total": 1}, cfg())

        assert drive.get_state(graph, cfg()).values == {"name": "n", "total": 1, "todos": ["t"]}

    @claim("B-23")
    def test_says_once_that_it_has_no_such_field(self, drive, saver):
        graph = chain({"a": lambda s: {"nam": "n"}, "b": lambda s: {"total": 1}}, saver, schema=Three)

        with pytest.warns(UserWarning, match="'name'") as told:
            ended = [drive.invoke(graph, {"total": 1}, cfg()) for _ in range(2)]

        assert len(told) == 1 and "nam" not in ended[0]

    @claim("B-27", "B-32")
    def test_keeps_every_field_through_a_restart(self, drive, open_saver):
        def build():
            return chain({"a": lambda s: {"todos": ["buy milk"], "name": "n"}}, open_saver(), schema=Three)

        drive.invoke(build(), {"total": 2}, cfg())

        assert drive.get_state(build(), cfg()).values == {"name": "n", "total": 2, "todos": ["buy milk"]}


class DescribeAReducer:
    @claim("B-25")
    def test_sums_over_nodes_and_turns(self, drive, saver):
        graph = chain({"a": lambda s: {"total": 1}, "b": lambda s: {"total": 10}}, saver, schema=Three)

        drive.invoke(graph, {"total": 100}, cfg())
        ended = drive.invoke(graph, {"total": 100}, cfg())

        assert ended["total"] == 222

    @claim("B-25")
    def test_without_one_the_last_write_stays(self, drive, saver):
        graph = chain({"a": lambda s: {"name": "a"}, "b": lambda s: {"name": "b"}}, saver, schema=Three)

        assert drive.invoke(graph, {"name": "in"}, cfg())["name"] == "b"

    @claim("B-25")
    def test_without_one_two_writes_of_one_step_are_an_error(self, drive, saver):
        graph = side_by_side({"a": lambda s: {"name": "a"}, "b": lambda s: {"name": "b"}}, saver, schema=Three)

        with pytest.raises(InvalidUpdateError, match="name"):
            drive.invoke(graph, {"total": 1}, cfg())


class DescribeARunHalfWay:
    @claim("B-33", "B-30", "A-31")
    def test_is_carried_on_after_a_restart(self, drive, open_saver):
        ran: list[str] = []

        def build(second):
            nodes = {"n1": writes_name("n1", ran), "n2": second, "n3": writes_name("n3", ran)}
            return chain(nodes, open_saver())

        def crash(state):
            raise OSError("power cut")

        with pytest.raises(OSError, match="power cut"):
            drive.invoke(build(crash), {"log": []}, cfg())
        again = build(writes_name("n2", ran))

        assert drive.get_state(again, cfg()).next == ("n2",)
        assert drive.invoke(again, None, cfg())["log"] == ["n1", "n2", "n3"]
        assert ran == ["n1", "n2", "n3"]

    @claim("B-33")
    def test_waits_for_its_answer_in_another_process(self, proc, database):
        script = """
            import sys
            from stepwell.checkpoint.sqlite import SqliteSaver
            from stepwell.types import Command, interrupt
            from tests.specs.given import cfg, chain, writes_name

            def ask(state):
                return {"log": [interrupt("approve?")]}

            with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
                graph = chain({"n1": lambda s: print("n1 ran") or {"log": ["n1"]}, "ask": ask}, saver)
                if sys.argv[2] == "ask":
                    graph.invoke({"log": []}, cfg())
                else:
                    print([i.value for i in graph.get_state(cfg()).interrupts])
                    print(graph.invoke(Command(resume="yes"), cfg())["log"])
        """

        assert proc(script, database, "ask") == "n1 ran\n"
        assert proc(script, database, "answer") == "['approve?']\n['n1', 'yes']\n"
