"""What a screen of the browser shows, as text; and screens kept to compare with."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Any

KEPT = Path(__file__).parent / "screens"
CELL = re.compile(r'<text [^>]*x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>')
UUID = r"\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b"
VARIES = (
    (re.compile(UUID), "01234567-89ab-7cde-8f01-23456789abcd"),
    (re.compile(r"\b[0-9a-f]{7}\b"), "abcdef0"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00"), "2026-01-02T03:04:05.678901+00:00"),
    (re.compile(r"\b\d+ (s|min) ago *"), "0 s ago "),
)


def text_of(app: Any) -> str:
    """The lines of the screen, without colours."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in CELL.findall(app.export_screenshot()):
        rows.setdefault(float(y), []).append((float(x), html.unescape(text).replace("\xa0", " ")))
    return "\n".join("".join(text for _, text in sorted(row)).rstrip() for _, row in sorted(rows.items()))


def is_as_kept(app: Any, name: str) -> bool:
    """Whether the screen is the one kept as `name`; ids and times may differ. UPDATE_SCREENS=1 keeps it anew."""
    shown = text_of(app)
    for pattern, always in VARIES:
        shown = pattern.sub(always, shown)
    file = KEPT / f"{name}.txt"
    if os.environ.get("UPDATE_SCREENS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(shown + "\n", encoding="utf-8")
    assert shown + "\n" == file.read_text(encoding="utf-8"), f"{name}:\n{shown}"
    return True
