"""One turn of a graph: its words as they come, and what it ended with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import click

from stepwell.cli.stopping import stoppable
from stepwell.threads import said_in
from stepwell.threads.turns import MESSAGES
from stepwell.types import Command, Interrupt

ASSISTANT: Final = "assistant"
JSON_BEGINS: Final = ("{", "[", '"')
"""How JSON begins that is no number and no word."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a turn ended. `reply`: what the assistant said last; `questions`: what waits for an answer."""

    reply: str
    questions: tuple[Interrupt, ...]
    next: tuple[str, ...]
    checkpoint_id: str | None
    values: Mapping[str, Any]

    @property
    def status(self) -> str:
        """waiting (a question or a breakpoint), or idle."""
        return "waiting" if self.questions or self.next else "idle"


class Words:
    """Hands on the text of the assistant's messages as it streams, one message apart from the next."""

    __slots__ = ("_last_id", "_say", "reply")

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._last_id: str | None = None
        self.reply = ""

    def take(self, message: Any) -> None:
        """A message or a piece of one; what is not the assistant's is left out."""
        said = said_in(message)
        if said is None or said.role != ASSISTANT or not said.text:
            return
        if self.reply and said.id != self._last_id:
            self._say("\n")
            self.reply = ""
        self._last_id = said.id
        self.reply += said.text
        self._say(said.text)


def run_turn(
    graph: Any,
    given: Any,
    config: Mapping[str, Any],
    say: Callable[[str], None],
    begun: Callable[[], None] = lambda: None,
) -> Ended:
    """Runs the graph on `given` until it ends or asks; `say` gets the assistant's words while they come.

    begun: called with everything that happens, as soon as the input is taken in and before it is said.
    """
    words = Words(say)
    with stoppable() as switch:
        stopping = {**config, "callbacks": [switch]}
        with closing(graph.stream(given, stopping, stream_mode=["messages", "updates"])) as stream:
            for mode, event in stream:
                begun()
                if mode == "messages":
                    words.take(event[0])
    begun()
    state = graph.get_state(config)
    values = state.values if isinstance(state.values, Mapping) else {"value": state.values}
    return Ended(
        reply=words.reply,
        questions=tuple(state.interrupts),
        next=tuple(state.next),
        checkpoint_id=state.config["configurable"].get("checkpoint_id"),
        values=values,
    )


def answer_in(text: str, questions: Sequence[Interrupt] = ()) -> Command[Any]:
    """The command that answers with `text`: the first of `questions`, or the only open one. JSON is taken as such."""
    answer = answer_value(text)
    return Command(resume={questions[0].id: answer} if questions else answer)


def answer_value(text: str) -> Any:
    """An answer as it was typed: JSON, or else text. UsageError for what begins like JSON and is not JSON: it
    would use up the question."""
    try:
        return json.loads(text)
    except ValueError as error:
        if text.lstrip()[:1] in JSON_BEGINS:
            raise click.UsageError(
                f"the answer {text} begins like JSON and is not JSON: {error}. Correct it, or write it as a "
                "JSON text, in double quotes."
            ) from None
        return text


def as_input(graph: Any, text: str, spec: str) -> dict[str, Any]:
    """What a graph is given when a person says `text`; UsageError, with its name, when it has no messages for it."""
    if MESSAGES not in getattr(graph, "channels", (MESSAGES,)):
        raise click.UsageError(
            f"graph {spec} keeps no {MESSAGES!r}, so there is nowhere to put what you say. "
            "Give it its whole input: stepwell run --input JSON."
        )
    return {MESSAGES: [{"role": "user", "content": text}]}
