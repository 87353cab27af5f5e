"""Which texts of a value are embedded: paths such as `a.b`, `a[0]`, `a[*].b`, `{a,b}`, and `$` for all of it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

_TOKEN: Final = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^.\[{]+")


def tokenize_path(path: str) -> list[str]:
    """The parts of a path, each a key, an index in brackets, or alternatives in braces."""
    return _TOKEN.findall(path)


def get_text_at_path(obj: Any, path: str | Sequence[str]) -> list[str]:
    """The texts that `path` leads to in a value; empty where it leads nowhere. What is no text is written as JSON."""
    if not path or path == "$":
        return [json.dumps(obj, sort_keys=True, ensure_ascii=False, default=str)]
    return _texts(obj, tokenize_path(path) if isinstance(path, str) else list(path))


def _texts(obj: Any, tokens: Sequence[str]) -> list[str]:
    if not tokens:
        return _as_text(obj)
    token, rest = tokens[0], tokens[1:]
    if token.startswith("["):
        return [text for item in _items(obj, token[1:-1].strip()) for text in _texts(item, rest)]
    if token.startswith("{"):
        return [text for name in token[1:-1].split(",") for text in _texts(obj, [*tokenize_path(name.strip()), *rest])]
    if token == "*":
        inner = obj.values() if isinstance(obj, dict) else obj if isinstance(obj, list) else ()
        return [text for item in inner for text in _texts(item, rest)]
    return _texts(obj[token], rest) if isinstance(obj, dict) and token in obj else []


def _items(obj: Any, index: str) -> list[Any]:
    if not isinstance(obj, list | tuple):
        return []
    if index == "*":
        return list(obj)
    try:
        return [obj[int(index)]]
    except (ValueError, IndexError):
        return []


def _as_text(obj: Any) -> list[str]:
    if obj is None:
        return []
    if isinstance(obj, str):
        return [obj]
    if isinstance(obj, int | float):
        return [str(obj)]
    return [json.dumps(obj, sort_keys=True, ensure_ascii=False, default=str)]
