"""Callbacks of graphs: LangChain's handler, with two more events. Importing this imports langchain_core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from stepwell.types import Interrupt

GraphLifecycleStatus: TypeAlias = Literal[
    "input", "pending", "done", "interrupt_before", "interrupt_after", "out_of_steps"
]
"""Where a run stands: it takes input, has work, is done, stopped at a breakpoint, or took all its steps."""


@dataclass(frozen=True, slots=True)
class GraphLifecycleEvent:
    """Something about a run: which, how it stands, and at which checkpoint of which namespace."""

    run_id: UUID | None = None
    status: GraphLifecycleStatus = "pending"
    checkpoint_id: str = ""
    checkpoint_ns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphInterruptEvent(GraphLifecycleEvent):
    """A run stopped to ask: the questions, none at a static breakpoint."""

    interrupts: tuple[Interrupt, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphResumeEvent(GraphLifecycleEvent):
    """A run goes on from where one stopped."""


class GraphCallbackHandler(BaseCallbackHandler):
    """A handler to put into config["callbacks"] that is also told when a graph stops to ask and when it goes on."""

    def on_interrupt(self, event: GraphInterruptEvent) -> Any:
        """A run stopped to ask."""

    def on_resume(self, event: GraphResumeEvent) -> Any:
        """A run goes on."""
