"""Every block of the README and of the manual runs, and prints what the page says it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import blocks, name_of, pages
from tests.docs.reading import Reader

RUNNABLE = ("python", "console", "bash")


def with_blocks() -> list[Path]:
    return [page for page in pages() if any(block.language in RUNNABLE for block in blocks(page))]


@pytest.mark.parametrize("page", with_blocks(), ids=name_of)
def test_the_page_does_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    ran = Reader(page, tmp_path).read()

    assert ran


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_block_says_what_it_is(page):
    kinds = {"python", "console", "bash", "text", "mermaid", "json", "sql"}

    assert {block.language for block in blocks(page)} <= kinds
