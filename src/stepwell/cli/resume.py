"""`stepwell resume`: on with a thread that stopped in the middle, or that waits for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from stepwell.cli.arguments import thread_argument, wait_option
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.completing import branches
from stepwell.cli.database import opened
from stepwell.cli.exits import USAGE
from stepwell.cli.graphs import load_graph
from stepwell.cli.once import Again, carry_out, print_ended, print_questions
from stepwell.cli.place import Place, choose_graph, place_in, warn_of_another_graph
from stepwell.cli.subcommands import example
from stepwell.cli.text import checked, quoted
from stepwell.cli.turn import answer_value
from stepwell.errors import UnfinishedQuestionError
from stepwell.threads import Stopped, find_thread, only_question, read_stop, resume_input


class QuestionOpen(click.ClickException):
    """A question waits for an answer, and none was given."""

    exit_code = USAGE


@click.command(
    "resume",
    epilog=example(
        "stepwell resume 01a2",
        "stepwell resume 01a2 --approve",
        'stepwell resume 01a2 --answer \'{"city": "Oslo"}\'',
        "stepwell resume 01a2 --answer 5c1f=yes --answer 88d0=no",
        "stepwell resume 01a2 --branch oslo --graph my_app.graph:graph",
    ),
)
@thread_argument
@click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="[ID=]JSON",
    help="Answer the open question; where several are open, each by its id or the beginning of it. "
    "Other text stays text.",
)
@click.option("--approve/--reject", "approve", default=None, help="Answer the open question with yes or no.")
@click.option("--branch", shell_complete=branches, help="Go on in this branch instead of main.")
@click.option(
    "--graph", "spec", metavar="MODULE:NAME", help="The graph; else the one that ran in the thread, if offline."
)
@wait_option
@with_common_options
@click.pass_obj
def command(
    asked: Asked,
    thread: str,
    answers: tuple[str, ...],
    approve: bool | None,
    branch: str | None,
    spec: str | None,
    wait: float,
) -> None:
    """Go on with a THREAD that stopped in the middle of a turn, or that waits for a person.

    Where a question is open and nothing answers it, the question is shown, and the exit code is 2.

    --approve and --reject answer True and False. A question that lists `action_requests`, as agents ask before they
    call tools, gets its own form: one decision of that kind for each request.
    """
    if answers and approve is not None:
        raise click.UsageError("--answer and --approve or --reject both answer the question: give one of them.")
    with opened(asked.path, runs=True, wait=wait) as saver:
        at = place_in(saver, find_thread(saver, thread), branch)
        at.wait = wait
        stopped = read_stop(saver, at.thread_id, branch=branch)
        given = _given(asked, at, stopped, answers, approve)
        graph = load_graph(choose_graph(at, spec), saver)
        warn_of_another_graph(at)
        again = resume_again(asked, at)
        ended = carry_out(asked, saver, at, graph, given, again, says_new=False)
    print_ended(asked, at, ended, again)


def _given(asked: Asked, at: Place, stopped: Stopped, answers: Sequence[str], approve: bool | None) -> Any:
    try:
        return resume_input(stopped, answers_in(answers, stopped), approve=approve)
    except UnfinishedQuestionError:
        asked.questions = stopped.questions
        if not asked.json:
            print_questions(stopped.questions)
        raise QuestionOpen(_how_to_answer(asked, at, stopped)) from None


def answers_in(texts: Sequence[str], stopped: Stopped) -> Mapping[str, Any]:
    """{question id: answer} of what was typed: `ID=ANSWER`, or the answer alone where one question is open."""
    found: dict[str, Any] = {}
    for text in texts:
        checked(text, "--answer")
        head, equals, rest = text.partition("=")
        named = [question.id for question in stopped.questions if equals and head and question.id.startswith(head)]
        if len(named) > 1:
            raise click.UsageError(f"--answer {text}: several questions begin with {head!r}: {', '.join(named)}.")
        id = named[0] if named else only_question(stopped).id
        if id in found:
            raise click.UsageError(f"question {id} was given two answers: give it one.")
        found[id] = answer_value(rest if named else text)
    return found


def _how_to_answer(asked: Asked, at: Place, stopped: Stopped) -> str:
    ids = [question.id for question in stopped.questions]
    answer = "--answer JSON, --approve or --reject"
    if len(ids) > 1:
        answer = " ".join(f"--answer {id}=JSON" for id in ids)
    waits = "an answer" if len(ids) == 1 else f"{len(ids)} answers"
    return f"thread {at.thread_id!r} waits for {waits}. Go on with {resume_again(asked, at).go_on} {answer}"


def resume_again(asked: Asked, at: Place) -> Again:
    """The commands of `stepwell resume` that go on in a place."""
    branch = f" --branch {quoted(at.branch)}" if at.branch else ""
    here = f"stepwell resume{asked.db_flag}{at.graph_flag} {quoted(at.thread_id)}{branch}"
    return Again(go_on=here, answer=f"{here} --answer JSON")
