"""`stepwell replay`: turns run again from a checkpoint, as a branch."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from stepwell.cli.arguments import checkpoint_argument, checkpoint_named, thread_argument
from stepwell.cli.asjson import plain, print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.completing import branches
from stepwell.cli.database import opened
from stepwell.cli.diff import diff_json, print_diff
from stepwell.cli.graphs import load_graph
from stepwell.cli.once import Again, carry_out, print_questions
from stepwell.cli.place import choose_graph, place_in, warn_of_another_graph
from stepwell.cli.resume import resume_again
from stepwell.cli.subcommands import example
from stepwell.cli.text import count, name, warn_person
from stepwell.threads import (
    CheckpointDiff,
    Replay,
    Replayed,
    begin_replay,
    diff_checkpoints,
    find_thread,
    plan_replay,
    run_replay,
    short_id,
)


@click.command(
    "replay",
    epilog=example(
        "stepwell replay 01a2",
        "stepwell replay 01a2 --turns 3 --branch again",
        "stepwell replay 01a2 3f9c2ab --graph my_app.graph:other",
        "stepwell replay 01a2 --of oslo --stat",
    ),
)
@thread_argument
@checkpoint_argument
@click.option("--turns", type=click.IntRange(min=1), default=1, show_default=True, help="Run so many turns again.")
@click.option(
    "--of",
    metavar="BRANCH",
    shell_complete=branches,
    help="Run again what was said in this branch instead of main.",
)
@click.option("--branch", metavar="NAME", help="The name of the new branch; else replay-1, replay-2, …")
@click.option("--graph", "spec", metavar="MODULE:NAME", help="The graph to run, the same as before or another.")
@click.option("--stat", is_flag=True, help="Only say how much came out otherwise in each key.")
@with_common_options
@click.pass_obj
def command(
    asked: Asked,
    thread: str,
    checkpoint: str | None,
    turns: int,
    of: str | None,
    branch: str | None,
    spec: str | None,
    stat: bool,
) -> None:
    """Run turns of a THREAD again from a CHECKPOINT, in a new branch, and show what came out otherwise.

    Without a CHECKPOINT the last turn is run again. One in the middle of a turn begins with the rest of that turn, one
    at the end of a turn with the next one, with what was said then. No other branch moves.
    """
    with opened(asked.path, runs=True) as saver:
        thread_id = find_thread(saver, thread)
        id = checkpoint_named(saver, thread_id, checkpoint)
        replay = plan_replay(saver, thread_id, id, turns=turns, of=of)
        at = place_in(saver, thread_id, of)
        graph = load_graph(choose_graph(at, spec), saver)
        warn_of_another_graph(at)
        _warn_of_edits(replay)
        new = begin_replay(saver, replay, name=branch or "")
        at = dataclasses.replace(at, branch=new, head=replay.begin)
        again = resume_again(asked, at)

        def run(given: Any, _config: Any) -> None:
            ended = carry_out(asked, saver, at, graph, given, again, says_new=given is not None)
            if ended.reply and not asked.json:
                click.echo()

        replayed = run_replay(saver, replay, run, name=new)
        found = diff_checkpoints(saver, thread_id, replayed.original, replayed.checkpoint_id)
    if asked.json:
        print_json(_json(replayed, found, stat))
    else:
        _tell(replayed, found, again, stat)


def _warn_of_edits(replay: Replay) -> None:
    """Says which changes of the state are not among what is run again."""
    if replay.left_out:
        edits, are = ("edit", "is") if len(replay.left_out) == 1 else ("edits", "are")
        warn_person(f"the {edits} at {', '.join(map(short_id, replay.left_out))} {are} not made again.")


def _tell(replayed: Replayed, found: CheckpointDiff, again: Again, stat: bool) -> None:
    where = f"branch {name(replayed.branch)} is at {short_id(replayed.checkpoint_id)}"
    click.echo(f"{count(replayed.turns, 'turn')} run again from {short_id(replayed.begin)}: {where}.")
    print_diff(found, stat)
    print_questions(replayed.questions)
    if replayed.questions:
        click.echo(f"answer with: {again.answer}", err=True)
    elif replayed.next:
        click.echo(f"stopped before {', '.join(replayed.next)}; go on with: {again.go_on}", err=True)


def _json(replayed: Replayed, found: CheckpointDiff, stat: bool) -> dict[str, Any]:
    return {
        "thread": replayed.thread_id,
        "branch": replayed.branch,
        "from": replayed.begin,
        "checkpoint": replayed.checkpoint_id,
        "original": replayed.original,
        "turns": replayed.turns,
        "status": "waiting" if replayed.questions or replayed.next else "idle",
        "questions": [plain(question) for question in replayed.questions],
        "next": list(replayed.next),
        "diff": diff_json(found, stat),
    }
