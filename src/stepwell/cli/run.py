"""`stepwell run`: one turn without a terminal."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.database import opened
from stepwell.cli.graphs import load_graph
from stepwell.cli.once import Again, carry_out, print_ended, unfinished
from stepwell.cli.place import Place, Wish, choose_graph, find_place, warn_of_another_graph, with_place_options
from stepwell.cli.rewind import rewind_command
from stepwell.cli.text import checked, checked_of, name, warn_person
from stepwell.cli.turn import answer_in, as_input
from stepwell.errors import EmptyInputError, InvalidUpdateError
from stepwell.threads.chain import MAIN


@click.command("run")
@click.option("-m", "--message", help="What to say. Without it: what stdin holds.")
@click.option("--input", "input_json", metavar="JSON", help="The whole input of the graph, instead of a message.")
@click.option("--answer", help="Answer the open question of the thread; JSON is taken as such.")
@click.option("--resume", is_flag=True, help="Finish the turn that was cut off, without saying anything new.")
@click.option("--graph", "spec", metavar="MODULE:NAME", help="The graph; else one that works offline.")
@with_place_options
@with_common_options
@click.pass_obj
def command(
    asked: Asked,
    /,
    message: str | None,
    input_json: str | None,
    answer: str | None,
    resume: bool,
    spec: str | None,
    **place: Any,
) -> None:
    """Run one turn without a terminal: the message comes from -m or stdin, the answer goes to stdout.

    Without --thread it begins a new thread and names it on stderr. With --json the answer is one object.

    \b
    Examples:
      stepwell run -m "My name is Ada."
      stepwell run --last -m "What is my name?"
      git diff | stepwell run --thread review --new
      stepwell run --last --answer yes    what it asked
      stepwell run --last --resume        a turn that stopped
    """
    given = _given(message, input_json, answer, resume)
    wish = Wish(**place)
    if wish.begins and (resume or answer is not None):
        raise click.UsageError(
            "--resume and --answer go on in a thread that is there: name it with --thread or --last."
        )
    with opened(asked.path, runs=True, create=wish.begins, wait=wish.wait, way_out=wish.way_out) as saver:
        at = find_place(saver, wish)
        if resume and unfinished(saver, at) is None:
            raise EmptyInputError(f"there is nothing to finish in thread {at.thread_id!r}. Say something with -m TEXT.")
        graph = load_graph(choose_graph(at, spec), saver)
        if isinstance(given, str):
            at.entitle(given)
            given = as_input(graph, given, at.graph)
        here = f"stepwell run{asked.db_flag}{at.graph_flag}{at.flags}"
        again = Again(go_on=f"{here} --resume", answer=f"{here} --answer TEXT")
        says_new = not resume and answer is None

        def begun() -> None:
            warn_of_another_graph(at)
            if at.due and says_new:
                _warn_of_what_was_cut_off(asked, again, at)

        if not asked.json and at.is_new:
            click.echo(f"thread {name(at.thread_id)}", err=True)
        try:
            ended = carry_out(asked, saver, at, graph, given, again, says_new=says_new, begun=begun)
        except InvalidUpdateError as error:
            if input_json is None or (asked.go_on and asked.heard):
                raise
            raise click.UsageError(f"--input: {error}") from None
    print_ended(asked, at, ended, again)


def _warn_of_what_was_cut_off(asked: Asked, again: Again, at: Place) -> None:
    """Says that a turn stays without an end when something new is said, and how to go back and finish it."""
    back = rewind_command(at.thread_id, at.branch or MAIN, at.head or "", asked.db_flag)
    warn_person(
        f"the last turn was cut off before {', '.join(at.due)} and stays so, since something new is said. "
        f"To go back and finish it:\n  {back}\n  {again.go_on}"
    )


def _given(message: str | None, input_json: str | None, answer: str | None, resume: bool) -> Any:
    """What the graph is given; a message stays text until the graph is known."""
    ways = [way for way in (message, input_json, answer) if way is not None]
    if len(ways) + resume > 1:
        raise click.UsageError("-m, --input, --answer and --resume each are the input of the turn: give one of them.")
    for way in ways:
        checked(way, "the input of the turn")
    if resume:
        return None
    if answer is not None:
        return answer_in(answer)
    if input_json is not None:
        try:
            return _some_input(json.loads(input_json))
        except ValueError as error:
            raise click.UsageError(f"--input is not JSON: {error}.") from None
    text = message if message is not None else _piped()
    if not text:
        raise click.UsageError("there is nothing to say. Give -m TEXT, or pipe the message into stdin.")
    return text


def _some_input(value: Any) -> Any:
    if value is None:
        raise click.UsageError("--input null gives the graph nothing. To finish a turn that was cut off: --resume.")
    return value


def _piped() -> str:
    """What stdin holds; nothing when a person sits at it, or when it is closed."""
    return "" if sys.stdin is None or sys.stdin.isatty() else checked_of(sys.stdin.read, "stdin").strip()
