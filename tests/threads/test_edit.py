"""A state that people edit: what they see, what is written, and what stays."""

from __future__ import annotations

import operator
from datetime import date
from typing import Annotated, Any, TypedDict

import pytest

from stepwell.errors import InvalidUpdateError, StaleRunError, ThreadBusyError
from stepwell.graph import END, START, StateGraph
from stepwell.saves import At, LeaseWish
from stepwell.threads import draft_edit, fork_thread, rewind_thread, save_edit, show_checkpoint
from stepwell.types import Command, interrupt

CONFIG: Any = {"configurable": {"thread_id": "t"}}


class State(TypedDict, total=False):
    log: Annotated[list[Any], operator.add]
    number: float
    todos: dict[str, Any]
    seen: int


GIVEN: Any = {"log": ["a", ("b", 1), date(2026, 1, 2)], "number": 1, "todos": {"0": {"done": False}}}


@pytest.fixture
def ran():
    """What ran, by name."""
    return []


@pytest.fixture
def graph(saver, ran):
    """begin, then beside each other: `work`, and `ask`, which waits for an answer."""

    def work(state: State) -> Any:
        ran.append("work")
        return {"seen": state["number"]}

    def ask(state: State) -> Any:
        ran.append("ask")
        return {"log": [interrupt("go on?"), state["number"]]}

    builder = StateGraph(State)
    builder.add_node("work", work)
    builder.add_node("ask", ask)
    builder.add_edge(START, "work")
    builder.add_edge(START, "ask")
    builder.add_edge(["work", "ask"], END)
    compiled = builder.compile(checkpointer=saver)
    compiled.invoke(GIVEN, CONFIG)
    return compiled


def values(saver, thread="t", **where):
    return dict(show_checkpoint(saver, thread, **where).values)


def size(saver):
    return len(list(saver.list({"configurable": {"thread_id": "t", "checkpoint_ns": ""}})))


class DescribeADraft:
    def test_shows_plain_values_and_marks_the_rest(self, saver, graph):
        assert draft_edit(saver, "t").content == {
            "log": ["a", {"__tuple__": ["b", 1]}, {"__kept__": "1: date"}],
            "number": 1,
            "todos": {"0": {"done": False}},
        }

    def test_shows_messages_by_id_role_and_content(self, saver, talk):
        talk("t", "hello")

        shown = draft_edit(saver, "t").content["messages"]

        assert [(list(each), each["role"]) for each in shown] == [
            (["id", "role", "content"], "human"),
            (["id", "role", "content"], "ai"),
        ]
        assert shown[0]["content"] == "hello"


class DescribeAnEdit:
    def test_reads_back_exactly_as_it_was_edited(self, saver, graph):
        draft = draft_edit(saver, "t")
        kept, pair = draft.content["log"][2], draft.content["log"][1]
        new = {"log": [kept, "x\ny ", pair, None], "number": 1.0, "todos": {"0": {"done": True}, "n": [1, 2.5]}}

        edited = save_edit(saver, draft, new)

        found = values(saver)
        assert found == {**GIVEN, "log": [date(2026, 1, 2), "x\ny ", ("b", 1), None], "todos": new["todos"]}
        assert type(found["number"]) is float and edited.changed == ("log", "number", "todos")

    def test_is_one_update_checkpoint_with_only_what_changed(self, saver, graph):
        before = size(saver)
        draft = draft_edit(saver, "t")

        edited = save_edit(saver, draft, {**draft.content, "number": 2})

        shown = show_checkpoint(saver, "t")
        assert (shown.checkpoint_id, shown.parent_id, shown.source) == (edited.checkpoint_id, edited.before, "update")
        assert edited.changed == ("number",) and size(saver) == before + 1

    def test_that_changes_nothing_writes_nothing(self, saver, graph):
        before = size(saver)
        draft = draft_edit(saver, "t")

        edited = save_edit(saver, draft, draft.content)

        assert edited.changed == () and edited.checkpoint_id == edited.before and size(saver) == before

    def test_is_undone_by_a_rewind(self, saver, graph):
        draft = draft_edit(saver, "t")
        edited = save_edit(saver, draft, {"number": 2})

        rewind_thread(saver, "t", edited.before)

        assert values(saver)["number"] == 1

    def test_keeps_the_question_and_what_finished_beside_it(self, saver, graph, ran):
        asked = show_checkpoint(saver, "t").questions
        save_edit(saver, draft_edit(saver, "t"), {"number": 5})

        assert show_checkpoint(saver, "t").questions == asked
        done = graph.invoke(Command(resume={asked[0].id: "yes"}), CONFIG)

        assert done["log"][-2:] == ["yes", 5] and done["seen"] == 1
        assert ran.count("work") == 1

    def test_makes_nothing_due_where_the_turn_was_over(self, saver, graph):
        graph.invoke(Command(resume="yes"), CONFIG)

        save_edit(saver, draft_edit(saver, "t"), {"number": 5})

        assert graph.get_state(CONFIG).next == () and show_checkpoint(saver, "t").next == ()

    def test_of_a_branch_leaves_the_others_alone(self, saver, graph):
        fork_thread(saver, "t", name="other")

        save_edit(saver, draft_edit(saver, "t", branch="other"), {"number": 5})

        assert values(saver, branch="other")["number"] == 5 and values(saver)["number"] == 1

    def test_keeps_the_metadata_that_lists_show(self, saver, graph):
        other: Any = {"configurable": {"thread_id": "u"}, "metadata": {"title": "Trip", "graph": "app:g"}}
        graph.invoke(GIVEN, other)

        save_edit(saver, draft_edit(saver, "u"), {"number": 2})

        metadata = show_checkpoint(saver, "u").metadata
        assert (metadata["title"], metadata["graph"], metadata["source"]) == ("Trip", "app:g", "update")


