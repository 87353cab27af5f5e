"""What every saver must do, as plain async checks. Makers of savers run them over their own:

    failures = await run_checks(lambda: MySaver(...))
    assert not failures, failures

A factory gives a new, empty saver each time; it may also give an async context manager that yields one. Each check is
an async function of one saver and raises AssertionError. `BASE` is what a graph needs; `EXTENDED` is what only our own
savers and those that say so offer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from stepwell.checkpoint.base.id import uuid6
from stepwell.checkpoint.base.types import Checkpoint, empty_checkpoint
from stepwell.types import ERROR, INTERRUPT

Check = Callable[[Any], Awaitable[None]]


def same(found: Any, wanted: Any, what: str) -> None:
    """AssertionError that says what differs."""
    if found != wanted:
        raise AssertionError(f"{what} is {found!r}, not {wanted!r}")


def config(thread: str = "t", ns: str = "", checkpoint: str | None = None) -> dict[str, Any]:
    """A config that points somewhere."""
    configurable: dict[str, Any] = {"thread_id": thread, "checkpoint_ns": ns}
    if checkpoint is not None:
        configurable["checkpoint_id"] = checkpoint
    return {"configurable": configurable}


def checkpoint(values: dict[str, Any], versions: dict[str, Any] | None = None) -> Checkpoint:
    """A checkpoint with these values, each at version 1 unless said otherwise."""
    made = empty_checkpoint()
    made["channel_values"] = values
    made["channel_versions"] = dict.fromkeys(values, 1) if versions is None else versions
    return made


async def grow(saver: Any, count: int, thread: str = "t", ns: str = "") -> list[dict[str, Any]]:
    """A chain of checkpoints whose list grows by one; the configs, oldest first."""
    made: list[dict[str, Any]] = []
    at = config(thread, ns)
    for step in range(count):
        new = checkpoint({"log": list(range(step + 1))}, {"log": step + 1})
        at = await saver.aput(at, new, {"source": "loop", "step": step}, {"log": step + 1})
        made.append(at)
    return made


async def ids(saver: Any, *args: Any, **options: Any) -> list[str]:
    """The checkpoint ids of a list, as it comes."""
    return [found.checkpoint["id"] async for found in saver.alist(*args, **options)]


# ---------------------------------------------------------------------- what a graph needs


async def an_unknown_thread_has_nothing(saver: Any) -> None:
    same(await saver.aget_tuple(config("never")), None, "get_tuple of an unknown thread")
    same(await ids(saver, config("never")), [], "list of an unknown thread")
    await grow(saver, 1)
    same(await saver.aget_tuple(config(checkpoint=str(uuid6()))), None, "get_tuple of an unknown checkpoint")


async def put_answers_where_the_checkpoint_is(saver: Any) -> None:
    new = checkpoint({"a": 1})
    at = await saver.aput(config(), new, {"source": "input", "step": -1}, {"a": 1})
    same(at["configurable"]["checkpoint_id"], new["id"], "the id that put answers")
    found = await saver.aget_tuple(at)
    same(found.checkpoint["channel_values"], {"a": 1}, "the values")
    same(found.checkpoint["channel_versions"], {"a": 1}, "the versions")
    same(found.checkpoint["ts"], new["ts"], "the time")
    same((found.metadata["source"], found.metadata["step"]), ("input", -1), "the metadata")
    same(found.parent_config, None, "the first checkpoint's parent")


async def the_id_in_the_config_is_the_parent(saver: Any) -> None:
    first, second, third = await grow(saver, 3)
    found = await saver.aget_tuple(third)
    same(found.parent_config["configurable"]["checkpoint_id"], second["configurable"]["checkpoint_id"], "the parent")
    above = await saver.aget_tuple(found.parent_config)
    same(above.parent_config["configurable"]["checkpoint_id"], first["configurable"]["checkpoint_id"], "its parent")


async def the_newest_is_the_greatest_id(saver: Any) -> None:
    made = [checkpoint({"n": n}) for n in range(3)]
    for new in (made[1], made[2], made[0]):
        await saver.aput(config(), new, {"source": "loop", "step": 0}, {"n": 1})
    same((await saver.aget_tuple(config())).checkpoint["id"], made[2]["id"], "the newest")


async def old_checkpoints_keep_their_values(saver: Any) -> None:
    made = await grow(saver, 5)
    for step, at in enumerate(made):
        found = await saver.aget_tuple(at)
        same(found.checkpoint["channel_values"], {"log": list(range(step + 1))}, f"the value at step {step}")


async def a_branch_does_not_touch_the_other(saver: Any) -> None:
    made = await grow(saver, 3)
    other = checkpoint({"log": [0, 1, "other"]}, {"log": 3})
    at = await saver.aput(made[1], other, {"source": "fork", "step": 2}, {"log": 3})
    same((await saver.aget_tuple(at)).checkpoint["channel_values"], {"log": [0, 1, "other"]}, "the new branch")
    same((await saver.aget_tuple(made[2])).checkpoint["channel_values"], {"log": [0, 1, 2]}, "the old branch")


async def a_value_without_a_new_version_stays(saver: Any) -> None:
    first = await saver.aput(config(), checkpoint({"a": 1, "b": [1]}), {"source": "input", "step": 0}, {"a": 1, "b": 1})
    new = checkpoint({"a": 2, "b": [1]}, {"a": 2, "b": 1})
    at = await saver.aput(first, new, {"source": "loop", "step": 1}, {"a": 2})
    same((await saver.aget_tuple(at)).checkpoint["channel_values"], {"a": 2, "b": [1]}, "the values")


async def a_channel_that_is_gone_stays_gone(saver: Any) -> None:
    first = await saver.aput(config(), checkpoint({"a": 1, "b": 1}), {"source": "input", "step": 0}, {"a": 1, "b": 1})
    at = await saver.aput(first, checkpoint({"a": 1}, {"a": 1}), {"source": "loop", "step": 1}, {})
    same((await saver.aget_tuple(at)).checkpoint["channel_values"], {"a": 1}, "the values")


async def the_same_key_again_replaces(saver: Any) -> None:
    new = checkpoint({"a": 1})
    at = await saver.aput(config(), new, {"source": "input", "step": 0}, {"a": 1})
    new["channel_values"] = {"a": 2}
    await saver.aput(config(), new, {"source": "input", "step": 0}, {"a": 1})
    same((await saver.aget_tuple(at)).checkpoint["channel_values"], {"a": 2}, "the value")
    same(len(await ids(saver, config())), 1, "the number of checkpoints")


async def what_was_handed_in_may_be_changed_afterwards(saver: Any) -> None:
    values = {"a": [1]}
    at = await saver.aput(config(), checkpoint(values), {"source": "input", "step": 0}, {"a": 1})
    values["a"].append(2)
    found = await saver.aget_tuple(at)
    same(found.checkpoint["channel_values"], {"a": [1]}, "the stored value")
    found.checkpoint["channel_values"]["a"].append(3)
    found.checkpoint["channel_versions"]["a"] = 9
    again = await saver.aget_tuple(at)
    same(again.checkpoint["channel_values"], {"a": [1]}, "the value read again")
    same(again.checkpoint["channel_versions"], {"a": 1}, "the versions read again")


async def threads_and_namespaces_are_apart(saver: Any) -> None:
    new = checkpoint({"a": 1})
    for thread, ns, value in (("t", "", 1), ("t", "child", 2), ("u", "", 3)):
        new["channel_values"] = {"a": value}
        await saver.aput(config(thread, ns), new, {"source": "input", "step": 0}, {"a": 1})
    for thread, ns, value in (("t", "", 1), ("t", "child", 2), ("u", "", 3)):
        found = await saver.aget_tuple(config(thread, ns, new["id"]))
        same(found.checkpoint["channel_values"], {"a": value}, f"the value in {thread!r}, {ns!r}")
    same(await saver.aget_tuple(config("u", "child", new["id"])), None, "a checkpoint under the wrong thread")


async def thread_ids_are_text_that_nobody_changes(saver: Any) -> None:
    for thread in ("org:user", "小明/对话 1", "x" * 200, "a'b\"c%_\n"):
        at = await saver.aput(config(thread), checkpoint({"a": thread}), {"source": "input", "step": 0}, {"a": 1})
        same(at["configurable"]["thread_id"], thread, "the thread id that put answers")
        same((await saver.aget_tuple(config(thread))).checkpoint["channel_values"], {"a": thread}, "the value")


async def writes_hang_where_their_task_ran(saver: Any) -> None:
    first, second = await grow(saver, 2)
    await saver.aput_writes(first, [("a", 1), ("b", [2])], "task-1", "~x")
    found = await saver.aget_tuple(first)
    same(found.pending_writes, [("task-1", "a", 1), ("task-1", "b", [2])], "the writes")
    same((await saver.aget_tuple(second)).pending_writes or [], [], "the writes of the checkpoint after it")


async def writes_are_filed_once(saver: Any) -> None:
    [at] = await grow(saver, 1)
    await saver.aput_writes(at, [("a", 1)], "task")
    await saver.aput_writes(at, [("a", 2), ("b", 3)], "task")
    same((await saver.aget_tuple(at)).pending_writes, [("task", "a", 1), ("task", "b", 3)], "the writes")


async def writes_of_a_kind_replace(saver: Any) -> None:
    [at] = await grow(saver, 1)
    for text in ("first", "second"):
        await saver.aput_writes(at, [(ERROR, text), (INTERRUPT, text)], "task")
    found = [(channel, value) for _, channel, value in (await saver.aget_tuple(at)).pending_writes]
    same(sorted(found), [(ERROR, "second"), (INTERRUPT, "second")], "error and question")


async def writes_come_by_path_then_task(saver: Any) -> None:
    [at] = await grow(saver, 1)
    for task, path in (("2", "~b"), ("9", "~a"), ("1", "~b")):
        await saver.aput_writes(at, [("x", task)], task, path)
    found = await saver.aget_tuple(at)
    same([task for task, _, _ in found.pending_writes], ["9", "1", "2"], "the order of the tasks")


async def a_list_is_newest_first(saver: Any) -> None:
    made = [at["configurable"]["checkpoint_id"] for at in await grow(saver, 12)]
    same(await ids(saver, config()), made[::-1], "the ids")
    same(await ids(saver, config(), limit=5), made[:-6:-1], "the ids with a limit")
    same(await ids(saver, config(), before=config(checkpoint=made[3])), made[2::-1], "the ids before one")
    same(await ids(saver, config(), limit=0), [], "the ids with limit=0")


async def a_list_can_be_filtered(saver: Any) -> None:
    made = await grow(saver, 4)
    found = await ids(saver, config(), filter={"step": 2})
    same(found, [made[2]["configurable"]["checkpoint_id"]], "the checkpoints of step 2")
    same(await ids(saver, config(), filter={"source": "loop", "step": 9}), [], "those of step 9")
    same(await ids(saver, config(), filter={"no' OR 1=1 --": 1}), [], "those with a key that nobody has")


async def a_list_without_a_namespace_has_all(saver: Any) -> None:
    await grow(saver, 2)
    await grow(saver, 3, ns="child")
    same(len(await ids(saver, {"configurable": {"thread_id": "t"}})), 5, "the number in all namespaces")
    same(len(await ids(saver, config("t", ""))), 2, "the number in the root")
    await grow(saver, 1, thread="u")
    same(len(await ids(saver, None)), 6, "the number in all threads")


async def the_saver_may_be_used_while_it_is_listed(saver: Any) -> None:
    for number in range(6):
        await grow(saver, 1, thread=f"t{number}")
    seen = 0
    async for found in saver.alist(None):
        await saver.aget_tuple(found.config)
        await saver.adelete_thread(found.config["configurable"]["thread_id"])
        seen += 1
    same(seen, 6, "the number of checkpoints listed")


async def a_deleted_thread_leaves_nothing(saver: Any) -> None:
    await grow(saver, 3)
    made = await grow(saver, 3, ns="child")
    await saver.aput_writes(made[-1], [("a", 1)], "task")
    await grow(saver, 1, thread="u")
    await saver.adelete_thread("t")
    same(await ids(saver, {"configurable": {"thread_id": "t"}}), [], "what is left")
    same(await saver.aget_tuple(made[-1]), None, "a checkpoint of its namespace")
    same(len(await ids(saver, config("u"))), 1, "another thread")
    await saver.adelete_thread("never")


BASE: Final[Sequence[Check]] = (
    an_unknown_thread_has_nothing,
    put_answers_where_the_checkpoint_is,
    the_id_in_the_config_is_the_parent,
    the_newest_is_the_greatest_id,
    old_checkpoints_keep_their_values,
    a_branch_does_not_touch_the_other,
    a_value_without_a_new_version_stays,
    a_channel_that_is_gone_stays_gone,
    the_same_key_again_replaces,
    what_was_handed_in_may_be_changed_afterwards,
    threads_and_namespaces_are_apart,
    thread_ids_are_text_that_nobody_changes,
    writes_hang_where_their_task_ran,
    writes_are_filed_once,
    writes_of_a_kind_replace,
    writes_come_by_path_then_task,
    a_list_is_newest_first,
    a_list_can_be_filtered,
    a_list_without_a_namespace_has_all,
    the_saver_may_be_used_while_it_is_listed,
    a_deleted_thread_leaves_nothing,
)


# ---------------------------------------------------------------------- what more a saver may offer


async def prune_keeps_the_newest_of_each_namespace(saver: Any) -> None:
    made = await grow(saver, 5)
    await grow(saver, 3, ns="child")
    await saver.aprune(["t", "never"], strategy="keep_latest")
    same(await ids(saver, config()), [made[-1]["configurable"]["checkpoint_id"]], "what is left in the root")
    same(len(await ids(saver, config(ns="child"))), 1, "what is left in the namespace")
    left = await saver.aget_tuple(config())
    same(left.checkpoint["channel_values"], {"log": [0, 1, 2, 3, 4]}, "the value")
    new = checkpoint({"log": [0, 1, 2, 3, 4, 5]}, {"log": 6})
    at = await saver.aput(left.config, new, {"source": "loop", "step": 5}, {"log": 6})
    same((await saver.aget_tuple(at)).checkpoint["channel_values"], {"log": [0, 1, 2, 3, 4, 5]}, "the value after it")
    await saver.aprune(["t"], strategy="delete")
    same(await ids(saver, {"configurable": {"thread_id": "t"}}), [], "what is left after strategy='delete'")


async def a_copy_is_a_thread_of_its_own(saver: Any) -> None:
    made = await grow(saver, 4)
    await saver.aput_writes(made[-1], [("a", [1])], "task")
    await saver.acopy_thread("t", "copy")
    same(await ids(saver, config("copy")), await ids(saver, config()), "the ids of the copy")
    await saver.adelete_thread("t")
    found = await saver.aget_tuple(config("copy"))
    same(found.checkpoint["channel_values"], {"log": [0, 1, 2, 3]}, "the value of the copy")
    same(found.pending_writes, [("task", "a", [1])], "the writes of the copy")


async def undone_runs_leave_what_was_before(saver: Any) -> None:
    at = config()
    for step, run in enumerate(("r1", "r1", "r2", "r2")):
        new = checkpoint({"log": list(range(step + 1))}, {"log": step + 1})
        at = await saver.aput(at, new, {"source": "loop", "step": step, "run_id": run}, {"log": step + 1})
    await saver.adelete_for_runs(["r2", "never"])
    same((await saver.aget_tuple(config())).checkpoint["channel_values"], {"log": [0, 1]}, "the value")
    same(len(await ids(saver, config())), 2, "the number of checkpoints")
    await saver.adelete_for_runs(["r1"])
    same(await ids(saver, config()), [], "what is left")


EXTENDED: Final[Sequence[Check]] = (
    prune_keeps_the_newest_of_each_namespace,
    a_copy_is_a_thread_of_its_own,
    undone_runs_leave_what_was_before,
)


async def run_checks(factory: Callable[[], Any], checks: Sequence[Check] = BASE) -> list[str]:
    """Every check over a new saver; what went wrong, a line each."""
    failures = []
    for check in checks:
        made = factory()
        try:
            if hasattr(made, "aget_tuple"):
                await check(made)
            else:
                async with made as saver:
                    await check(saver)
        except Exception as error:
            failures.append(f"{check.__name__}: {type(error).__name__}: {error}")
    return failures
