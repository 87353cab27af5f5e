"""The part of `diff` that looks at objects with named fields: field by field, one level deep, as bytes."""

from __future__ import annotations

from stepwell.checkpoint.cutting import Cut, Piece
from stepwell.checkpoint.diff_mapping import diff_raw_entries
from stepwell.checkpoint.diff_sequence import diff_raw_items
from stepwell.checkpoint.kept import Kept, KeptMapping, KeptRecord, KeptSequence, KeptWhole
from stepwell.checkpoint.refs import RECORD, Fields, Inline, Spot
from stepwell.checkpoint.work import INLINE_BYTES, Work


def diff_record(work: Work, old: Kept | None, data: bytes, whole: Cut) -> KeptRecord:
    """What to keep of an object that was encoded and cut."""
    before = old.pieces if type(old) is KeptRecord else {}
    channel = work.channel
    pieces: dict[str, Kept] = {"": _whole(work, before.get(""), whole.head)}
    for name, piece in whole.pieces.items():
        work.channel = f"{channel}.{name}"  # a field's items follow its own earlier ones
        pieces[name] = _piece(work, before.get(name), piece)
    work.channel = channel
    refs = tuple([kept.ref for kept in pieces.values()])
    return KeptRecord(Fields(RECORD, tuple(whole.pieces), refs), data, pieces)


def _piece(work: Work, old: Kept | None, piece: Piece) -> Kept:
    if isinstance(piece, list):
        return diff_raw_items(work, old if type(old) is KeptSequence else None, piece)
    if isinstance(piece, dict):
        return diff_raw_entries(work, old if type(old) is KeptMapping else None, piece)
    return _whole(work, old, piece)


def _whole(work: Work, old: Kept | None, data: bytes) -> KeptWhole:
    return old if type(old) is KeptWhole and old.data == data else keep_whole(work, data)


def keep_whole(work: Work, data: bytes) -> KeptWhole:
    """Bytes of their own: in the reference when they are few, else in the place that has them or takes them."""
    if len(data) <= INLINE_BYTES:
        return KeptWhole(Inline(data), data)
    spot = work.find(data)
    if spot is None:
        ((log, start, _),) = work.place_apart((data,), 1)
        spot = (log, start)
    return KeptWhole(Spot(*spot), data)
