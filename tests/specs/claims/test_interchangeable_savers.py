"""One saver may stand in for another: the same calls give the same answers (A-06, A-89, B-34, B-35)."""

from __future__ import annotations

from typing import Any

import pytest

from stepwell.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, empty_checkpoint
from stepwell.checkpoint.memory import InMemorySaver
from tests.specs.chat import chat_graph, human, texts
from tests.specs.given import cfg

claim = pytest.mark.claim


def uuid_text(n: int) -> str:
    return f"1f0a0000-0000-6000-8000-{n:012x}"


def shown(found: Any) -> Any:
    """What of a tuple must be the same in every saver."""
    return found and (
        found.config["configurable"],
        found.checkpoint["channel_values"],
        found.checkpoint["channel_versions"],
        found.metadata,
        found.parent_config and found.parent_config["configurable"],
        found.pending_writes,
    )


def trace(drive: Any, saver: Any) -> list[Any]:
    """One of each call, on two threads and two namespaces; what every call answered."""
    seen: list[Any] = []
    parent = cfg(checkpoint_ns="")
    for n in range(4):
        versions = {"a": 1, "b": n + 1}
        values = {"a": [1, (2, 3)], "b": {"n": n}}
        checkpoint = {**empty_checkpoint(), "id": uuid_text(n), "channel_values": values, "channel_versions": versions}
        changed = versions if n == 0 else {"b": n + 1}
        metadata = {"source": "loop", "step": n, "parents": {}, "user": f"u{n % 2}"}
        parent = drive.call(saver, "put", parent, checkpoint, metadata, changed)
        drive.call(saver, "put_writes", parent, [("b", n), ("b", -n)], f"task-{n}", "~path")
        drive.call(saver, "put_writes", parent, [("b", "ignored"), ("b", "too")], f"task-{n}", "~path")
        drive.call(saver, "put_writes", parent, [("__error__", "first")], f"task-{n}")
        drive.call(saver, "put_writes", parent, [("__error__", "second")], f"task-{n}")
        seen.append(parent["configurable"])
    child = cfg(checkpoint_ns="child:1")
    other = {**empty_checkpoint(), "id": uuid_text(9), "channel_values": {"x": 1}, "channel_versions": {"x": 1}}
    drive.call(saver, "put", child, other, {"source": "input", "step": -1}, {"x": 1})
    drive.call(saver, "put", cfg("other", checkpoint_ns=""), other, {"source": "input", "step": -1}, {"x": 1})

    seen.append(shown(drive.get_tuple(saver, cfg())))
    seen.append(shown(drive.get_tuple(saver, cfg(checkpoint_id=uuid_text(1)))))
    seen.append(shown(drive.get_tuple(saver, child)))
    for options in ({}, {"limit": 2}, {"filter": {"user": "u1"}}, {"before": cfg(checkpoint_id=uuid_text(2))}):
        seen.append([shown(t) for t in drive.list(saver, cfg(checkpoint_ns=""), **options)])
    seen.append(sorted(t.config["configurable"]["checkpoint_ns"] for t in drive.list(saver, cfg())))
    seen.append(sorted(t.config["configurable"]["thread_id"] for t in drive.list(saver, None)))
    drive.call(saver, "delete_thread", "t")
    seen.append([shown(t) for t in drive.list(saver, None)])
    return seen


@claim("A-89", "B-34", "B-35")
def test_every_saver_answers_every_call_as_the_one_in_memory_does(drive, saver):
    assert trace(drive, saver) == trace(drive, InMemorySaver())


@claim("A-89", "B-34")
def test_the_one_in_memory_answers_as_the_interface_says(drive, memory_saver):
    seen = trace(drive, memory_saver)

    newest, second, child = seen[4:7]
    assert [c["checkpoint_id"] for c in seen[:4]] == [uuid_text(n) for n in range(4)]
    assert newest[1] == {"a": [1, (2, 3)], "b": {"n": 3}} and newest[4]["checkpoint_id"] == uuid_text(2)
    assert newest[5] == [("task-3", "__error__", "second"), ("task-3", "b", 3), ("task-3", "b", -3)]
    assert second[1]["b"] == {"n": 1} and child[1] == {"x": 1}
    everything, limited, filtered, before = ([entry[0]["checkpoint_id"] for entry in page] for page in seen[7:11])
    assert everything == [uuid_text(n) for n in (3, 2, 1, 0)] and limited == everything[:2]
    assert filtered == [uuid_text(3), uuid_text(1)] and before == [uuid_text(1), uuid_text(0)]
    assert seen[11] == ["", "", "", "", "child:1"] and seen[12] == ["other", *["t"] * 5]
    assert [entry[0]["thread_id"] for entry in seen[13]] == ["other"]


class TinySaver(BaseCheckpointSaver):
    """A saver as a reader of the manual would write it: the abstract methods and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[tuple[str, str, str], Any] = {}
        self.written: dict[tuple[str, str, str], list[Any]] = {}

    def _key(self, config: Any) -> tuple[str, str, str]:
        where = config["configurable"]
        return where["thread_id"], where.get("checkpoint_ns", ""), where.get("checkpoint_id", "")

    def get_tuple(self, config: Any) -> Any:
        return next(iter(self.list(config)), None)

    def list(self, config: Any, *, filter: Any = None, before: Any = None, limit: Any = None) -> Any:
        thread, ns, wanted = self._key(config)
        end = before["configurable"]["checkpoint_id"] if before else "~"
        keys = [k for k in self.rows if k[:2] == (thread, ns) and wanted in ("", k[2]) and k[2] < end]
        for key in sorted(keys, reverse=True)[:limit]:
            data, metadata, parent = self.rows[key]
            at = {"configurable": dict(zip(("thread_id", "checkpoint_ns", "checkpoint_id"), key, strict=True))}
            yield CheckpointTuple(at, self.serde.loads_typed(data), metadata, parent, self.written.get(key, []))

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        thread, ns, parent = self._key(config)
        self.rows[thread, ns, checkpoint["id"]] = (
            self.serde.dumps_typed(checkpoint),
            metadata,
            cfg(thread, checkpoint_ns=ns, checkpoint_id=parent) if parent else None,
        )
        return cfg(thread, checkpoint_ns=ns, checkpoint_id=checkpoint["id"])

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        self.written.setdefault(self._key(config), []).extend((task_id, channel, value) for channel, value in writes)

    async def aget_tuple(self, config: Any) -> Any:
        return self.get_tuple(config)

    async def alist(self, config: Any, **options: Any) -> Any:
        for found in self.list(config, **options):
            yield found

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        self.put_writes(config, writes, task_id, task_path)


@claim("A-06", "A-27", "B-34")
def test_a_saver_of_ones_own_carries_a_conversation(drive):
    graph = chat_graph(TinySaver())

    drive.invoke(graph, human("r1"), cfg())
    drive.invoke(graph, human("r2"), cfg())

    assert texts(drive.get_state(graph, cfg())) == ["r1", "reply#1", "r2", "reply#3"]
    assert [s.metadata["step"] for s in drive.history(graph, cfg())] == [4, 3, 2, 1, 0, -1]
