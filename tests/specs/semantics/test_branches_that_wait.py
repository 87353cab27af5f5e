"""Two branches that stand at one question: each has it until it is answered there."""

from __future__ import annotations

import pytest

from stepwell.errors import UnfinishedQuestionError
from stepwell.graph import END, START, StateGraph
from stepwell.types import Command, Send, interrupt
from tests.specs.given import Log, cfg, chain, side_by_side, writes_name


def asking(saver):
    return chain({"ask": lambda s: {"log": [interrupt("buy?")]}, "pay": writes_name("pay")}, saver)


@pytest.fixture
def forked(drive, saver):
    """A thread that waits, and a branch that was begun there and answered."""
    graph = asking(saver)
    drive.invoke(graph, {"log": []}, cfg())
    drive.call(saver, "create_branch", drive.get_state(graph, cfg()).config, "what-if")
    drive.invoke(graph, Command(resume="no"), cfg(branch="what-if"))
    return graph


def test_an_answer_on_a_fork_leaves_the_question_on_main(drive, saver, forked):
    waiting = drive.get_state(forked, cfg())

    assert [question.value for question in waiting.interrupts] == ["buy?"]
    assert waiting.next == ("ask",)
    assert [row.thread_id for row in drive.call(saver, "list_threads", status="waiting")] == ["t"]
    assert drive.get_state(forked, cfg(branch="what-if")).values["log"] == ["no", "pay"]


def test_new_input_on_main_is_still_refused(drive, forked):
    with pytest.raises(UnfinishedQuestionError):
        drive.invoke(forked, {"log": ["more"]}, cfg())


def test_main_is_answered_by_itself(drive, forked):
    assert drive.invoke(forked, Command(resume="yes"), cfg())["log"] == ["yes", "pay"]

    assert drive.get_state(forked, cfg()).next == ()
    assert drive.get_state(forked, cfg(branch="what-if")).values["log"] == ["no", "pay"]


class DescribeAQuestionOfAGraphInside:
    """It is met by two branches, too; what the graph inside did before it asked is not done again."""

    @pytest.fixture
    def met(self, drive, saver):
        self.ran = []

        def looks(state):
            self.ran.append("look")
            return {"log": ["look"]}

        inside = chain({"look": looks, "ask": lambda state: {"log": [interrupt("buy?")]}})
        graph = chain({"inside": inside, "pay": writes_name("pay")}, saver)
        drive.invoke(graph, {"log": []}, cfg())
        drive.call(saver, "create_branch", drive.get_state(graph, cfg()).config, "what-if")
        return graph

    @pytest.mark.parametrize(("first", "second"), [("main", "what-if"), ("what-if", "main")])
    def test_is_answered_on_each_by_itself(self, drive, met, first, second):
        assert drive.invoke(met, Command(resume="no"), cfg(branch=first))["log"] == ["look", "no", "pay"]

        assert [question.value for question in drive.get_state(met, cfg(branch=second)).interrupts] == ["buy?"]
        assert drive.invoke(met, Command(resume="yes"), cfg(branch=second))["log"] == ["look", "yes", "pay"]
        assert drive.get_state(met, cfg(branch=first)).values["log"] == ["look", "no", "pay"]
        assert self.ran == ["look"]

    def test_waits_on_where_a_branch_is_run_without_an_answer(self, drive, met):
        drive.invoke(met, None, cfg(branch="what-if"))

        assert drive.invoke(met, Command(resume="no"), cfg(branch="what-if"))["log"] == ["look", "no", "pay"]
        assert [question.value for question in drive.get_state(met, cfg()).interrupts] == ["buy?"]
        assert self.ran == ["look"]

    def test_keeps_the_answers_it_has_when_a_branch_begins_between_two(self, drive, saver):
        def asks_twice(state):
            return {"log": [interrupt("first?"), interrupt("second?")]}

        graph = chain({"outer": chain({"inside": chain({"ask": asks_twice})})}, saver)
        drive.invoke(graph, {"log": []}, cfg())
        drive.invoke(graph, Command(resume="A"), cfg())
        drive.call(saver, "create_branch", drive.get_state(graph, cfg()).config, "what-if")

        assert drive.invoke(graph, Command(resume="no"), cfg(branch="what-if"))["log"] == ["A", "no"]
        assert drive.invoke(graph, Command(resume="yes"), cfg())["log"] == ["A", "yes"]


