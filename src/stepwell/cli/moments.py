"""Times as options: how long, and when."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import click

from stepwell.errors import ConfigError
from stepwell.threads.moments import NEVER, SECONDS, moment_in, seconds_in


class Span(click.ParamType):  # type: ignore[type-arg]  # in older releases it takes none
    """A length of time, like 30d or 12h, in seconds; `never` is infinity."""

    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds."""
        if isinstance(value, int | float):
            return float(value)
        try:
            return seconds_in(value)
        except ConfigError as error:
            self.fail(str(error), param, ctx)


class Moment(click.ParamType):  # type: ignore[type-arg]  # in older releases it takes none
    """A time, like 2d (ago), 2026-11-30 or 2026-11-30T18:00. ends: of a day, its end is meant."""

    name = "when"

    def __init__(self, *, ends: bool = False) -> None:
        self.ends = ends

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """A moment with its zone."""
        if isinstance(value, datetime):
            return value
        try:
            return moment_in(value, ends=self.ends)
        except ConfigError as error:
            self.fail(str(error), param, ctx)


def span_text(seconds: float) -> str:
    """Seconds as one types them: 30d, 36h, 90s, never."""
    if seconds == math.inf:
        return NEVER
    for unit in ("d", "h", "min"):
        if seconds and seconds % SECONDS[unit] == 0:
            return f"{seconds / SECONDS[unit]:.0f}{unit}"
    return f"{seconds:g}s"
