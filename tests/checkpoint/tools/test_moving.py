"""Copying threads, and carrying them from one saver to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepwell.checkpoint.tools.moving import MAGIC
from stepwell.errors import SerializationError, ThreadBusyError, ThreadIdError, ThreadNotFoundError
from stepwell.saves import At, LeaseWish
from tests.checkpoint.conftest import KINDS, cfg, grow, id_of, log_at


def whole(saver: Any, thread: str) -> list[Any]:
    """Everything the public interface shows of a thread."""
    tuples = [found._replace(config=None, parent_config=None) for found in saver.list(cfg(thread))]
    parents = [found.parent_config and id_of(found.parent_config) for found in saver.list(cfg(thread))]
    return [tuples, parents, saver.branches(thread), [(t.name, t.checkpoint_id, t.note) for t in saver.tags(thread)]]


@pytest.fixture
def full(saver: Any) -> Any:
    """A saver with a thread that has a bit of everything."""
    made = grow(saver, 5)
    grow(saver, 3, ns="child")
    grow(saver, 2, parent=made[1])
    saver.put_writes(made[-1], [("a", ["x" * 100]), ("__error__", "no")], "task", "~path")
    saver.create_branch(made[0], "other")
    saver.tag(made[2], "good", "note")
    return saver


@pytest.mark.claim("H-25")
class DescribeACopy:
    def test_is_the_same_under_another_id(self, full: Any) -> None:
        full.copy_thread("t", "copy")

        assert whole(full, "copy") == whole(full, "t")

    def test_lives_on_when_the_original_is_deleted(self, full: Any) -> None:
        full.copy_thread("t", "copy")
        before = whole(full, "copy")

        full.delete_thread("t")

        assert whole(full, "copy") == before
        grow(full, 2, parent=full.get_tuple(cfg("copy", checkpoint_ns="")).config)

    def test_needs_a_thread_and_a_free_id(self, full: Any) -> None:
        with pytest.raises(ThreadNotFoundError, match="no thread 'never'"):
            full.copy_thread("never", "copy")
        grow(full, 1, thread="u")
        with pytest.raises(ThreadIdError, match="there is a thread 'u' already"):
            full.copy_thread("t", "u")

    def test_does_not_take_a_thread_that_a_run_begins(self, full: Any) -> None:
        held = full.perform(full.load(At("begun"), lease=LeaseWish("r", 0)))

        with pytest.raises(ThreadBusyError, match="run r has held it"):
            full.copy_thread("t", "begun")
        with pytest.raises(ThreadBusyError, match="run r has held it"):
            full.import_thread(full.export_thread("t"), thread_id="begun")

        full.perform(full.release(held.fence))
        full.copy_thread("t", "begun")
        assert whole(full, "begun") == whole(full, "t")


@pytest.mark.claim("H-25")
class DescribeAnExport:
    @pytest.mark.parametrize("kind", KINDS)
    def test_is_read_by_any_saver(self, full: Any, another: Callable[[str], Any], kind: str) -> None:
        other = another(kind)

        assert other.import_thread(full.export_thread("t")) == "t"

        assert whole(other, "t") == whole(full, "t")
        assert other.list_threads()[0].checkpoints == full.list_threads()[0].checkpoints

    @pytest.mark.parametrize("kind", KINDS)
    def test_can_be_gone_on_with(self, full: Any, another: Callable[[str], Any], kind: str) -> None:
        other = another(kind)
        other.import_thread(b"".join(full.export_thread("t")), "new")
        before = log_at(other, cfg("new", checkpoint_ns=""))

        more = grow(other, 3, parent=other.get_tuple(cfg("new", checkpoint_ns="")).config)

        assert log_at(other, more[-1])[: len(before)] == before
        assert log_at(other, more[0]) == log_at(other, more[-1])[:-2]

    def test_does_not_overwrite(self, full: Any) -> None:
        with pytest.raises(ThreadIdError, match="already"):
            full.import_thread(full.export_thread("t"))

    def test_of_a_thread_that_is_not_there_is_an_error(self, saver: Any) -> None:
        with pytest.raises(ThreadNotFoundError):
            saver.export_thread("never")

    @pytest.mark.parametrize(
        ("damage", "says"),
        [
            (lambda data: data[:-40], "cut short"),
            (lambda data: data[: len(data) // 2], "cut short"),
            (lambda data: data.replace(b"xxxx", b"xxxy", 1), "checksum"),
            (lambda data: data + b"more", "checksum"),
            (lambda data: b"hello", "no exported thread"),
            (lambda data: data.replace(MAGIC, b"STEPWELL-THREAD 9\n"), "version"),
            (lambda data: b"", "no exported thread"),
        ],
    )
    def test_that_was_damaged_is_refused_whole(self, full: Any, damage: Callable[[bytes], bytes], says: str) -> None:
        data = b"".join(full.export_thread("t"))

        with pytest.raises(SerializationError, match=says):
            full.import_thread(damage(data), "new")

        assert [info.thread_id for info in full.list_threads()] == ["t"]

    async def test_has_async_twins(self, full: Any) -> None:
        data = b"".join(await full.aexport_thread("t"))

        assert await full.aimport_thread(data, "new") == "new"
        assert whole(full, "new") == whole(full, "t")
