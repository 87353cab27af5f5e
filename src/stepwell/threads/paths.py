"""Ways into a state as people write them: `messages[3]`, `messages[-1].content`, `todos.0.done`, `files."notes.md"`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from stepwell.errors import PathError

Step = str | int
Path = tuple[Step, ...]
_NAME: Final = re.compile(r"""[^.\[\]"'\s][^.\[\]"']*""")
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"' + r"|'[^']*'")
_INDEX: Final = re.compile(r"-?\d+")
_PLAIN: Final = re.compile(r"[\w:-]+")


def parse_path(text: str) -> Path:
    """The steps of a path: a channel, then keys and numbers.

    `.name` and `["name"]` are a key, `[3]` and `[-1]` the number of an element; `.3` is either, whatever there is. A
    key with dots, brackets or quotes in it goes in quotes: `files."notes.md"`.

    Raises PathError, which points at the character that does not fit.
    """
    steps: list[Step] = []
    at = 0
    while at < len(text) or not steps:
        if text.startswith("[", at):
            step, at = _bracket(text, at)
        else:
            at += bool(steps) and text.startswith(".", at)
            step, at = _name(text, at)
        steps.append(step)
        if at < len(text) and text[at] not in ".[":
            raise _wrong(text, at, "a dot or a bracket")
    return tuple(steps)


def format_path(path: Sequence[Step]) -> str:
    """The text of a path, which `parse_path` reads back."""
    out = ""
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        else:
            name = step if _PLAIN.fullmatch(step) else json.dumps(step, ensure_ascii=False)
            out += f".{name}" if out else name
    return out


def _name(text: str, at: int) -> tuple[str, int]:
    quoted = _QUOTED.match(text, at)
    if quoted:
        return _unquoted(text, quoted[0], at), quoted.end()
    name = _NAME.match(text, at)
    if name is None:
        raise _wrong(text, at, "a key")
    return name[0], name.end()


def _bracket(text: str, at: int) -> tuple[Step, int]:
    found = _INDEX.match(text, at + 1) or _QUOTED.match(text, at + 1)
    if found is None or not text.startswith("]", found.end()):
        raise _wrong(text, at + 1, "a number, or a key in quotes, and a closing bracket")
    inner = found[0]
    return (_unquoted(text, inner, at) if inner[0] in "\"'" else int(inner)), found.end() + 1


def _unquoted(text: str, quoted: str, at: int) -> str:
    if quoted[0] == "'":
        return quoted[1:-1]
    try:
        key: str = json.loads(quoted, strict=False)
    except ValueError:
        raise _wrong(text, at, "a key in quotes as JSON writes it") from None
    return key


def _wrong(text: str, at: int, wanted: str) -> PathError:
    what = f"{text[at:]!r}" if text[at:] else "the end"
    return PathError(
        f"{text!r} is no path: {wanted} is expected where {what} stands. "
        'Write it like messages[3], messages[-1].content, todos.0.done or files."notes.md".'
    )
