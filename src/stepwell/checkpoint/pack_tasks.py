"""Task records ↔ bytes. What follows from the checkpoint they are part of is not stored in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from stepwell.checkpoint.apart import Pointed
from stepwell.checkpoint.names import Names
from stepwell.checkpoint.pack import get_id, own_trigger, pack_children, put_id, unpack_children
from stepwell.checkpoint.refs import INLINE, Inline, get_bytes, get_int, get_ref, put_bytes, put_int, put_ref
from stepwell.checkpoint.rows import StoredTask
from stepwell.ids import task_id

_FINISHED, _ERROR, _INTERRUPTS, _ANSWERS = 1, 2, 4, 8
_PULL, _ROUTED, _OWN_RUN, _FIRST, _DERIVED, _NAMED_PATH, _CHILDREN = 16, 32, 64, 128, 256, 512, 1024
_EXTRAS: Final = _ERROR | _INTERRUPTS | _ANSWERS | _CHILDREN
_PULL_KIND: Final = "__pregel_pull"


class Home(NamedTuple):
    """The checkpoint that records are part of; what follows from it is not stored in them."""

    parent: str | None
    ns: str
    step: int
    run: str


NOWHERE: Final = Home(None, "", 0, "")


def put_task(out: bytearray, task: StoredTask, names: Names, run: Callable[[str], int], home: Home = NOWHERE) -> None:
    """Appends a record: flags, node, what the flags do not say, writes, error, questions, answers."""
    flags = _flags_of(task, home)
    number = names.number
    put_int(out, flags)
    put_int(out, number(task.node))
    if not flags & _DERIVED:
        put_id(out, task.task)
    if flags & _NAMED_PATH:
        put_int(out, number(task.path))
    elif not flags & _PULL:
        put_bytes(out, task.path.encode("utf-8", "surrogatepass"))
    if not flags & _ROUTED:
        put_int(out, len(task.triggers))
        for trigger in task.triggers:
            put_int(out, number(trigger))
    if not flags & _OWN_RUN:
        put_int(out, run(task.run))
    if not flags & _FIRST:
        put_int(out, task.attempt)
    _put_writes(out, task, number)
    if flags & _EXTRAS:
        for data in (task.error, task.interrupts, task.answers):
            if data is not None:
                put_bytes(out, data)
        if task.children:
            put_bytes(out, pack_children(task.children) or b"")


def _put_writes(out: bytearray, task: StoredTask, number: Callable[[str], int]) -> None:
    put_int(out, len(task.writes))
    append = out.append
    for name, ref in task.writes:
        at = number(name)
        append(at) if at < 128 else put_int(out, at)
        if type(ref) is Inline and len(ref.data) < 128:
            append(INLINE)
            append(len(ref.data))
            out += ref.data
        else:
            put_ref(out, ref)


def _flags_of(task: StoredTask, home: Home) -> int:
    flags = _flags_of_node(task.node, task.path, task.triggers)
    if task.finished:
        flags |= _FINISHED
    if task.error is not None:
        flags |= _ERROR
    if task.interrupts is not None:
        flags |= _INTERRUPTS
    if task.answers is not None:
        flags |= _ANSWERS
    if task.children:
        flags |= _CHILDREN
    if task.attempt == 1:
        flags |= _FIRST
    if task.run == home.run:
        flags |= _OWN_RUN
    if flags & _PULL and home.parent is not None and task.task == _derived_id(task.node, task.triggers, home):
        flags |= _DERIVED
    return flags


@lru_cache(1024)
def _flags_of_node(node: str, path: str, triggers: tuple[str, ...]) -> int:
    flags = _ROUTED if triggers == (own_trigger(node),) else 0
    if path == _pull_path(node):
        return flags | _PULL
    # As many paths as there are nodes; those of sends and calls have no end.
    return flags | (_NAMED_PATH if path.endswith(node) else 0)


def _pull_path(node: str) -> str:
    return f"~{_PULL_KIND}, {node}"


def _derived_id(node: str, triggers: tuple[str, ...], home: Home) -> str:
    """The id that the engine gives a task (engine/task.py). Where it does not, ids are stored."""
    return task_id(home.parent, home.ns, node, home.step, _PULL_KIND, node, *triggers)


def get_task(
    data: bytes,
    at: int,
    names: Names,
    run: Callable[[int], str],
    pointed: Pointed,
    home: Home = NOWHERE,
) -> tuple[StoredTask, int]:
    """(record, where it ends)."""
    flags, at = get_int(data, at)
    number, at = get_int(data, at)
    node = names.name(number)
    id, path, run_id, attempt = "", _pull_path(node), home.run, 1
    triggers: tuple[str, ...] = (own_trigger(node),)
    if not flags & _DERIVED:
        id, at = get_id(data, at)
    if flags & _NAMED_PATH:
        number, at = get_int(data, at)
        path = names.name(number)
    elif not flags & _PULL:
        raw, at = get_bytes(data, at)
        path = raw.decode("utf-8", "surrogatepass")
    if not flags & _ROUTED:
        triggers, at = _get_names(data, at, names)
    if not flags & _OWN_RUN:
        number, at = get_int(data, at)
        run_id = run(number)
    if not flags & _FIRST:
        attempt, at = get_int(data, at)
    task = StoredTask(id or _derived_id(node, triggers, home), node, path, triggers, run_id, attempt)
    task.finished = bool(flags & _FINISHED)
    count, at = get_int(data, at)
    writes = []
    for _ in range(count):
        number, at = get_int(data, at)
        ref, at = get_ref(data, at, pointed)
        writes.append((names.name(number), ref))
    task.writes = tuple(writes)
    if flags & _ERROR:
        task.error, at = get_bytes(data, at)
    if flags & _INTERRUPTS:
        task.interrupts, at = get_bytes(data, at)
    if flags & _ANSWERS:
        task.answers, at = get_bytes(data, at)
    if flags & _CHILDREN:
        children, at = get_bytes(data, at)
        task.children = unpack_children(children)
    return task, at


def _get_names(data: bytes, at: int, names: Names) -> tuple[tuple[str, ...], int]:
    count, at = get_int(data, at)
    found = []
    for _ in range(count):
        number, at = get_int(data, at)
        found.append(names.name(number))
    return tuple(found), at


def pack_tasks(
    tasks: Iterable[StoredTask], names: Names, run: Callable[[str], int], home: Home = NOWHERE
) -> bytes | None:
    """The bytes of some records; None when there are none."""
    listed = list(tasks)
    if not listed:
        return None
    out = bytearray()
    put_int(out, len(listed))
    for task in listed:
        put_task(out, task, names, run, home)
    return bytes(out)


def unpack_tasks(
    data: bytes | None,
    names: Names,
    run: Callable[[int], str],
    pointed: Pointed,
    home: Home = NOWHERE,
) -> tuple[StoredTask, ...]:
    """Records that `pack_tasks` wrote."""
    if data is None:
        return ()
    count, at = get_int(data, 0)
    tasks = []
    for _ in range(count):
        task, at = get_task(data, at, names, run, pointed, home)
        tasks.append(task)
    return tuple(tasks)
