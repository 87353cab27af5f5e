"""A conversation as lines: who said what, whatever kind of message it was said in.

Messages come as objects with `content`, as dicts, as (role, text) pairs, or as `Unknown` where this process does not
load the library that made them. None of them needs that library to be read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from stepwell.types import Unknown

ROLES: Final = {"human": "you", "user": "you", "ai": "assistant", "AIMessageChunk": "assistant"}
"""What a message's type is called here; any other name stays as it is."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message: its role (you, assistant, system, tool, …), its text, and the names of the tools it calls."""

    role: str
    text: str
    id: str | None = None
    name: str | None = None
    calls: tuple[str, ...] = ()


def transcript(messages: Any) -> tuple[Said, ...]:
    """The messages in a value of the state, in order; empty when it holds none."""
    each = messages if isinstance(messages, list | tuple) else [messages]
    if isinstance(messages, tuple) and _is_pair(messages):
        each = [messages]
    return tuple(said for said in map(said_in, each) if said is not None)


def said_in(message: Any) -> Said | None:
    """One message as a line; None when the value is no message."""
    if isinstance(message, Unknown):
        message = message.data
    if isinstance(message, tuple) and _is_pair(message):
        return Said(_role(message[0]), message[1])
    if isinstance(message, Mapping):
        fields: Mapping[Any, Any] = message
    elif hasattr(message, "content"):
        names = ("content", "type", "role", "id", "name", "tool_calls")
        fields = {name: getattr(message, name, None) for name in names}
    else:
        return None
    role = fields.get("role") or fields.get("type")
    if not isinstance(role, str) or "content" not in fields:
        return None
    calls = tuple(str(call["name"]) for call in fields.get("tool_calls") or () if isinstance(call, Mapping))
    return Said(_role(role), text_of(fields["content"]), fields.get("id"), fields.get("name"), calls)


def text_of(content: Any) -> str:
    """The text in a message's content: the content itself, or the text of its blocks one after the other."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, Iterable) and not isinstance(content, Mapping | bytes):
        return "".join(map(_block_text, content))
    return str(content)


def _role(name: str) -> str:
    return ROLES.get(name, name)


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return ""
    text = block.get("text")
    return text if isinstance(text, str) else f"[{block.get('type', 'block')}]"


def _is_pair(value: tuple[Any, ...]) -> bool:
    return len(value) == 2 and all(isinstance(part, str) for part in value)
