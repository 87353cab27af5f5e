"""What `compile` takes beside saver, store and cache: how runs of the graph behave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from stepwell.types import OnBusy, OnInterrupted

NodeNames = Sequence[str] | Literal["*"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """Defaults of a graph's runs; each can be given per call in `config`. None: the library's default.

    on_busy, busy_timeout: what a run does when another holds the thread, and for how many seconds it waits.
    on_interrupted: what new input does to an open question. aliases: old node name → today's.
    stored_configurable: the user's keys of `configurable` that checkpoint metadata keeps.
    """

    on_busy: OnBusy | None = None
    busy_timeout: float | None = None
    on_interrupted: OnInterrupted | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    stored_configurable: Sequence[str] = ()
    interrupt_before: tuple[str, ...] | Literal["*"] = ()
    interrupt_after: tuple[str, ...] | Literal["*"] = ()
