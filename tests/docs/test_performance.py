"""Figures come from a benchmark run, or are not given."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.scripts import load


@pytest.fixture
def maker(tmp_path) -> ModuleType:
    made = load("make_performance")
    page = tmp_path / "performance.md"
    page.write_text(made.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    made.PAGE = page
    return made


def a_run(path: Path, *, quick: bool = False, load: float = 0.5) -> str:
    steps = {"stepwell": {"cpu_us_step_100": 12.5}, "langgraph": {"cpu_us_step_100": 150.0}}
    chats = {"stepwell": {"file_bytes_500": 9e5}, "langgraph": {"file_bytes_500": 5.4e8}}
    cases = {"row-none-sync": {"medians": steps}, "chat": {"medians": chats}}
    where = {"at": "2026-12-01T10:00:00+00:00", "python": "3.11.7", "cores": 2, "load": [load], "packages": {}}
    path.write_text(json.dumps({**where, "quick": quick, "cases": cases}), encoding="utf-8")
    return str(path)


def test_a_full_run_becomes_the_table(maker, tmp_path):
    code = maker.main([a_run(tmp_path / "run.json")])

    text = maker.PAGE.read_text(encoding="utf-8")
    assert code == 0
    assert "| a step, without a saver | 150 µs |  | 12.5 µs | 12.0 |" in text
    assert "## What grows with what" in text


def test_a_busy_machine_gives_sizes_but_no_times(maker, tmp_path):
    maker.main([a_run(tmp_path / "run.json", load=6.0)])

    text = maker.PAGE.read_text(encoding="utf-8")
    assert "| the file after 500 turns | 540 MB |  | 0.9 MB | 600.0 |" in text
    assert "a step, without a saver" not in text


def test_a_quick_run_is_not_written_down(maker, tmp_path):
    before = maker.PAGE.read_text(encoding="utf-8")

    code = maker.main([a_run(tmp_path / "run.json", quick=True)])

    assert code == 1
    assert maker.PAGE.read_text(encoding="utf-8") == before
