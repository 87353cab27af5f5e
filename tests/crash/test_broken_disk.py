"""A full disk and a disk that refuses: a typed error that says what to do, and the last committed step stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.nursery import Nursery
from tests.crash.shapes import SHAPES

BROKEN = "tests.crash.broken"


@pytest.mark.parametrize("driver", ["sync", "async"])
@pytest.mark.parametrize("library", ["sqlite3", "apsw"])
class DescribeAFullDisk:
    def test_is_a_typed_error_that_says_so_and_keeps_every_acknowledged_run(
        self, children: Nursery, tmp_path: Path, library: str, driver: str
    ) -> None:
        path, diary = str(tmp_path / "threads.sqlite"), str(tmp_path / "diary")
        given = {"path": path, "diary": diary, "library": library, "driver": driver}

        told = children.run(f"{BROKEN}:fills_the_disk", room_bytes=200_000, **given).told()

        assert told["error"]["type"] == "DatabaseError"
        assert "disk" in told["error"]["message"]
        acknowledged = told["runs"] * (1 + len(SHAPES["row"].nodes))
        assert acknowledged <= told["found"] <= acknowledged + 3

    def test_leaves_a_sound_file_that_the_next_process_goes_on_with(
        self, children: Nursery, tmp_path: Path, library: str, driver: str
    ) -> None:
        path, diary = str(tmp_path / "threads.sqlite"), str(tmp_path / "diary")
        given = {"path": path, "diary": diary, "library": library, "driver": driver}
        full = children.run(f"{BROKEN}:fills_the_disk", room_bytes=100_000, **given).told()

        found = children.run("tests.crash.children:heir", path=path, diary=diary, shape="row").told()

        assert found["integrity"] == "ok"
        assert found["lineage"]
        assert len(found["found"]["values"]["trail"]) == full["found"]
        assert len(found["again"]["values"]["trail"]) % 4 == 0
        assert found["again"]["next"] == []


class DescribeADiskThatRefusesToWrite:
    def test_is_a_typed_error_and_the_same_saver_goes_on_once_the_disk_is_back(
        self, children: Nursery, tmp_path: Path
    ) -> None:
        told = children.run(
            f"{BROKEN}:loses_the_disk", path=str(tmp_path / "threads.sqlite"), diary=str(tmp_path / "diary")
        ).told()

        assert told["error"]["type"] == "DatabaseError"
        assert told["kept"] == told["before"]
        assert told["after"] == told["before"] + 4
