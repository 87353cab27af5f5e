"""Running turns again beside what was, and going on where a thread stopped."""

from __future__ import annotations

from typing import Any

import pytest

from stepwell.demo import conversation
from stepwell.errors import EmptyInputError, InvalidResumeError, UnfinishedQuestionError, UnknownInterruptError
from stepwell.graph import END, START, MessagesState, StateGraph
from stepwell.threads import (
    draft_edit,
    fork_thread,
    plan_replay,
    read_stop,
    replay_thread,
    resume_input,
    resume_thread,
    save_edit,
    steps_back,
    turns_back,
    verdict,
)
from stepwell.types import Command, Interrupt, interrupt


def shouting(saver):
    builder = StateGraph(MessagesState)
    builder.add_node("answer", lambda state: {"messages": [("ai", state["messages"][-1].content.upper())]})
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver)


def asking(saver, *questions):
    """A graph with a node that asks for each question, side by side."""
    builder = StateGraph(MessagesState)
    for number, question in enumerate(questions):

        def ask(state: Any, question: Any = question) -> Any:
            return {"messages": [("ai", repr(interrupt(question)))]}

        builder.add_node(f"ask{number}", ask)
        builder.add_edge(START, f"ask{number}")
        builder.add_edge(f"ask{number}", END)
    return builder.compile(checkpointer=saver)


def asked(saver, *questions):
    graph = asking(saver, *questions)
    graph.invoke({"messages": [("user", "hi")]}, {"configurable": {"thread_id": "t"}})
    return graph


def heads(saver):
    return {branch.name: branch.checkpoint_id for branch in saver.branches("t")}


class DescribeAReplay:
    def test_runs_the_last_turn_again_as_a_branch(self, saver, talk, texts):
        talk("t", "My name is Ada.", "What is my name?")
        before = heads(saver)

        replayed = replay_thread(saver, conversation().compile(checkpointer=saver), "t")

        assert heads(saver) == {**before, "replay-1": replayed.checkpoint_id}
        assert replayed.original == before["main"] and replayed.turns == 1 and replayed.next == ()
        assert talk("t", branch="replay-1")[-1] == "Your name is Ada."

    def test_says_again_what_was_said_in_several_turns_to_another_graph(self, saver, talk):
        talk("t", "one", "two", "three")

        replayed = replay_thread(saver, shouting(saver), "t", turns=2, name="loud")

        assert replayed.turns == 2 and replayed.branch == "loud"
        assert talk("t", branch="loud")[2:] == ["two", "TWO", "three", "THREE"]

    def test_from_the_end_of_a_turn_begins_with_the_next(self, saver, talk):
        talk("t", "one", "two", "three")

        replayed = replay_thread(saver, shouting(saver), "t", turns_back(saver, "t", 2))

        assert talk("t", branch=replayed.branch)[-2:] == ["two", "TWO"]
        assert replayed.original == turns_back(saver, "t", 1)

    def test_from_the_middle_of_a_turn_runs_the_rest_of_it(self, saver, talk):
        talk("t", "one", "two")

        replayed = replay_thread(saver, shouting(saver), "t", steps_back(saver, "t", 1))

        assert talk("t", branch=replayed.branch)[-2:] == ["two", "TWO"]
        assert replayed.original == heads(saver)["main"]

    def test_of_a_branch_says_what_was_said_there(self, saver, talk):
        talk("t", "one")
        fork_thread(saver, "t", name="other")
        talk("t", "there", branch="other")
        talk("t", "here")

        loud = replay_thread(saver, shouting(saver), "t", of="other")
        plan = plan_replay(saver, "t", turns_back(saver, "t", 1), of="other")

        assert talk("t", branch=loud.branch)[-1] == "THERE"
        assert plan.ends == (heads(saver)["other"],)

    def test_leaves_out_the_edits_between_and_behind_the_turns_it_runs(self, saver, talk):
        def edit(text):
            draft = draft_edit(saver, "t")
            messages = [*draft.content["messages"][:-1], {**draft.content["messages"][-1], "content": text}]
            return save_edit(saver, draft, {"messages": messages}).checkpoint_id

        talk("t", "one")
        before = edit("zero")
        talk("t", "two")
        between = edit("other")
        talk("t", "three")
        behind = edit("last")

        assert plan_replay(saver, "t", turns=2).left_out == (between, behind)
        assert plan_replay(saver, "t").left_out == (behind,)
        assert plan_replay(saver, "t", before).left_out == (between,)

    def test_stops_where_the_graph_asks(self, saver):
        graph = asked(saver, "sure?")
        graph.invoke(Command(resume="yes"), {"configurable": {"thread_id": "t"}})

        replayed = replay_thread(saver, graph, "t")

        assert [question.value for question in replayed.questions] == ["sure?"]
        assert heads(saver)["main"] == replayed.original

    @pytest.mark.parametrize("back", [0, None])
    def test_of_nothing_is_refused_and_makes_no_branch(self, saver, talk, back):
        talk("t", "one")
        at = None if back is None else turns_back(saver, "t", back)

        with pytest.raises(EmptyInputError, match=r"nothing to run again|2 cannot be run again"):
            replay_thread(saver, shouting(saver), "t", at, turns=2 if back is None else 1)
        assert set(heads(saver)) == {"main"}


