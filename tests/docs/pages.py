"""Pages of the manual, and what is in them that can be run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>.*?)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
MARK = re.compile(r"<!-- (main|test)-command -->\n$")


@dataclass(frozen=True)
class Block:
    """A fenced block: what it says it is, its text, and the line it begins in."""

    info: str
    text: str
    line: int
    marked: bool = False

    @property
    def language(self) -> str:
        return self.info.split()[0] if self.info else ""

    @property
    def file(self) -> str | None:
        """Under which name the block is to be saved, for blocks that are files."""
        found = re.search(r"\bfile=(\S+)", self.info)
        return found[1] if found else None


def pages() -> list[Path]:
    """Every page with prose: the README in its languages, and the manual."""
    return sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 2
        yield Block(found["info"].strip(), found["body"], line, bool(MARK.search(text[: found.start()])))


def prose(page: Path) -> str:
    """The page without its blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))
