"""Running turns again from a checkpoint, as a branch: with the same graph or another, to see what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stepwell.checkpoint.tools.shelf import Twig
from stepwell.errors import EmptyInputError
from stepwell.saves import At
from stepwell.threads.chain import MAIN, ThreadSaver, checkpoint_of, config_of, head_of, read_chain
from stepwell.threads.fork import fork_thread
from stepwell.threads.show import load_checkpoint, open_questions
from stepwell.types import START, Interrupt

Run = Callable[[Any, dict[str, Any]], Any]
"""Runs one turn: gets its input, None to finish the one at hand, and the config of the branch."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What is to be run again: the checkpoint to begin at, the inputs in turn, and the line that they were said in.

    inputs: None for the rest of the turn that `begin` stands in. ends: where each turn ended on that line. left_out:
    the checkpoints on it that an edit or an update made; they are not made again.
    """

    thread_id: str
    begin: str
    inputs: tuple[Any, ...]
    ends: tuple[str, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replayed:
    """A replay that is over, or that stopped: `turns` were run again, and `original` is where they ended before.

    questions, next: what stopped it before the end. Nothing but the new branch was moved.
    """

    thread_id: str
    branch: str
    begin: str
    checkpoint_id: str
    original: str
    turns: int
    questions: tuple[Interrupt, ...]
    next: tuple[str, ...]


def plan_replay(
    saver: ThreadSaver, thread_id: str, checkpoint_id: str | None = None, *, turns: int = 1, of: str | None = None
) -> Replay:
    """The `turns` turns from a checkpoint on; without one the last turns of a branch (of: instead of main).

    A checkpoint in the middle of a turn begins with the rest of that turn; one at the end of a turn with the next one.
    Inputs are taken from the line that went on from the checkpoint: main's when main is below it. Answers and updates
    that were given in between are not given again.

    Raises EmptyInputError where nothing was said or is due from there on.
    """
    if checkpoint_id is None:
        checkpoint_id = _input_before(saver, thread_id, turns, of)
    begin = load_checkpoint(saver, thread_id, checkpoint_id)
    below = _below(saver, thread_id, checkpoint_of(begin), of)
    left_out: list[str] = []
    inputs: list[Any] = [None] if begin.next else []
    ends = [checkpoint_of(begin)] if begin.next else []
    for twig in below:
        if twig.source == "input":
            values = load_checkpoint(saver, thread_id, twig.id).values
            if len(inputs) == turns or START not in values:
                break
            inputs.append(values[START])
            ends.append("")
        elif twig.source == "update":
            left_out.append(twig.id)
        if ends:
            ends[-1] = twig.id
    if not inputs:
        raise EmptyInputError(
            f"nothing is due at {checkpoint_id} in thread {thread_id!r}, and nothing was said after it: there is "
            "nothing to run again. Take a checkpoint before, or none for the last turn."
        )
    return Replay(thread_id, checkpoint_of(begin), tuple(inputs), tuple(ends), tuple(left_out))


def replay_thread(
    saver: ThreadSaver,
    graph: Any,
    thread_id: str,
    checkpoint_id: str | None = None,
    *,
    turns: int = 1,
    of: str | None = None,
    name: str = "",
) -> Replayed:
    """Runs turns again with a graph that has this saver, in a new branch (name; else replay-1, replay-2, …).

    checkpoint_id, turns, of: as for `plan_replay`. It stops early where the graph asks something, or at a breakpoint.
    """
    replay = plan_replay(saver, thread_id, checkpoint_id, turns=turns, of=of)
    return run_replay(saver, replay, graph.invoke, name=begin_replay(saver, replay, name=name))


def begin_replay(saver: ThreadSaver, replay: Replay, *, name: str = "") -> str:
    """The new branch that a replay shall run in; its name."""
    return fork_thread(saver, replay.thread_id, replay.begin, name=name, word="replay").branch


def run_replay(saver: ThreadSaver, replay: Replay, run: Run, *, name: str) -> Replayed:
    """Runs the turns of a replay in the branch `name` by calling `run` for each, until they end or one stops."""
    done = 0
    config = config_of(replay.thread_id, branch=name)
    while True:
        run(replay.inputs[done], config)
        done += 1
        head = load_checkpoint(saver, replay.thread_id, branch=name)
        if head.next or done == len(replay.inputs):
            break
    return Replayed(
        thread_id=replay.thread_id,
        branch=name,
        begin=replay.begin,
        checkpoint_id=checkpoint_of(head),
        original=replay.ends[done - 1],
        turns=done,
        questions=open_questions(head),
        next=tuple(head.next or ()),
    )


def _input_before(saver: ThreadSaver, thread_id: str, turns: int, branch: str | None) -> str:
    """The checkpoint that took in the input of the last but `turns` - 1 turn."""
    head_of(saver, thread_id, branch)
    passed = 0
    for loaded in read_chain(saver, At(thread_id, "", None, branch), lineage=True):
        passed += loaded.source == "input"
        if passed == turns:
            return checkpoint_of(loaded)
    raise EmptyInputError(
        f"thread {thread_id!r} has {passed} turn{'' if passed == 1 else 's'}; {turns} cannot be run again."
    )


def _below(saver: ThreadSaver, thread_id: str, begin: str, of: str | None) -> list[Twig]:
    """The checkpoints that follow on the line of a branch, oldest first; of main, or else of the first that has it."""
    heads = {head.name: head.checkpoint_id for head in saver.branches(thread_id)}
    twigs = {twig.id: twig for twig in saver.tree(config_of(thread_id))}
    names = [of] if of is not None else [MAIN, *heads]
    return next((way for name in names if (way := _way(twigs, heads.get(name), begin))), [])


def _way(twigs: Mapping[str, Twig], head: str | None, begin: str) -> list[Twig]:
    """The checkpoints from below `begin` down to `head`; none when it does not lead there."""
    way = []
    at = head
    while at is not None and at in twigs and at != begin:
        way.append(twigs[at])
        at = twigs[at].parent
    return way[::-1] if at == begin else []
