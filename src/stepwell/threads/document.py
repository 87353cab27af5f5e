"""A state as a document that people edit: plain values as they are, messages by id, role and content.

Everything else is marked as kept, by a number: `{"__kept__": "2: datetime"}` stands for the value itself, wherever it
is moved to. A tuple is `{"__tuple__": […]}`. So every document leads back to exactly the values it was made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stepwell.errors import InvalidUpdateError
from stepwell.graph.message import add_messages
from stepwell.threads.paths import Path, format_path

KEPT: Final = "__kept__"
TUPLE: Final = "__tuple__"
MARKS: Final = frozenset((KEPT, TUPLE))
PLAIN: Final = (bool, int, float, str, type(None))
MESSAGE: Final = frozenset(("id", "role", "content", KEPT))
"""The keys of a message in a document; the last one only where it has no id."""


class Document:
    """The document of a state, and the way back from it."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        """`values`: channel → value; they are not changed, and what is kept is handed back as it is."""
        self._kept: list[Any] = []
        self._messages: dict[str, dict[str, Any]] = {}  # channel → id → message
        self._talks: set[str] = set()  # channels with messages in them
        self._channel = ""
        self.content: dict[str, Any] = {}
        for self._channel, value in values.items():
            self._messages[self._channel] = {}
            self.content[self._channel] = self._shown(value)

    # ------------------------------------------------------------------ there

    def _shown(self, value: Any) -> Any:
        if type(value) in PLAIN:
            return value
        if type(value) is list:
            return [self._shown(each) for each in value]
        if type(value) is tuple:
            return {TUPLE: [self._shown(each) for each in value]}
        if type(value) is dict and all(type(key) is str for key in value) and not MARKS & value.keys():
            return {key: self._shown(each) for key, each in value.items()}
        if _is_message(value):
            return self._message(value)
        return self._mark(value)

    def _message(self, message: Any) -> Any:
        shown = {"id": message.id, "role": message.type, "content": self._shown(message.content)}
        known = self._messages[self._channel]
        self._talks.add(self._channel)
        if message.id is None or message.id in known:
            return {**shown, **self._mark(message)}
        known[message.id] = message
        return shown

    def _mark(self, value: Any) -> dict[str, str]:
        self._kept.append(value)
        return {KEPT: f"{len(self._kept)}: {type(value).__name__}"}

    # ------------------------------------------------------------------ back

    def value(self, channel: str, shown: Any) -> Any:
        """The value of a channel that a part of a document stands for; InvalidUpdateError says where it is wrong."""
        self._channel = channel
        return self._back(shown, (channel,))

    def _back(self, shown: Any, path: Path) -> Any:
        if type(shown) in PLAIN:
            return shown
        if isinstance(shown, list):
            return [self._back(each, (*path, at)) for at, each in enumerate(shown)]
        if not isinstance(shown, dict):
            raise _wrong(path, f"{shown!r} is of type {type(shown).__name__}. Put it in quotes, so that it is text.")
        if shown.keys() == {KEPT}:
            return self._marked(shown[KEPT], path)
        if shown.keys() == {TUPLE} and isinstance(shown[TUPLE], list):
            return tuple(self._back(each, (*path, at)) for at, each in enumerate(shown[TUPLE]))
        if self._channel in self._talks and "role" in shown and shown.keys() <= MESSAGE:
            return self._back_to_message(shown, path)
        for key in shown:
            if type(key) is not str or key in MARKS:
                raise _wrong(path, f"{key!r} is no key that can be written here; keys are text.")
        return {key: self._back(each, (*path, key)) for key, each in shown.items()}

    def _marked(self, mark: Any, path: Path) -> Any:
        number = str(mark).partition(":")[0]
        if not number.isdecimal() or not 0 < int(number) <= len(self._kept):
            raise _wrong(path, f"{mark!r} marks nothing that was kept. Leave marks as they are, or replace them whole.")
        return self._kept[int(number) - 1]

    def _back_to_message(self, shown: Mapping[str, Any], path: Path) -> Any:
        content = self._back(shown.get("content"), (*path, "content"))
        known = self._messages.get(self._channel, {}).get(shown.get("id") or "")
        message = self._marked(shown[KEPT], path) if KEPT in shown else known
        if message is None:
            return _new_message({**shown, "content": content}, path)
        if shown["role"] != message.type or (shown.get("id") or None) != message.id:
            raise _wrong(path, "the role and the id of a message stay. Take it out, and add one without an id.")
        return message if is_same(content, message.content) else message.model_copy(update={"content": content})


def is_same(one: Any, other: Any) -> bool:
    """Whether two values of documents are the same: 1, 1.0 and true are three, and so are their lists."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    return repr(one) == repr(other) if isinstance(one, float) else bool(one == other)


def _is_message(value: Any) -> bool:
    has_fields = hasattr(value, "content") and hasattr(value, "id") and hasattr(value, "model_copy")
    return has_fields and isinstance(getattr(value, "type", None), str)


def _new_message(shown: Mapping[str, Any], path: Path) -> Any:
    fields = {key: value for key, value in shown.items() if value is not None}
    try:
        return add_messages([], [fields])[0]  # type: ignore[index]  # a list it is
    except Exception as error:
        raise _wrong(path, f"no message can be made of this: {error}") from None


def _wrong(path: Path, why: str) -> InvalidUpdateError:
    return InvalidUpdateError(f"{format_path(path)}: {why}")
