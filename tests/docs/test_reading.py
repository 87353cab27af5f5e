"""A page that does not do what it says fails."""

from __future__ import annotations

import pytest

from tests.docs.reading import Reader


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Reads a page with one block."""
    monkeypatch.chdir(tmp_path)

    def reading(language: str, text: str) -> int:
        page = tmp_path / "page.md"
        page.write_text(f"# A page\n\n```{language}\n{text}\n```\n", encoding="utf-8")
        return Reader(page, tmp_path).read()

    return reading


@pytest.mark.parametrize(
    "command", ["stepwell show nobody", "python -c 'raise SystemExit(3)' | cat", "python nowhere.py && echo done"]
)
def test_commands_must_end_with_exit_code_0(read, command):
    with pytest.raises(AssertionError, match=r"exit code [1-9]"):
        read("bash", command)


def test_commands_that_work_pass(read):
    assert read("bash", "python -c 'print(1)'\nstepwell threads") == 1


def test_what_a_command_prints_is_compared(read):
    assert read("console", "$ python -c 'print(1)'\n1") == 1
    with pytest.raises(AssertionError, match="the page says"):
        read("console", "$ python -c 'print(1)'\n2")
