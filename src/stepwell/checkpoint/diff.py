"""Old value + new value → what to store and how to refer to it.

What counts as changed: an element that was part of a write is compared by its bytes. An element that was in no write
and *is* the old one at that place is unchanged where the merge cannot have touched it (`pure` channels), or where its
type cannot change (SCALARS). Everything else is encoded and compared with the old element's bytes.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any, Final

from stepwell.checkpoint.cutting import WORTH_CUTTING, cut
from stepwell.checkpoint.diff_mapping import diff_entries, diff_members
from stepwell.checkpoint.diff_record import diff_record, keep_whole
from stepwell.checkpoint.diff_sequence import diff_sequence
from stepwell.checkpoint.kept import (
    NUMBERS,
    SCALARS,
    Kept,
    KeptFields,
    KeptMapping,
    KeptRecord,
    KeptText,
    KeptWhole,
    add_run,
    runs_end,
    runs_ref,
)
from stepwell.checkpoint.refs import (
    DEQUE,
    KIND_OF,
    MAPPING,
    MAPPINGS,
    SEQUENCES,
    SETS,
    Fields,
    Inline,
    Part,
    Ref,
    Slices,
)
from stepwell.checkpoint.work import INLINE_BYTES, UNKNOWN, UNTOUCHED, Touch, Work

_SHORT: Final = 8


def diff(work: Work, old: Kept | None, value: Any, touch: Touch, home: Kept | None = None) -> Kept:
    """What to keep of a channel's new value; its reference is in it, and new items are placed.

    `old`: what is kept of the channel's value before. `home`: whose log new items go to, when not to that of `old`.
    """
    kind = KIND_OF.get(type(value))
    if kind is None or _is_small(value):
        return diff_whole(work, old, value)
    if kind in SEQUENCES:
        shell = _shell_of(work, value) if kind == DEQUE else b""
        return diff_sequence(work, old, value, kind, shell, touch, home)
    if kind in MAPPINGS:
        kept = old if type(old) is KeptMapping and old.ref.kind == kind else None
        if kept is None and value:
            kept, touch = work.borrowed_mapping(value, kind), UNTOUCHED
        return diff_entries(work, kept, value, kind, _shell_of(work, value), touch, home or old)
    if kind in SETS:
        kept = old if type(old) is KeptMapping and old.ref.kind == kind else None
        return diff_members(work, kept, value, kind, home or old)
    return _diff_text(work, old, value, kind, home)


def _is_small(value: Any) -> bool:
    """Whether a value is surely small: a scalar, or a few of them."""
    kind = type(value)
    if kind is str or kind is bytes:
        return len(value) <= INLINE_BYTES // 2
    if len(value) > _SHORT:
        return False
    room = INLINE_BYTES
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    for part in parts:
        kind = type(part)
        if kind is str or kind is bytes:
            room -= len(part)
        elif kind not in SCALARS:
            return False
        room -= 4
    return room >= 0


def _shell_of(work: Work, value: Any) -> bytes:
    """The empty container, encoded, when its kind does not say all of it."""
    if type(value) is deque and value.maxlen is not None:
        return work.encode_once(deque(maxlen=value.maxlen))
    if type(value) is defaultdict:
        return work.encode_once(defaultdict(value.default_factory))
    return b""


def diff_whole(work: Work, old: Kept | None, value: Any) -> Kept:
    """As `diff`, of a value that is stored whole."""
    data = work.encode(value)
    if type(old) in (KeptWhole, KeptRecord) and old.data == data:  # type: ignore[union-attr]  # both have bytes
        return old  # type: ignore[return-value]  # not None
    whole = cut(data) if len(data) >= WORTH_CUTTING else None
    return diff_record(work, old, data, whole) if whole is not None else keep_whole(work, data)


def _diff_text(work: Work, old: Kept | None, value: Any, kind: int, home: Kept | None) -> Kept:
    if type(old) is not KeptText or old.ref.kind != kind:
        borrowed = work.borrowed(value, value, KeptText)
        if borrowed is not None:
            return borrowed
    elif value.startswith(old.value):
        tail = value[len(old.value) :]
        if not tail:
            return old
        return KeptText(_text_ref(work, old.ref, _raw(tail), old.ref.parts, kind), value)
    ref = runs_ref(home or old)
    return KeptText(_text_ref(work, ref, _raw(value), (), kind), value)


def _raw(value: str | bytes) -> bytes:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def _text_ref(work: Work, home: Slices | None, raw: bytes, before: tuple[Part, ...], kind: int) -> Slices:
    spot = work.find(raw)
    parts = list(before)
    if spot is not None:
        add_run(parts, spot[0], spot[1], spot[1] + 1)
    else:
        for run in work.place((raw,), 1, *runs_end(home)):
            add_run(parts, *run)
    return Slices(kind, b"", tuple(parts))


# ---------------------------------------------------------------------- mappings and fields


def fields_of(work: Work, value: dict[str, Any], homes: Any) -> Kept:
    """A dict by references of its own for each value, so that what a channel holds or will hold is pointed at.

    `homes`: key → what is kept of the channel of that name.
    """
    refs: list[Ref] = []
    outer = work.channel
    for name, part in value.items():
        work.channel = name
        if type(part) in NUMBERS:
            data = work.encode_once(part)
            if len(data) <= INLINE_BYTES:
                refs.append(Inline(data))
                continue
        refs.append(diff(work, None, part, UNKNOWN, homes(name)).ref)
    work.channel = outer
    return KeptFields(Fields(MAPPING, tuple(value), tuple(refs)))
