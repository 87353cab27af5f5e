"""What people say of a thread: a title, metadata, how long it is kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import ConfigError, ThreadNotFoundError
from stepwell.saves import At, LeaseWish
from stepwell.serde.encrypted import EncryptedSerializer
from stepwell.types import ThreadNotes
from tests.checkpoint.conftest import cfg, grow
from tests.checkpoint.tools.test_trimming import rows_of_every_table


class DescribeATitle:
    @pytest.mark.claim("H-24")
    def test_is_what_the_list_shows(self, saver: Any) -> None:
        grow(saver, 1)
        assert saver.list_threads()[0].title == ""

        saver.set_title("t", " Bees\nand honey ")

        assert saver.list_threads()[0].title == "Bees and honey"
        assert saver.notes("t").title == "Bees and honey"

    def test_stands_above_that_of_the_runs_and_goes_again(self, saver: Any) -> None:
        at = grow(saver, 1)[0]
        new = saver.get_tuple(at).checkpoint
        saver.put(at, {**new, "id": new["id"][:-1] + "f"}, {"source": "loop", "step": 1, "title": "of the run"}, {})
        assert saver.list_threads()[0].title == "of the run"

        saver.set_title("t", "mine")
        assert saver.list_threads()[0].title == "mine"

        saver.set_title("t", None)
        assert saver.list_threads()[0].title == "of the run"

    def test_takes_no_lease(self, saver: Any) -> None:
        grow(saver, 1)
        loaded = saver.perform(saver.load(At("t"), lease=LeaseWish("run", 0)))

        saver.set_title("t", "while it runs")

        assert saver.list_threads(status="running")[0].title == "while it runs"
        saver.perform(saver.release(loaded.fence))

    def test_moves_nothing_in_the_list(self, saver: Any) -> None:
        for thread in ("old", "new"):
            grow(saver, 1, thread=thread)
        before = [info.updated_at for info in saver.list_threads()]

        saver.set_title("old", "x")

        assert [info.thread_id for info in saver.list_threads()] == ["new", "old"]
        assert [info.updated_at for info in saver.list_threads()] == before

    def test_is_kept_when_the_thread_goes_on(self, saver: Any) -> None:
        made = grow(saver, 2)
        saver.set_title("t", "mine")

        grow(saver, 2, parent=made[-1])

        assert saver.list_threads()[0].title == "mine"

    def test_of_a_thread_that_is_only_registered(self, saver: Any) -> None:
        saver.ensure_thread(cfg("empty"))

        saver.set_title("empty", "to come")

        assert saver.list_threads(status="empty")[0].title == "to come"

    def test_of_no_thread_is_an_error(self, saver: Any) -> None:
        for call in (lambda: saver.set_title("never", "x"), lambda: saver.notes("never")):
            with pytest.raises(ThreadNotFoundError, match="never"):
                call()

        assert saver.list_threads() == []

    def test_is_text(self, saver: Any) -> None:
        grow(saver, 1)

        with pytest.raises(ConfigError, match="a title is text, not 3"):
            saver.set_title("t", 3)


class DescribeMetadataThatPeopleSet:
    def test_hold_what_runs_say(self, saver: Any) -> None:
        grow(saver, 2, run="r7")

        saver.set_metadata("t", {"run_id": "mine", "project": {"name": "x", "tags": ["a"]}})

        [info] = saver.list_threads()
        assert (info.metadata["run_id"], info.metadata["step"]) == ("mine", 1)
        assert saver.list_threads(filter={"project": {"name": "x", "tags": ["a"]}}) == [info]
        assert saver.list_threads(filter={"run_id": "r7"}) == []

    def test_are_taken_away_key_by_key(self, saver: Any) -> None:
        grow(saver, 1, run="r7")
        saver.set_metadata("t", {"run_id": "mine", "a": 1, "b": 2})

        saver.set_metadata("t", {"a": 3}, remove=["run_id", "never"])

        assert saver.notes("t").metadata == {"a": 3, "b": 2}
        assert saver.list_threads()[0].metadata["run_id"] == "r7"

    def test_are_a_copy(self, saver: Any) -> None:
        grow(saver, 1)
        given: dict[str, Any] = {"tags": ["a"]}
        saver.set_metadata("t", given)

        given["tags"].append("b")
        saver.notes("t").metadata["tags"].append("c")

        assert saver.notes("t").metadata == {"tags": ["a"]}

    @pytest.mark.parametrize("wrong", [["a"], "a", {1: 2}, {"": 1}, None])
    def test_are_a_dict_with_text_as_keys(self, saver: Any, wrong: Any) -> None:
        grow(saver, 1)

        with pytest.raises(ConfigError, match="text as keys"):
            saver.set_metadata("t", wrong)
        with pytest.raises(ConfigError, match="a list of keys"):
            saver.set_metadata("t", {}, remove="a")


class DescribeATimeToLive:
    def test_is_seconds_for_ever_or_the_default(self, saver: Any) -> None:
        grow(saver, 1)

        for given in (3600, math.inf, 0, None):
            saver.set_ttl("t", given)
            assert saver.notes("t").ttl_s == given
            assert saver.list_threads()[0].ttl_s == given

    @pytest.mark.parametrize("wrong", [-1, math.nan, "1d", True])
    def test_is_no_other_thing(self, saver: Any, wrong: Any) -> None:
        grow(saver, 1)

        with pytest.raises(ConfigError, match="a time to live is"):
            saver.set_ttl("t", wrong)


NOTED = ThreadNotes("mine", {"project": "x"}, 60.0)


def noted(saver: Any) -> None:
    grow(saver, 2)
    saver.set_title("t", NOTED.title)
    saver.set_metadata("t", NOTED.metadata)
    saver.set_ttl("t", NOTED.ttl_s)


class DescribeNotes:
    @pytest.mark.claim("H-25")
    @pytest.mark.parametrize("kind", ["memory", "sqlite"])
    def test_go_with_the_thread(self, saver: Any, another: Callable[[str], Any], kind: str) -> None:
        noted(saver)

        saver.copy_thread("t", "copy")
        other = another(kind)
        other.import_thread(saver.export_thread("t"), "moved")

        assert saver.notes("copy") == NOTED
        assert other.notes("moved") == NOTED

    def test_of_a_copy_are_its_own(self, saver: Any) -> None:
        noted(saver)
        saver.copy_thread("t", "copy")

        saver.set_title("copy", "another")
        saver.set_metadata("copy", {"project": "y"})

        assert saver.notes("t") == NOTED

    @pytest.mark.claim("H-09", "B-42")
    def test_are_deleted_with_the_thread(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db") as saver:
            noted(saver)

            saver.delete_thread("t")

            assert set(rows_of_every_table(saver)) == {"stepwell_schema", "epochs", "sqlite_sequence"}

    def test_that_say_nothing_any_more_leave_no_row(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db") as saver:
            noted(saver)

            saver.set_title("t", "")
            saver.set_metadata("t", {}, remove=["project"])
            saver.set_ttl("t", None)

            assert "notes" not in rows_of_every_table(saver)
            assert saver.notes("t") == ThreadNotes()

    def test_cannot_be_read_in_an_encrypted_file(self, tmp_path: Path) -> None:
        path = tmp_path / "x.db"
        with SqliteSaver(path, serde=EncryptedSerializer.from_keys({"k": b"1" * 32}, current="k")) as saver:
            grow(saver, 1)
            saver.set_title("t", "needle-7391")
            saver.set_metadata("t", {"where": "needle-7391"})

            assert saver.list_threads()[0].title == "needle-7391"

        assert b"needle-7391" not in b"".join(each.read_bytes() for each in tmp_path.iterdir())

    async def test_have_async_twins(self, saver: Any) -> None:
        grow(saver, 1)

        await saver.aset_title("t", NOTED.title)
        await saver.aset_metadata("t", {"project": "x", "gone": 1})
        await saver.aset_metadata("t", {}, remove=["gone"])
        await saver.aset_ttl("t", 60)

        assert await saver.anotes("t") == NOTED