class DescribeAGraphInsideThatIsAnsweredAgain:
    """By a second answer at the checkpoint that waited, or on a branch that was begun there."""

    def inside(self, name, **options):
        def looks(state):
            self.ran.append(name)
            return {"log": ["look"]}

        return chain({"look": looks, "ask": lambda state: {"log": [f"{name} {interrupt(name)}"]}}, **options)

    @pytest.fixture(autouse=True)
    def nothing_ran(self):
        self.ran = []

    @pytest.fixture(params=["a branch", "a second answer"])
    def again(self, request, drive, saver):
        """Gives the questions of a waiting thread and the config of a line that begins where it waits."""

        def begin(graph):
            drive.invoke(graph, {"log": []}, cfg())
            waits = drive.get_state(graph, cfg())
            if request.param == "a branch":
                drive.call(saver, "create_branch", waits.config, "what-if")
                return waits.interrupts, cfg(branch="what-if"), cfg(branch="what-if")
            drive.invoke(graph, Command(resume={one.id: "1st" for one in waits.interrupts}), cfg())
            return waits.interrupts, waits.config, cfg()

        return begin

    def test_keeps_the_question_of_its_neighbour_open(self, drive, saver, again):
        graph = side_by_side({"x": self.inside("x"), "y": self.inside("y")}, saver)
        (x, _), at, on = again(graph)

        drive.invoke(graph, Command(resume={x.id: "yes"}), at)
        [left] = drive.get_state(graph, on).interrupts
        ended = drive.invoke(graph, Command(resume={left.id: "no"}), on)

        assert (left.value, ended["log"]) == ("y", ["look", "x yes", "look", "y no"])
        assert sorted(self.ran) == ["x", "y"]

    def test_is_found_behind_another_in_the_same_node(self, drive, saver, again):
        first, second = chain({"look": writes_name("first")}), self.inside("second")

        def both(state):
            return {"log": [*first.invoke({"log": []})["log"], *second.invoke({"log": []})["log"]]}

        async def aboth(state):
            done = await first.ainvoke({"log": []})
            return {"log": [*done["log"], *(await second.ainvoke({"log": []}))["log"]]}

        graph = chain({"both": aboth if drive.is_async else both}, saver)
        _, at, _ = again(graph)

        assert drive.invoke(graph, Command(resume="yes"), at)["log"] == ["first", "look", "second yes"]
        assert self.ran == ["second"]

    def test_with_a_memory_of_its_own_asks_no_second_time(self, drive, saver, again):
        graph = chain({"x": self.inside("x", saver=True)}, saver)
        _, at, _ = again(graph)

        assert drive.invoke(graph, Command(resume="yes"), at)["log"] == ["look", "x yes"]
        assert self.ran == ["x"]

    def test_starts_there_once(self, drive, saver, again):
        """Where the node is visited again, the graph inside begins anew."""
        builder = StateGraph(Log)
        builder.add_node("x", self.inside("x"))
        builder.add_conditional_edges("x", lambda state: "x" if state["log"].count("look") < 2 else END)
        graph = builder.add_edge(START, "x").compile(checkpointer=saver)
        _, at, on = again(graph)

        drive.invoke(graph, Command(resume="one"), at)
        drive.invoke(graph, Command(resume="two"), on)

        assert drive.get_state(graph, on).values["log"][-1] == "x two"
        assert drive.get_state(graph, on).next == ()


def test_questions_of_two_sends_to_one_graph_are_answered_on_each_branch(drive, saver):
    ran = []

    def looks(state):
        ran.append("look")
        return {"log": ["look"]}

    builder = StateGraph(Log)
    builder.add_node("inside", chain({"look": looks, "ask": lambda state: {"log": [interrupt("buy?")]}}))
    builder.add_conditional_edges(START, lambda state: [Send("inside", {"log": []}), Send("inside", {"log": []})])
    graph = builder.compile(checkpointer=saver)
    drive.invoke(graph, {"log": []}, cfg())
    drive.call(saver, "create_branch", drive.get_state(graph, cfg()).config, "what-if")

    for branch in ("what-if", "main"):
        first, second = drive.get_state(graph, cfg(branch=branch)).interrupts
        answers = {first.id: f"{branch} 1", second.id: f"{branch} 2"}
        ended = drive.invoke(graph, Command(resume=answers), cfg(branch=branch))
        assert ended["log"] == ["look", f"{branch} 1", "look", f"{branch} 2"]
    assert ran == ["look", "look"]


def test_a_failure_inside_is_met_by_two_branches_and_what_went_well_is_not_done_again(drive, saver):
    ran, broken = [], [True]

    def fails(state):
        if broken:
            raise LookupError("no price")
        return {"log": ["ok"]}

    def looks(state):
        ran.append("look")
        return {"log": ["look"]}

    graph = chain({"inside": chain({"look": looks, "buy": fails})}, saver)
    with pytest.raises(LookupError):
        drive.invoke(graph, {"log": []}, cfg())
    drive.call(saver, "create_branch", drive.get_state(graph, cfg()).config, "what-if")
    broken.clear()

    assert drive.invoke(graph, None, cfg(branch="what-if"))["log"] == ["look", "ok"]
    assert drive.invoke(graph, None, cfg())["log"] == ["look", "ok"]
    assert ran == ["look"]