class DescribeAnEditOfMessages:
    def test_changes_the_words_and_keeps_the_rest_of_the_message(self, saver, talk):
        talk("t", "hello")
        draft = draft_edit(saver, "t")
        first, second = draft.content["messages"]

        save_edit(saver, draft, {"messages": [first, {**second, "content": "Bye."}]})

        ids = [said.id for said in show_checkpoint(saver, "t").said]
        assert talk("t")[-1] == "Bye." and ids == [first["id"], second["id"]]

    def test_takes_one_out_and_adds_one(self, saver, talk):
        talk("t", "My name is Ada.")
        draft = draft_edit(saver, "t")
        first = draft.content["messages"][0]

        save_edit(saver, draft, {"messages": [first, {"role": "assistant", "content": "Hello Ada."}]})

        said = show_checkpoint(saver, "t").said
        assert [(each.role, each.text) for each in said] == [("you", "My name is Ada."), ("assistant", "Hello Ada.")]
        assert talk("t", "What is my name?")[-1] == "Your name is Ada."

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            ({"role": "ai"}, "the role and the id of a message stay"),
            ({"id": None, "role": "nobody"}, "no message can be made of this"),
        ],
    )
    def test_that_makes_no_message_says_where(self, saver, talk, change, why):
        talk("t", "hello")
        draft = draft_edit(saver, "t")
        first, second = draft.content["messages"]

        with pytest.raises(InvalidUpdateError, match=rf"messages\[0\]: {why}"):
            save_edit(saver, draft, {"messages": [{**first, **change}, second]})


class DescribeAnEditThatCannotBe:
    @pytest.mark.parametrize(
        ("new", "why"),
        [
            ({"nubmer": 1}, "the state has no 'nubmer'"),
            ({"number": [1]}, "number: it holds a plain value, and a list would take its place"),
            ({"log": {"a": 1}}, "log: it holds a list, and a mapping would take its place"),
            ({"log": [date(2026, 1, 1)]}, r"log\[0\]: datetime.date\(2026, 1, 1\) is of type date"),
            ({"log": [{"__kept__": "9: date"}]}, r"log\[0\]: '9: date' marks nothing that was kept"),
            ({"todos": {1: "x"}}, "todos: 1 is no key"),
        ],
    )
    def test_says_where_and_writes_nothing(self, saver, graph, new, why):
        before = size(saver)

        with pytest.raises(InvalidUpdateError, match=why):
            save_edit(saver, draft_edit(saver, "t"), new)
        assert size(saver) == before

    def test_of_a_branch_that_went_on_meanwhile_writes_nothing(self, saver, graph):
        draft = draft_edit(saver, "t")
        graph.invoke(Command(resume="yes"), CONFIG)
        before = size(saver)

        with pytest.raises(StaleRunError, match="went on while it was edited"):
            save_edit(saver, draft, {"number": 2})
        with pytest.raises(StaleRunError, match="went on while it was edited"):
            save_edit(saver, draft, {"number": 2}, graph=graph, as_node="work")
        assert size(saver) == before

    def test_while_somebody_runs_the_thread_writes_nothing(self, saver, graph):
        draft = draft_edit(saver, "t")
        held = saver.perform(saver.load(At("t", ""), lease=LeaseWish("somebody", 0))).fence

        with pytest.raises(ThreadBusyError):
            save_edit(saver, draft, {"number": 2})

        saver.perform(saver.release(held))
        assert save_edit(saver, draft, {"number": 2}).changed == ("number",)


class DescribeAnEditWithAGraph:
    def test_is_an_update_in_the_name_of_a_node(self, saver, graph):
        graph.invoke(Command(resume="yes"), CONFIG)
        draft = draft_edit(saver, "t")

        save_edit(saver, draft, {"log": ["only this"], "number": 3}, graph=graph, as_node="work")

        assert (values(saver)["log"], values(saver)["number"]) == (["only this"], 3)

    def test_may_set_a_key_that_only_the_graph_knows(self, saver, graph):
        save_edit(saver, draft_edit(saver, "t"), {"seen": 9}, graph=graph, as_node="work")

        assert values(saver)["seen"] == 9
        with pytest.raises(InvalidUpdateError, match="the graph keeps no 'nothing'"):
            save_edit(saver, draft_edit(saver, "t"), {"nothing": 9}, graph=graph)
