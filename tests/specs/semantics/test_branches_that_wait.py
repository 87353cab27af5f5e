"""Two branches that stand at one question: each has it until it is answered there."""

from __future__ import annotations

import pytest

from stepwell.errors import UnfinishedQuestionError
from stepwell.types import Command, interrupt
from tests.specs.given import cfg, chain, writes_name


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
