"""The reference is what the docstrings say today."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.docs.scripts import load


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    return load("make_reference")


def test_it_is_up_to_date(maker):
    made = maker.all_pages()

    stale = [file for file, text in made.items() if (maker.HERE / file).read_text(encoding="utf-8") != text]

    assert not stale, "run: python docs/make_reference.py"


def test_every_page_of_it_is_made_or_listed(maker):
    by_hand = {"command-line.md", "thread-file.md"}

    assert {path.name for path in maker.HERE.glob("*.md")} == set(maker.all_pages()) | by_hand


@pytest.mark.claim("A-90")
@pytest.mark.parametrize(
    ("file", "title"), [("checkpointers.md", "Checkpointers"), ("in-memory-saver.md", "InMemorySaver")]
)
def test_savers_have_their_pages(maker, file, title):
    text = (maker.HERE / file).read_text(encoding="utf-8")

    assert text.startswith(f"# {title}\n")
    assert "get_tuple" in text
    assert file in (maker.HERE / "README.md").read_text(encoding="utf-8")
