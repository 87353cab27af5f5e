"""Time-ordered ids and stable task ids, from clock values and bytes that are passed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stepwell.digests import blake2b
from stepwell.errors import ThreadIdError

if TYPE_CHECKING:
    from uuid import UUID

GREGORIAN_100NS: Final = 0x01B21DD213814000  # 1582-10-15 to 1970-01-01, in the ticks of UUID version 6


def as_uuid_text(value: str | UUID, what: str = "checkpoint_id") -> str:
    """`value` as canonical lower-case UUID text; ThreadIdError when it is none."""
    from uuid import UUID  # 2 ms of the import of a graph, which asks for no id by name

    if isinstance(value, UUID):
        return str(value)
    try:
        return str(UUID(value))
    except (ValueError, AttributeError, TypeError):
        raise ThreadIdError(
            f"{what} is {value!r}, which is no UUID. Checkpoint ids come from get_state(...).config, "
            "get_state_history(...) or `stepwell log`."
        ) from None


def version_of(id: str) -> int:
    """The UUID version of canonical text."""
    return int(id[14], 16)


_last_task: list[tuple[tuple[object, ...], str]] = [((), "")]  # a saver asks for the id that the engine just asked for


def task_id(*parts: object) -> str:
    """A UUID-shaped id that the same parts always give: where a task runs, which node, and why."""
    last, known = _last_task[0]
    if parts == last:
        return known
    digest = blake2b("\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    id = f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"
    _last_task[0] = (parts, id)
    return id


class IdClock:
    """Makes the checkpoint ids of one run, each greater than the one before and than the thread's last.

    Version 7 for threads of our own; version 6 where the thread's last id is of version 6 (threads begun elsewhere).
    """

    __slots__ = ("_last", "_rest", "_v6", "_version")

    def __init__(self, last_id: str | None, tail: int) -> None:
        """`last_id`: greatest id of the thread, or None; `tail`: 62 random bits, the same for the whole run."""
        self._v6 = bool(last_id) and version_of(str(last_id)) == 6
        self._last = _ticks(str(last_id)) if last_id else 0
        rest = f"{0x8000000000000000 | tail & 0x3FFFFFFFFFFFFFFF:016x}"
        self._rest = f"-{rest[:4]}-{rest[4:]}"
        self._version = 6 if self._v6 else 7

    def next(self, now_ns: int) -> str:
        """The next id at clock value `now_ns` (nanoseconds since 1970); moves on by one tick when the clock did not."""
        ticks = now_ns // 100 + GREGORIAN_100NS if self._v6 else (now_ns // 1_000_000 << 12) | _submilli(now_ns)
        self._last = ticks if ticks > self._last else self._last + 1
        ticks_text = f"{self._last:015x}"
        return f"{ticks_text[:8]}-{ticks_text[8:12]}-{self._version}{ticks_text[12:]}{self._rest}"


def _submilli(now_ns: int) -> int:
    """The part of a millisecond, in 4096ths: the 12 bits behind a version 7 timestamp."""
    return (now_ns % 1_000_000 << 12) // 1_000_000


def _ticks(id: str) -> int:
    """The 60 time bits of canonical text of version 6 or 7, in order of time."""
    return int(id[:8] + id[9:13] + id[15:18], 16)
