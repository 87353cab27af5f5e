"""Which question an answer belongs to."""

from __future__ import annotations

import warnings

import pytest

from stepwell.engine.interrupts import fits, is_map, match_answers, open_questions, unwrapped
from stepwell.engine.task import Task
from stepwell.errors import GraphInterrupt, InvalidResumeError, UnknownInterruptError
from stepwell.types import Interrupt, interrupt
from tests.engine.play import asked, due, node, plan, record, saved_run


class Asking:
    """A node that is run again and again, each time with the answers so far: what it asked, and what it returned."""

    def __init__(self, body, **fields):
        self.body, self.fields = body, fields
        self.record = None

    def run(self, *answers):
        """Gives `answers` to the open questions in order, runs the node; its open questions, or what it returned."""
        made = plan(node("a", lambda given: {"x": self.body()}))
        run = saved_run(made, **self.fields)
        run.step = 1
        [task] = due(run, "a")
        if self.record is not None:
            open_now = [identity for _, identity in open_questions(self.record)]
            given = tuple(zip(open_now, answers, strict=False))
            self.record.answers = (*self.record.answers, *given)
            task.record = self.record
        task.perform()
        self.task = task
        if isinstance(task.error, GraphInterrupt):
            kept, answered = task.questions.stored()
            self.record = record(task, finished=False, interrupts=kept, answers=answered)
            return [question.value for question, _ in open_questions(self.record)]
        if task.error is not None:
            raise task.error
        return task.writes[0][1]


class DescribeAQuestion:
    def test_is_answered_by_the_same_question_when_the_node_runs_again(self):
        node_that = Asking(lambda: interrupt("sure?"))

        assert node_that.run() == ["sure?"]
        assert node_that.run("yes") == "yes"

    def test_has_an_id_that_stays(self):
        node_that = Asking(lambda: (interrupt("one?"), interrupt("two?")))
        node_that.run()
        [(first, _)] = node_that.record.interrupts
        node_that.run("1")

        assert node_that.record.interrupts[0][0].id == first.id
        assert len(first.id) == 32

    def test_after_an_answered_one_is_the_next(self):
        node_that = Asking(lambda: [interrupt("one?"), interrupt("two?")])

        assert node_that.run() == ["one?"]
        assert node_that.run("1") == ["two?"]
        assert node_that.run("2") == ["1", "2"]

    def test_asked_twice_in_the_same_words_is_told_apart_by_its_number(self):
        node_that = Asking(lambda: [interrupt("more?"), interrupt("more?")])
        node_that.run()
        node_that.run("first")

        assert node_that.run("second") == ["first", "second"]

    def test_is_found_by_its_key_whatever_its_words(self):
        words = iter(["at 9:00?", "at 9:01?"])
        node_that = Asking(lambda: interrupt(next(words), key="time"))
        node_that.run()

        assert node_that.run("yes") == "yes"

    def test_is_found_when_others_come_before_it_now(self):
        more = []
        node_that = Asking(lambda: [interrupt(word, key=word) for word in [*more, "old"]])
        node_that.run()
        more.append("new")

        assert node_that.run("for old") == ["new"]

    def test_with_other_words_takes_the_answer_in_its_place_with_a_warning(self):
        words = iter(["at 9:00?", "at 9:01?"])
        node_that = Asking(lambda: interrupt(next(words)))
        node_that.run()

        with pytest.warns(UserWarning, match="asked a question that differs from the one that was answered"):
            assert node_that.run("yes") == "yes"

    def test_with_other_words_never_takes_an_answer_that_has_a_key(self):
        keys = iter(["first", None])
        node_that = Asking(lambda: interrupt("sure?", key=next(keys)))
        node_that.run()

        assert node_that.run("yes") == ["sure?"]

    def test_with_other_words_never_takes_an_answer_that_was_taken(self):
        order = iter([["a?", "b?"], ["b?", "c?"]])
        node_that = Asking(lambda: [interrupt(word) for word in next(order)])
        assert node_that.run() == ["a?"]

        with pytest.warns(UserWarning, match="differs"):
            assert node_that.run("A") == ["c?"]

    def test_is_the_same_when_the_nodes_function_has_another_name(self):
        def before():
            return interrupt("sure?")

        def after():
            return interrupt("sure?")

        node_that = Asking(before)
        node_that.run()
        node_that.body = after

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert node_that.run("yes") == "yes"

    def test_asked_in_another_function_below_is_another_question(self):
        def one():
            return interrupt("sure?")

        def two():
            return interrupt("sure?")

        node_that = Asking(lambda: [one(), two()])
        node_that.run()
        identities = {identity for _, identity in node_that.record.interrupts}
        node_that.run("1")
        identities |= {identity for _, identity in node_that.record.interrupts}

        assert len(identities) == 2

    def test_keeps_what_it_asked_then_though_its_words_changed(self):
        words = iter(["at 9:00?", "at 9:01?", "at 9:02?"])
        node_that = Asking(lambda: [interrupt(next(words), key="time"), interrupt("and?")])
        node_that.run()
        node_that.run("yes")

        assert node_that.record.interrupts[0][0].value == "at 9:00?"


