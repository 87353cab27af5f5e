"""What follows from a plan alone, worked out once, so that no step walks all channels or nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepwell.channels.base import BaseChannel
from stepwell.channels.last_value import LastValue
from stepwell.channels.latch import Latch
from stepwell.plan.plan import Plan
from stepwell.types import TASKS


@dataclass(frozen=True, slots=True)
class Layout:
    """Sets of channel names by what a step must do about them."""

    inner: frozenset[str]  # not keys of the state
    latches: frozenset[str]  # routing cells
    plain: frozenset[str]  # keep the one value written last
    indirect: frozenset[str]  # the value is not the state itself
    clears: frozenset[str]
    consumes: frozenset[str]
    finishes: frozenset[str]
    unstored: frozenset[str]
    pure: frozenset[str]
    initial: tuple[tuple[str, BaseChannel[Any, Any, Any]], ...]  # channels that hold a value before any write
    deferred: frozenset[str]  # nodes
    wide: frozenset[str]  # nodes that read the whole state


def layout_of(plan: Plan) -> Layout:
    """The layout of a plan."""
    channels = plan.channels
    return Layout(
        latches=frozenset(name for name, channel in channels.items() if type(channel) is Latch),
        plain=frozenset(name for name, channel in channels.items() if type(channel) is LastValue),
        inner=frozenset(name for name in channels if name not in plan.keys) | {TASKS},
        indirect=frozenset(name for name, channel in channels.items() if not channel.direct),
        clears=frozenset(name for name, channel in channels.items() if channel.clears and name != TASKS),
        consumes=frozenset(name for name, channel in channels.items() if channel.consumes),
        finishes=frozenset(name for name, channel in channels.items() if channel.finishes),
        unstored=frozenset(name for name, channel in channels.items() if not channel.stored),
        pure=frozenset(name for name, channel in channels.items() if channel.pure),
        initial=tuple((name, channel) for name, channel in channels.items() if _starts_full(channel)),
        deferred=frozenset(name for name, node in plan.nodes.items() if node.defer),
        wide=frozenset(name for name, node in plan.nodes.items() if _reads_all(node.reads, plan)),
    )


def _starts_full(channel: BaseChannel[Any, Any, Any]) -> bool:
    return channel.holds(channel.initial())


def _reads_all(reads: tuple[str, ...] | None, plan: Plan) -> bool:
    return reads is not None and len(reads) > 8 and plan.keys <= set(reads)
