"""Versions of another maker's saver as the engine's ints."""

from __future__ import annotations

from typing import Any

import pytest

from stepwell.checkpoint.base.versions import Versions


class DescribeVersions:
    def test_that_are_ints_stay(self) -> None:
        _, current, seen = Versions.of({"a": 3}, {"n": {"a": 2}})

        assert (current, seen) == ({"a": 3}, {"n": {"a": 2}})

    @pytest.mark.parametrize(("old", "new"), [("0001.5", "0002.1"), (1.25, 1.5)])
    def test_keep_their_order(self, old: Any, new: Any) -> None:
        _, current, seen = Versions.of({"a": new}, {"n": {"a": old}, "m": {"a": new}})

        assert seen["n"]["a"] < current["a"] == seen["m"]["a"]

    def test_go_back_to_the_savers_own(self) -> None:
        versions, current, _ = Versions.of({"a": "0002.1", "b": "0001.0"}, {"n": {"a": "0002.1"}})
        moved = {"a": (current["a"] >> 20) + 1 << 20}

        assert versions.newest() == "0002.1"
        assert versions.move(moved, "0003.9") == {"a": "0003.9"}
        versions.see({"n": moved, "m": {"b": current["b"]}})

        assert versions.current == {"a": "0003.9", "b": "0001.0"}
        assert versions.seen == {"n": {"a": "0003.9"}, "m": {"b": "0001.0"}}

    def test_of_a_copy_move_apart(self) -> None:
        versions, _, _ = Versions.of({"a": 1}, {})
        copy = versions.copy()
        copy.move({"a": 2}, 2)

        assert (versions.current, copy.current) == ({"a": 1}, {"a": 2})

    def test_of_an_empty_thread_have_no_newest(self) -> None:
        assert Versions({}, {}).newest() is None