class DescribeAnAnswerThatDoesNotFit:
    def test_leaves_the_question_open_and_is_forgotten(self):
        def check(schema, answer, question):
            if not isinstance(answer, int):
                raise InvalidResumeError("no number")
            return answer

        node_that = Asking(lambda: interrupt("how many?", response_schema=int), check_answer=check)
        node_that.run()

        with pytest.raises(InvalidResumeError):
            node_that.run("many")
        kept, answers = node_that.task.questions.stored()
        node_that.record = record(node_that.task, finished=False, interrupts=kept, answers=answers)

        assert node_that.run(3) == 3


class DescribeAQuestionFromAGraphInside:
    def test_is_the_tasks_own_and_gets_its_answer(self):
        [task] = due(saved_run(plan(node("a"))), "a")
        question = Interrupt("sure?", "f" * 32)

        task.questions.pass_on([question])
        task.questions.pass_on([question])

        assert task.questions.open == [(question, "@" + "f" * 32)]
        assert task.questions.answer_to(question.id) is None

    def test_is_kept_with_its_answer_while_others_are_asked(self):
        question = Interrupt("sure?", "f" * 32)
        [task] = due(saved_run(plan(node("a"))), "a")
        identity = "@" + question.id
        task.record = record(task, finished=False, interrupts=((question, identity),), answers=((identity, "yes"),))

        assert task.questions.answer_to(question.id) == ("yes",)
        assert task.questions.stored() == (((question, identity),), ((identity, "yes"),))


class DescribeQuestionsAskedAside:
    def test_are_told_from_those_of_the_nodes_own_strand_and_never_take_answers_by_order(self):
        [task] = due(saved_run(plan(node("a"))), "a")
        task.record = record(task, finished=False, interrupts=(), answers=(("#other:0", "yes"),))

        with pytest.raises(GraphInterrupt):  # not below perform(): as a thread or coroutine of the node would
            task.ask("sure?")

        [(_, identity)] = task.questions.open
        assert identity.startswith("~")

    def test_in_a_call_go_to_the_node_that_made_it(self):
        run = saved_run(plan(node("a")))
        [parent] = due(run, "a")
        call = Task(run, run.plan.nodes["a"], ("__pregel_push", "call", 0, True), ())
        call.origin = parent

        with pytest.raises(GraphInterrupt):
            call.ask("sure?", key="k")

        assert [question.value for question, _ in parent.questions.open] == ["sure?"]

    def call_of(self, parent, index, value):
        """What a call asked, or the answer it found."""
        called = Task(parent.run, parent.node, ("__pregel_push", "~a", index, True), ())
        called.origin = parent
        called.node = node("call", lambda _: {"x": interrupt(value)})
        called.perform()
        return called.writes[0][1] if called.error is None else called.error.interrupts[0].value

    def asked_in_calls(self, *values):
        """A task whose calls asked these, and of which the first was answered with "A"."""
        [parent] = due(saved_run(plan(node("a"))), "a")
        for index, value in enumerate(values):
            self.call_of(parent, index, value)
        kept, _ = parent.questions.stored()
        parent._questions = None
        parent.record = record(parent, finished=False, interrupts=kept, answers=((kept[0][1], "A"),))
        return parent

    def test_in_calls_side_by_side_never_take_each_others_answers(self):
        parent = self.asked_in_calls("q0", "q1")

        assert [self.call_of(parent, index, f"q{index}") for index in (1, 0)] == ["q1", "A"]

    def test_in_a_call_that_words_it_differently_now_take_the_only_answer_given_there(self):
        parent = self.asked_in_calls("at 9:00?")

        with pytest.warns(UserWarning, match="differs from the one that was answered"):
            assert self.call_of(parent, 0, "at 9:01?") == "A"
        assert self.call_of(parent, 1, "at 9:01?") == "at 9:01?"

    def test_of_an_error_handler_are_its_own(self):
        run = saved_run(plan(node("a")))
        [parent] = due(run, "a")
        handler = Task(run, run.plan.nodes["a"], ("__pregel_push", "h", "1"), ())
        handler.origin, handler.fault = parent, object()

        with pytest.raises(GraphInterrupt):
            handler.ask("sure?")

        assert not parent.asked
        assert handler.asked


