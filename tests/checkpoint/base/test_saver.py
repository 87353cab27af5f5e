"""The base class: what a saver of another maker gets for free."""

from __future__ import annotations

from typing import Any

import pytest

from stepwell.checkpoint.base import (
    BaseCheckpointSaver,
    CheckpointTuple,
    copy_checkpoint,
    create_checkpoint,
    empty_checkpoint,
)
from stepwell.errors import EmptyChannelError

CONFIG: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


class Plain(BaseCheckpointSaver):
    """The sync half, in a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[CheckpointTuple] = []
        self.calls: list[Any] = []

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        wanted = config["configurable"].get("checkpoint_id")
        found = [kept for kept in self.kept if wanted in (None, kept.checkpoint["id"])]
        return found[-1] if found else None

    def list(self, config: Any, **options: Any) -> Any:
        yield from reversed(self.kept)

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        parent = config if "checkpoint_id" in config["configurable"] else None
        at = {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}
        self.kept.append(CheckpointTuple(at, checkpoint, metadata, parent, []))
        return at

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        found = self.get_tuple(config)
        assert found is not None and found.pending_writes is not None
        found.pending_writes.extend((task_id, channel, value) for channel, value in writes)

    def delete_thread(self, thread_id: str) -> None:
        self.kept.clear()

    def prune(self, *args: Any, **options: Any) -> None:
        self.calls.append(("prune", args, options))

    def copy_thread(self, *args: Any) -> None:
        self.calls.append(("copy", args))

    def delete_for_runs(self, *args: Any) -> None:
        self.calls.append(("runs", args))


class DescribeASyncSaver:
    async def test_serves_async_callers_too(self) -> None:
        saver = Plain()
        at = await saver.aput(CONFIG, empty_checkpoint(), {"step": 1}, {})
        await saver.aput_writes(at, [("a", 1)], "task")

        found = await saver.aget_tuple(CONFIG)
        assert found is not None and found.pending_writes == [("task", "a", 1)]
        assert await saver.aget(CONFIG) == saver.get(CONFIG) == found.checkpoint
        assert [one.config async for one in saver.alist(None)] == [at]
        await saver.adelete_thread("t")
        assert await saver.aget(CONFIG) is None and saver.get(CONFIG) is None

    async def test_lists_many_async(self) -> None:
        saver = Plain()
        for _ in range(100):
            saver.put(CONFIG, empty_checkpoint(), {}, {})

        assert len([found async for found in saver.alist(None)]) == 100

    async def test_hands_tools_on(self) -> None:
        saver = Plain()
        await saver.aprune(["t"], strategy="delete")
        await saver.acopy_thread("a", "b")
        await saver.adelete_for_runs(["r"])

        assert saver.calls == [("prune", (["t"],), {"strategy": "delete"}), ("copy", ("a", "b")), ("runs", (["r"],))]


class DescribeABareSaver:
    @pytest.mark.parametrize(
        ("name", "args"),
        [
            ("get_tuple", (CONFIG,)),
            ("list", (CONFIG,)),
            ("put", (CONFIG, {}, {}, {})),
            ("put_writes", (CONFIG, [], "t")),
            ("delete_thread", ("t",)),
            ("delete_for_runs", ([],)),
            ("copy_thread", ("a", "b")),
            ("prune", ([],)),
        ],
    )
    def test_says_what_it_lacks(self, name: str, args: Any) -> None:
        with pytest.raises(NotImplementedError, match=rf"BaseCheckpointSaver does not implement {name}\(\)"):
            getattr(BaseCheckpointSaver(), name)(*args)

    def test_has_no_config_keys_of_its_own(self) -> None:
        assert BaseCheckpointSaver().config_specs == []

    def test_makes_versions_that_grow(self) -> None:
        saver = BaseCheckpointSaver()

        assert [saver.get_next_version(current, None) for current in (None, 4, 1.5)] == [1, 5, 2.5]
        assert "0004.9" < saver.get_next_version("0004.9", None) < "0006"

    def test_can_be_given_more_types(self) -> None:
        class Mine:
            pass

        saver = BaseCheckpointSaver()
        wider = saver.with_allowlist([Mine])

        assert type(wider) is type(saver) and wider.serde is not saver.serde

    def test_keeps_a_serializer_that_cannot_be_widened(self) -> None:
        class Own:
            def dumps_typed(self, value: Any) -> tuple[str, bytes]:
                return "own", b""

            def loads_typed(self, data: tuple[str, bytes]) -> Any:
                return None

        saver = BaseCheckpointSaver(serde=Own())

        assert saver.with_allowlist([int]) is saver


class DescribeAHistoryOfWrites:
    async def test_is_a_seed_and_what_was_written_since(self) -> None:
        saver = Plain()
        first = {**empty_checkpoint(), "channel_values": {"log": [1]}}
        at = saver.put(CONFIG, first, {}, {})  # type: ignore[arg-type]  # a checkpoint with values
        saver.put_writes(at, [("log", [2]), ("other", 0)], "task")
        at = saver.put(at, empty_checkpoint(), {}, {})
        saver.put_writes(at, [("log", [3])], "next")
        at = saver.put(at, empty_checkpoint(), {}, {})

        expected = {"log": {"writes": [("task", "log", [2]), ("next", "log", [3])], "seed": [1]}, "no": {"writes": []}}
        assert saver.get_delta_channel_history(config=at, channels=["log"]) == {"log": expected["log"]}
        found = await saver.aget_delta_channel_history(config=at, channels=["log", "no"])
        assert found["log"] == expected["log"] and "seed" not in found["no"]


class DescribeACheckpoint:
    def test_is_copied_without_sharing_its_tables(self) -> None:
        one = empty_checkpoint()
        one["versions_seen"] = {"n": {"a": 1}}
        other = copy_checkpoint(one)
        other["versions_seen"]["n"]["a"] = 2
        other["channel_values"]["x"] = 1

        assert (one["versions_seen"], one["channel_values"]) == ({"n": {"a": 1}}, {})

    def test_is_made_from_channels(self) -> None:
        class Holds:
            def checkpoint(self) -> Any:
                return 7

        class Empty:
            def checkpoint(self) -> Any:
                raise EmptyChannelError

        base = empty_checkpoint()
        base["channel_versions"] = {"a": 1, "b": 1}
        made = create_checkpoint(base, {"a": Holds(), "b": Empty(), "never": Holds()}, 3)

        assert made["channel_values"] == {"a": 7}
        assert made["id"] > base["id"] and made["id"][20:23] == "003"

    def test_may_keep_its_values_and_take_an_id(self) -> None:
        base = empty_checkpoint()
        base["channel_values"] = {"a": 1}

        made = create_checkpoint(base, None, 0, id="mine")
        assert (made["channel_values"], made["id"]) == ({"a": 1}, "mine")
