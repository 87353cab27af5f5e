"""Sends whose arguments hold a channel's own value: they refer to it, so a fan-out does not store it once a task."""

from __future__ import annotations

from typing import Any, Final

from stepwell.checkpoint.diff import diff
from stepwell.checkpoint.kept import Kept, KeptFields, KeptMapping, KeptSequence, KeptText
from stepwell.checkpoint.refs import KIND_OF, MAPPING, MAPPINGS, PARTS, SEND, SEQUENCES, STR, Fields, Ref
from stepwell.checkpoint.work import UNTOUCHED, Work
from stepwell.types import Send

_WORTH_LOOKING: Final = 64
"""From this length on a text is looked up."""


def send_refs(work: Work, value: Any) -> Kept | None:
    """The queue of sends with references of its own for each; None when no argument holds what a channel holds."""
    if type(value) is not list or not any(_shares(work, send) for send in value):
        return None
    refs = tuple([_send_ref(work, send) for send in value])
    return KeptFields(Fields(PARTS, (), refs))


def _shares(work: Work, send: Any) -> bool:
    if type(send) is not Send:
        return False
    if type(send.arg) is dict:
        return any(_is_held(work, part) for part in send.arg.values())
    return _is_held(work, send.arg)


def _is_held(work: Work, value: Any) -> bool:
    """Whether a channel of this or the calling graph holds just this."""
    kind = KIND_OF.get(type(value))
    if kind is None or not value:
        return False
    if kind == STR:
        return len(value) >= _WORTH_LOOKING and work.borrowed(value, value, KeptText) is not None
    if kind in SEQUENCES:
        return work.borrowed(value, value[0], KeptSequence) is not None
    return kind in MAPPINGS and work.borrowed(value, next(iter(value.values())), KeptMapping) is not None


def _send_ref(work: Work, send: Any) -> Ref:
    if not _shares(work, send):
        return diff(work, None, send, UNTOUCHED).ref
    arg: Ref
    if type(send.arg) is dict and all(type(key) is str for key in send.arg):
        parts = tuple([diff(work, None, part, UNTOUCHED).ref for part in send.arg.values()])
        arg = Fields(MAPPING, tuple(send.arg), parts)
    else:
        arg = diff(work, None, send.arg, UNTOUCHED).ref
    ref = Fields(
        SEND, (), (diff(work, None, send.node, UNTOUCHED).ref, arg, diff(work, None, send.timeout, UNTOUCHED).ref)
    )
    work.sends[id(send)] = ref
    return ref
