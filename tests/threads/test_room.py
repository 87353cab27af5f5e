"""The room loads what is asked for, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

import stepwell.threads as room


class DescribeTheRoom:
    def test_has_every_name_that_it_lists(self):
        assert sorted(room.__all__) == sorted(set(room.__all__))
        assert [name for name in room.__all__ if isinstance(getattr(room, name, None), ModuleType | None)] == []

    def test_lists_every_name_of_its_table(self):
        assert {name for names in room.NAMES.values() for name in names.split()} == set(room.__all__)

    def test_knows_no_other_name(self):
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = room.nothing

    def test_finds_functions_that_are_called_as_their_modules(self):
        for name in ("provenance", "transcript"):
            import_module(f"stepwell.threads.{name}")
            assert callable(getattr(room, name))

    @pytest.mark.claim("B-43")
    def test_lists_without_what_other_operations_need(self):
        script = "import sys; from stepwell.threads import list_threads, browse_threads; print(*sys.modules)"

        loaded = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        ).stdout.split()

        assert "stepwell.threads.list" in loaded
        assert {"stepwell.graph", "stepwell.checkpoint", "stepwell.threads.log", "difflib", "apsw"} & set(
            loaded
        ) == set()
