"""The three ledgers of a memory saver as plain dicts, for people who debug. Built when they are asked for."""

from __future__ import annotations

from typing import Any

from stepwell.checkpoint.base.records import flat
from stepwell.checkpoint.memory.thread import ThreadRows
from stepwell.checkpoint.read import OpenTask, read_value
from stepwell.checkpoint.work import Codec


def storage_of(threads: dict[str, ThreadRows]) -> dict[str, dict[str, dict[str, tuple[Any, Any, str | None]]]]:
    """thread → namespace → checkpoint id → (body without values, metadata, id of the parent)."""
    return {
        name: {
            ns: {
                id: (
                    {
                        "id": id,
                        "ts": row.ts,
                        "channel_versions": {c: version for c, (version, _) in row.state.all_cells().items()},
                        "versions_seen": {node: dict(seen) for node, seen in row.state.all_seen().items()},
                    },
                    dict(row.metadata),
                    row.parent,
                )
                for id, row in space.rows.items()
            }
            for ns, space in thread.spaces.items()
        }
        for name, thread in threads.items()
    }


def blobs_of(threads: dict[str, ThreadRows], codec: Codec) -> dict[tuple[str, str, str, Any], Any]:
    """(thread, namespace, channel, version) → value."""
    found: dict[tuple[str, str, str, Any], Any] = {}
    for name, thread in threads.items():
        items = thread.view()
        for row in thread.rows():
            for channel, (version, ref) in row.state.all_cells().items():
                key = (name, row.ns, channel, version)
                if ref is not None and key not in found:
                    found[key] = read_value(codec, ref, items)
    return found


def writes_of(threads: dict[str, ThreadRows], codec: Codec) -> dict[tuple[str, str, str], dict[tuple[str, int], Any]]:
    """(thread, namespace, checkpoint id) → (task id, number) → (task id, channel, value)."""
    found: dict[tuple[str, str, str], dict[tuple[str, int], Any]] = {}
    for name, thread in threads.items():
        items = thread.view()
        for row in thread.rows():
            key = (row.ns, row.id)
            records = [OpenTask(codec, task, items) for task in (*thread.pending(key), *thread.done(key))]
            rows = {(task, n): (task, channel, value) for n, (task, channel, value) in enumerate(flat(records))}
            if rows:
                found[name, row.ns, row.id] = rows
    return found
