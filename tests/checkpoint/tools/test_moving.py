"""Copying threads, and carrying them from one saver to another."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any

import pytest

from stepwell.checkpoint.tools.threadfile import read_file
from stepwell.errors import BranchNotFoundError, ThreadBusyError, ThreadFileError, ThreadIdError, ThreadNotFoundError
from stepwell.saves import At, LeaseWish
from tests.checkpoint.conftest import KINDS, cfg, grow, id_of, log_at

LINE = b"STEPWELL-THREAD 2\n"


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


def plain_file(data: Iterable[bytes]) -> bytes:
    """The frames of a file but the last, with an x for the thread's id, which is a letter."""
    plain = zlib.decompress(b"".join(data)[len(LINE) :])[:-40]
    return plain[:7] + b"x" + plain[8:]


def repacked(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    return LINE + zlib.compress(change(zlib.decompress(data[len(LINE) :])))


def swapped(data: bytes, at: int) -> bytes:
    """With one byte turned round."""
    made = bytearray(data)
    made[at] ^= 0xFF
    return bytes(made)


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
            (lambda data: data[:-1], "cut short"),
            (lambda data: data[: len(data) // 2], "cut short"),
            (lambda data: data[:18], "cut short"),
            (lambda data: swapped(data, len(data) // 2), "checksum"),
            (lambda data: swapped(data, -1), "checksum"),
            (lambda data: repacked(data, lambda plain: plain.replace(b"xxxx", b"xxxy", 1)), "checksum"),
            (lambda data: repacked(data, lambda plain: plain + b"E\0\0\0\1\x90"), "checksum"),
            (lambda data: repacked(data, lambda plain: plain + b"E"), "checksum"),
            (lambda data: repacked(data, lambda plain: plain[:-40]), "cut short"),
            (lambda data: repacked(data, lambda plain: b"T\0\0\0\1\xc1" + plain), "checksum"),
            (lambda data: repacked(data, lambda plain: b"T\0\0\0\1\1" + plain), "checksum"),
            (lambda data: data + b"more", "checksum"),
            (lambda data: [data, b"more"], "checksum"),
            (lambda data: b"hello", "no exported thread"),
            (lambda data: b"hello\n" + data, "no exported thread"),
            (lambda data: data.replace(b"STEPWELL-THREAD 2", b"STEPWELL-THREAD 9"), "of version 9; .* versions 1 to 2"),
            (lambda data: data.replace(b"STEPWELL-THREAD 2", b"STEPWELL-THREAD 0"), "no exported thread"),
            (lambda data: b"STEPWELL", "no exported thread"),
            (lambda data: b"", "no exported thread"),
            (lambda data: [], "no exported thread"),
            (lambda data: 5, "not int"),
            (lambda data: [data, "text"], "pieces that are bytes, not str"),
        ],
    )
    def test_that_was_damaged_is_refused_whole(self, full: Any, damage: Callable[[bytes], Any], says: str) -> None:
        data = b"".join(full.export_thread("t"))

        with pytest.raises(ThreadFileError, match=says):
            full.import_thread(damage(data), "new")

        assert [info.thread_id for info in full.list_threads()] == ["t"]

    @pytest.mark.parametrize(
        ("letter", "change", "says"),
        [
            ("X", lambda frames: [[1]], "frames 'X', which this library does not know"),
            ("I", lambda frames: [], "parts of it are missing"),
            ("I", lambda frames: [[log, start, data[:-1]] for log, start, data in frames], "parts of it are missing"),
            ("R", lambda frames: frames[:-1], "parts of it are missing"),
            ("R", lambda frames: [fields[:3] for fields in frames], "parts of it are missing"),
            ("N", lambda frames: [], "parts of it are missing"),
            ("N", lambda frames: [[frames[0][0][:1]]], "parts of it are missing"),
            ("T", lambda frames: [], "parts of it are missing"),
            ("T", lambda frames: [*frames, *frames], "parts of it are missing"),
            ("T", lambda frames: [["", *frames[0][1:]]], "parts of it are missing"),
            ("R", lambda frames: [*frames, frames[0]], "parts of it are missing"),
            ("R", lambda frames: [[fields[0], fields[1].upper(), *fields[2:]] for fields in frames], "parts of it"),
            ("R", lambda frames: [[*fields[:5], "odd", *fields[6:]] for fields in frames], "parts of it are missing"),
            (
                "R",
                lambda frames: [[*fields[:12], b"\x90", *fields[13:]] for fields in frames],
                "parts of it are missing",
            ),
            ("R", lambda frames: [[*fields[:14], 1 << 50] for fields in frames], "parts of it are missing"),
            ("R", lambda frames: [[*fields[:9], b"", *fields[10:]] for fields in frames], "parts of it are missing"),
            ("I", lambda frames: [[log, start, ["text"]] for log, start, data in frames], "parts of it are missing"),
            ("H", lambda frames: [[*frames[0][:3], 1]], "parts of it are missing"),
            ("O", lambda frames: [[b"\x81\xa5title\x01"]], "parts of it are missing"),
            (
                "G",
                lambda frames: [["g", "", "00000000-0000-0000-0000-000000000000", "", ""]],
                "parts of it are missing",
            ),
        ],
    )
    def test_that_holds_less_than_a_thread_is_refused_whole(
        self, full: Any, letter: str, change: Callable[[list[Any]], list[Any]], says: str
    ) -> None:
        file = read_file(full.export_thread("t"))
        file.frames[letter] = change(file.frames.get(letter, []))

        with pytest.raises(ThreadFileError, match=says):
            full.receive_thread(file, "new")

        assert [info.thread_id for info in full.list_threads()] == ["t"]

    @pytest.mark.parametrize("size", [1, 7, 1000])
    def test_is_read_in_pieces_of_any_size(self, full: Any, size: int) -> None:
        data = b"".join(full.export_thread("t"))

        full.import_thread((data[at : at + size] for at in range(0, len(data), size)), "new")

        assert whole(full, "new") == whole(full, "t")

    @pytest.mark.parametrize("kind", KINDS)
    def test_is_the_same_to_the_byte_from_wherever_it_was_brought(
        self, full: Any, another: Callable[[str], Any], kind: str
    ) -> None:
        full.set_title("t", "A title")
        full.set_ttl("t", 3600)
        other = another(kind)
        first = plain_file(full.export_thread("t"))

        other.import_thread(full.export_thread("t"), "u")

        assert plain_file(other.export_thread("u")) == first
        full.import_thread(other.export_thread("u"), "v")
        assert plain_file(full.export_thread("v")) == first

    def test_of_much_comes_in_pieces_and_is_small(self, saver: Any) -> None:
        texts = ["".join(sha256(b"%d %d" % (one, two)).hexdigest() for two in range(100)) for one in range(300)]
        saver.put_writes(grow(saver, 1)[0], [("a", text) for text in texts], "task", "~path")

        pieces = list(saver.export_thread("t"))

        assert len(pieces) > 5 and max(map(len, pieces)) < 400_000
        assert sum(map(len, pieces)) < sum(map(len, texts)) * 0.7
        saver.import_thread(pieces, "new")
        assert whole(saver, "new") == whole(saver, "t")

    def test_of_one_branch_holds_its_line_as_main(self, full: Any, another: Callable[[str], Any]) -> None:
        full.tag(full.get_tuple({"configurable": {"thread_id": "t", "branch": "other"}}).config, "begin")
        full.set_title("t", "A title")

        full.import_thread(full.export_thread("t", branch="other"), "new")

        assert [(head.name, head.step) for head in full.branches("new")] == [("main", 0)]
        assert [tag.name for tag in full.tags("new")] == ["begin"]
        assert full.notes("new").title == "A title"
        assert log_at(full, cfg("new", checkpoint_ns="")) == log_at(
            full, {"configurable": {"thread_id": "t", "branch": "other"}}
        )
        with pytest.raises(BranchNotFoundError, match="no branch 'never'"):
            full.export_thread("t", branch="never")

    def test_can_be_looked_into_before_it_comes_in(self, full: Any) -> None:
        full.set_title("t", "A title")
        data = b"".join(full.export_thread("t"))

        seen = full.receive_thread(data, "new", dry_run=True)

        assert (seen.thread, seen.original, seen.title, seen.exists) == ("new", "t", "A title", False)
        assert (seen.branches, seen.tags) == (("main", "other"), ("good",))
        assert full.receive_thread(data, dry_run=True).exists
        assert [info.thread_id for info in full.list_threads()] == ["t"]
        assert full.receive_thread(data, "new") == seen

    async def test_has_async_twins(self, full: Any) -> None:
        data = b"".join(await full.aexport_thread("t"))

        assert await full.aimport_thread(data, "new") == "new"
        assert whole(full, "new") == whole(full, "t")
