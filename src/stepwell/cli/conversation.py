"""A conversation with a graph: hears a line, prints the answer as it comes, and is stopped without leaving a mess."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from stepwell.cli.advice import CHAT, tell_notes, told
from stepwell.cli.asjson import as_json
from stepwell.cli.asked import Asked
from stepwell.cli.place import Place
from stepwell.cli.text import printable
from stepwell.cli.turn import answer_in, as_input, run_turn
from stepwell.errors import StepwellError
from stepwell.threads import Rewound, load_checkpoint, open_questions, open_turn, rewind_thread
from stepwell.types import Command, Interrupt


@dataclass(slots=True)
class Conversation:
    """Where the talk takes place, with which graph, and what it waits for."""

    saver: Any
    graph: Any
    at: Place
    asked: Asked
    questions: Sequence[Interrupt] = field(default=())

    def pick_up(self) -> None:
        """Shows the open question of the thread, or finishes the turn whose process died.

        A turn that failed, that stands at a breakpoint, or that a rewind left in its middle waits for /continue.
        """
        if self.at.is_new:
            return
        head = load_checkpoint(self.saver, self.at.thread_id, branch=self.at.branch)
        self._wait_for(open_questions(head))
        if self.questions or not head.next:
            return
        due = ", ".join(head.next)
        if head.leaf and not _has_breakpoints(self.graph) and not any(task.error for task in head.pending):
            click.echo(f"(the last turn was cut off before {due}; finishing it)", err=True)
            self._turn(None)
        else:
            click.echo(f"(the last turn is not finished: {due} is next; /continue goes on)", err=True)

    def hear(self, line: str) -> None:
        """Answers the first open question with `line`, or gives it to the graph as a message."""
        if self.questions:
            try:
                answer = answer_in(line, self.questions)
            except click.UsageError as error:  # the question stays open
                click.echo(error.message, err=True)
                return
            self._turn(answer)
            return
        self.at.entitle(line)
        self._turn(as_input(self.graph, line, self.at.graph))

    def carry_on(self) -> None:
        """Finishes a turn that was stopped."""
        if open_turn(self.saver, self.at.thread_id, branch=self.at.branch) is None:
            click.echo("There is nothing to finish.", err=True)
        else:
            self._turn(None)

    def go_back(self, checkpoint_id: str) -> Rewound:
        """Moves the branch to a checkpoint, and looks what is open there."""
        rewound = rewind_thread(self.saver, self.at.thread_id, checkpoint_id, branch=self.at.branch)
        head = load_checkpoint(self.saver, self.at.thread_id, branch=self.at.branch)
        self.questions = ()
        self._wait_for(open_questions(head))
        return rewound

    def move_to(self, at: Place) -> None:
        """Goes on in another place."""
        self.at = at
        self.questions = ()
        self.pick_up()

    def _turn(self, given: dict[str, Any] | Command[Any] | None) -> None:
        try:
            ended = run_turn(self.graph, given, self.at.config, _say)
        except KeyboardInterrupt:
            click.echo()
            self._stopped()
        except Exception as error:
            # Whatever a graph's own code raises must not end the conversation.
            self._failed(error)
        else:
            if ended.reply:
                click.echo()
            self._wait_for(ended.questions)
            if ended.next and not ended.questions:
                click.echo(f"(stopped before {', '.join(ended.next)}; /continue goes on)", err=True)
        self.at.is_new = self.at.is_new and not self.saver.branches(self.at.thread_id)

    def _wait_for(self, questions: Sequence[Interrupt]) -> None:
        self.questions = questions
        for question in questions[:1]:
            value = question.value
            text = value if isinstance(value, str) else as_json(value)
            click.secho(f"? {printable(text)}", fg="yellow")

    def _stopped(self) -> None:
        """Takes the message back when nothing had been done with it; else keeps the work and says how to go on."""
        thread_id, branch = self.at.thread_id, self.at.branch
        turn = open_turn(self.saver, thread_id, branch=branch)
        if turn is None:
            click.echo("(stopped)", err=True)
        elif turn.has_work or (turn.before is None and not self.at.is_new):
            click.echo("(stopped; finished steps are kept: /continue goes on, /rewind takes it back)", err=True)
        else:
            if turn.before is None:
                self.saver.delete_thread(thread_id)
            else:
                self._forget(rewind_thread(self.saver, thread_id, turn.before, branch=branch))
            click.echo("(stopped; your message is taken back)", err=True)

    def _forget(self, rewound: Rewound) -> None:
        """Takes the leaf away that going back left: nothing hangs on it but a message that nobody heard."""
        for leaf in self.saver.branches(rewound.thread_id):
            if leaf.auto and leaf.checkpoint_id == rewound.before:
                self.saver.delete_branch(rewound.thread_id, leaf.name)

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, StepwellError):
            tell_notes(error, CHAT)
            click.echo("".join(traceback.format_exception(error)), err=True)
        click.secho(f"Error: {printable(told(error, CHAT))}", fg="red", err=True)
        if not isinstance(error, StepwellError):
            click.echo("(finished steps are kept: /continue tries again, /rewind takes your message back)", err=True)


def _has_breakpoints(graph: Any) -> bool:
    """Whether a run of this graph may stop on purpose where nothing was asked."""
    return any(getattr(graph, name, ()) for name in ("interrupt_before_nodes", "interrupt_after_nodes"))


def _say(text: str) -> None:
    click.echo(printable(text), nl=False)  # which flushes
