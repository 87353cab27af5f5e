"""Times as people type them: how long, and when."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from stepwell.errors import ConfigError

SECONDS: Final = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
NEVER: Final = "never"
_SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)(min|[smhdw])")


def seconds_in(text: str) -> float:
    """How long `text` says: 90s, 15min, 36h, 30d, 2w, 1d12h; `never` is infinity. ConfigError for anything else."""
    plain = text.strip().casefold()
    if plain == NEVER:
        return math.inf
    parts = _SPAN.findall(plain)
    if not parts or "".join(number + unit for number, unit in parts) != plain:
        raise ConfigError(f"{text!r} is no length of time. Write it like 90s, 15min, 36h, 30d, 2w or {NEVER}.")
    return math.fsum(float(number) * SECONDS[unit] for number, unit in parts)


def moment_in(text: str, now: datetime | None = None, *, ends: bool = False) -> datetime:
    """When `text` says: so long ago (2d, 3h), or a date or time in ISO 8601, local where it names no zone.

    A day begins at midnight; with `ends` its end is meant. ConfigError for anything else.
    """
    now = now or datetime.now(UTC)
    plain = text.strip()
    if _SPAN.match(plain.casefold()):
        seconds = seconds_in(plain)
        try:
            return now - timedelta(seconds=seconds)
        except OverflowError:  # before the year 1
            return datetime.min.replace(tzinfo=UTC)
    try:
        day = date.fromisoformat(plain)
    except ValueError:
        return _time(text)
    return _local(datetime(day.year, day.month, day.day)) + timedelta(days=ends)


def told_moment(text: str) -> datetime | None:
    """The moment that a saver's ISO time says; None when it says none. Without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ConfigError(
            f"{text!r} is no time. Write how long ago, like 2d or 3h, or a date or time like 2026-11-30 or "
            "2026-11-30T18:00."
        ) from None
    return found if found.tzinfo is not None else _local(found)


def _local(moment: datetime) -> datetime:
    return moment.astimezone()