class DescribeMatching:
    def test_a_plain_value_answers_the_only_question(self):
        assert match_answers("yes", [asked("a")], ()) == {"a": [("#q:0", "yes")]}

    def test_a_plain_value_for_two_questions_is_ambiguous(self):
        pending = [asked("a", "1?"), asked("b", "2?")]

        with pytest.raises(UnknownInterruptError, match="2 questions are open") as raised:
            match_answers("yes", pending, ())

        assert raised.value.reason == "ambiguous"
        assert len(raised.value.pending_ids) == 2

    def test_a_map_answers_by_id(self):
        one, two = asked("a", "1?"), asked("b", "2?")
        [(question, identity)] = two.interrupts

        assert match_answers({question.id: "yes"}, [one, two], ()) == {"b": [(identity, "yes")]}

    def test_an_empty_map_answers_nothing(self):
        with pytest.raises(UnknownInterruptError, match=r"Command\(resume=\{\}\) answers nothing"):
            match_answers({}, [asked("a")], ())

    def test_a_dict_whose_keys_are_no_ids_is_a_plain_value(self):
        assert match_answers({"approved": True}, [asked("a")], ()) == {"a": [("#q:0", {"approved": True})]}

    def test_an_id_that_was_answered_is_told_from_one_nobody_asked(self):
        with pytest.raises(UnknownInterruptError, match="it was answered already"):
            match_answers({"0" * 32: 1}, [asked("a")], ["0" * 32])
        with pytest.raises(UnknownInterruptError, match="Open questions"):
            match_answers({"0" * 32: 1}, [asked("a")], [])

    def test_a_finished_task_asks_nothing(self):
        assert open_questions(asked("a", finished=True)) == []

    @pytest.mark.parametrize(("value", "is_one"), [({"a" * 32: 1}, True), ({"A" * 32: 1}, False), ({1: 1}, False),
                                                   ("a" * 32, False), ({}, True)])  # fmt: skip
    def test_a_map_has_only_ids_as_keys(self, value, is_one):
        assert is_map(value) is is_one

    def test_a_map_fits_where_all_its_ids_are_open(self):
        pending = [asked("a")]
        [(question, _)] = pending[0].interrupts

        assert fits({question.id: 1}, pending)
        assert not fits({question.id: 1, "0" * 32: 2}, pending)
        assert fits("plain", pending)


class DescribeAGroupOfErrors:
    def test_is_no_question_when_it_is_empty_of_them(self):
        group = ExceptionGroup("two", [ValueError(), KeyError()])

        assert unwrapped(group) is group

    def test_that_is_none_stays_what_it_is(self):
        error = ValueError()

        assert unwrapped(error) is error
        assert unwrapped(None) is None