class DescribeGoingOn:
    def test_finishes_a_turn_that_was_cut_off(self, saver):
        graph = conversation().compile(checkpointer=saver, interrupt_before=["answer"])
        graph.invoke({"messages": [("user", "one")]}, {"configurable": {"thread_id": "t"}})
        stopped = read_stop(saver, "t")

        done = resume_thread(saver, graph, "t")

        assert stopped.next == ("answer",) and stopped.questions == ()
        assert done["messages"][-1].type == "ai"

    def test_answers_the_questions_by_their_ids(self, saver):
        graph = asked(saver, "a?", "b?")
        ids = {question.value: question.id for question in read_stop(saver, "t").questions}

        done = resume_thread(saver, graph, "t", {ids["b?"]: 2, ids["a?"]: 1})

        assert sorted(message.content for message in done["messages"][1:]) == ["1", "2"]

    def test_goes_on_in_a_branch_alone(self, saver):
        graph = asked(saver, "a?")
        fork_thread(saver, "t", name="other")

        resume_thread(saver, graph, "t", approve=False, branch="other")

        assert read_stop(saver, "t").questions and not read_stop(saver, "t", branch="other").questions

    def test_without_an_answer_is_refused_while_a_question_is_open(self, saver):
        graph = asked(saver, "a?")

        with pytest.raises(UnfinishedQuestionError, match="waits for an answer"):
            resume_thread(saver, graph, "t")

    def test_with_a_verdict_on_several_questions_is_refused(self, saver):
        asked(saver, "a?", "b?")

        with pytest.raises(UnknownInterruptError, match="2 questions are open") as refused:
            resume_input(read_stop(saver, "t"), approve=True)
        assert len(refused.value.pending_ids) == 2

    def test_with_an_answer_to_nothing_is_refused(self, saver, talk):
        talk("t", "one")

        with pytest.raises(UnknownInterruptError, match="no question 'x' is open"):
            resume_input(read_stop(saver, "t"), {"x": 1})
        with pytest.raises(UnknownInterruptError, match="no question is open"):
            resume_input(read_stop(saver, "t"), approve=True)
        with pytest.raises(EmptyInputError, match="its last turn is over"):
            resume_input(read_stop(saver, "t"))


class DescribeAVerdict:
    @pytest.mark.parametrize(
        ("value", "approve", "reject"),
        [
            ("sure?", True, False),
            ({"question": "sure?"}, True, False),
            (["a", "b"], True, False),
            (
                {"action_requests": [{"name": "send"}, {"name": "pay"}]},
                {"decisions": [{"type": "approve"}] * 2},
                {"decisions": [{"type": "reject"}] * 2},
            ),
            (
                [{"action_request": {"action": "send", "args": {}}}],
                [{"type": "accept", "args": None}],
                [{"type": "ignore", "args": None}],
            ),
        ],
    )
    def test_has_the_form_that_the_question_asks_for(self, value, approve, reject):
        question = Interrupt(value, "q")

        assert verdict(question, True) == approve and verdict(question, False) == reject

    def test_that_a_request_does_not_allow_is_refused(self):
        value = {
            "action_requests": [{"name": "pay"}],
            "review_configs": [{"action_name": "pay", "allowed_decisions": ["reject", "edit"]}],
        }

        with pytest.raises(InvalidResumeError, match="does not let 'pay' be decided by 'approve'"):
            verdict(Interrupt(value, "q"), True)
        assert verdict(Interrupt(value, "q"), False) == {"decisions": [{"type": "reject"}]}
