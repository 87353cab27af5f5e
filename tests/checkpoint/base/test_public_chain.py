"""Driving a saver through its public methods only."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from stepwell.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from stepwell.checkpoint.base.public_chain import PublicChain
from stepwell.checkpoint.chain_of import chain_of
from stepwell.checkpoint.memory import InMemorySaver
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import StaleRunError, ThreadBusyError, UnstorableTypeError
from stepwell.graph import END, START, StateGraph
from stepwell.saves import At, Commit, Fence, LeaseWish
from stepwell.types import Command, interrupt

CONFIG: Any = {"configurable": {"thread_id": "t"}}


class Toy(BaseCheckpointSaver):
    """A saver of another maker: it keeps the very objects it gets, and its versions are text."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str, str], CheckpointTuple] = {}
        self.calls: list[str] = []

    def get_next_version(self, current: Any, channel: Any) -> str:
        return f"{int(current or 0) + 1:08}"

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        self.calls.append("get_tuple")
        at = config["configurable"]
        ids = sorted(id for thread, ns, id in self.kept if (thread, ns) == (at["thread_id"], at["checkpoint_ns"]))
        id = at.get("checkpoint_id") or (ids[-1] if ids else "")
        return self.kept.get((at["thread_id"], at["checkpoint_ns"], id))

    def list(
        self, config: Any, *, filter: Any = None, before: Any = None, limit: Any = None
    ) -> Iterator[CheckpointTuple]:
        at = config["configurable"]
        bound = before["configurable"]["checkpoint_id"] if before else "~"
        ordered = sorted(self.kept.items(), key=lambda pair: pair[0][2], reverse=True)
        found = [
            kept
            for (thread, ns, id), kept in ordered
            if thread == at["thread_id"] and at.get("checkpoint_ns", ns) == ns and id < bound
        ]
        yield from found[:limit]

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        self.calls.append("put")
        at = config["configurable"]
        made = {"configurable": {**at, "checkpoint_id": checkpoint["id"]}}
        parent = config if "checkpoint_id" in at else None
        self.kept[at["thread_id"], at["checkpoint_ns"], checkpoint["id"]] = CheckpointTuple(
            made, checkpoint, metadata, parent, []
        )
        return made

    def put_writes(self, config: Any, writes: Any, task_id: str) -> None:  # older savers have no place for the path
        self.calls.append("put_writes")
        at = config["configurable"]
        rows = self.kept[at["thread_id"], at["checkpoint_ns"], at["checkpoint_id"]].pending_writes
        assert rows is not None
        rows[:] = [row for row in rows if row[0] != task_id] + [(task_id, *write) for write in writes]

    def delete_thread(self, thread_id: str) -> None:
        for key in [key for key in self.kept if key[0] == thread_id]:
            del self.kept[key]


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    n: int


def say(text: str) -> Any:
    return lambda state: {"log": [text]}


def chain_graph(saver: Any, **nodes: Any) -> Any:
    graph = StateGraph(State)
    for name, node in nodes.items():
        graph.add_node(name, node)
    for before, after in zip([START, *nodes], [*nodes, END], strict=True):
        graph.add_edge(before, after)
    return graph.compile(checkpointer=saver)


@pytest.fixture(params=["toy", "memory", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Savers that are driven through their public methods: another maker's, and built-in ones with an override."""
    if request.param == "toy":
        yield Toy()
    elif request.param == "memory":
        yield Overridden()
    else:
        with OverriddenSqlite(tmp_path / "x.db") as made:
            yield made


class Recording:
    """Notes the public calls."""

    calls: list[str]

    def get_tuple(self, config: Any) -> Any:
        vars(self).setdefault("calls", []).append("get_tuple")
        return super().get_tuple(config)  # type: ignore[misc]  # a mixin

    def put(self, *args: Any) -> Any:
        vars(self).setdefault("calls", []).append("put")
        return super().put(*args)  # type: ignore[misc]  # a mixin

    def put_writes(self, *args: Any) -> Any:
        vars(self).setdefault("calls", []).append("put_writes")
        return super().put_writes(*args)  # type: ignore[misc]  # a mixin


class Overridden(Recording, InMemorySaver):
    pass


class OverriddenSqlite(Recording, SqliteSaver):
    pass


class DescribeTheWayASaverIsDriven:
    def test_is_its_own_chain_when_nothing_was_changed(self) -> None:
        saver = InMemorySaver()

        assert chain_of(saver) is saver.chain

    def test_is_its_public_methods_when_a_class_or_an_object_changed_them(self) -> None:
        saver = InMemorySaver()
        saver.put = lambda *args: None  # type: ignore[method-assign,assignment]  # what the test is about

        assert isinstance(chain_of(saver), PublicChain)
        assert isinstance(chain_of(Overridden()), PublicChain)
        assert isinstance(chain_of(Toy()), PublicChain)

    def test_is_its_own_chain_for_a_subclass_that_changes_something_else(self) -> None:
        class Named(InMemorySaver):
            name = "mine"

        assert not isinstance(chain_of(Named()), PublicChain)


@pytest.mark.claim("A-33", "A-34", "A-50")
class DescribeARun:
    def test_reads_first_and_then_files_writes_and_puts_step_by_step(self, saver: Any) -> None:
        chain_graph(saver, a=say("a")).invoke({"log": ["in"]}, CONFIG)

        assert saver.calls == ["get_tuple", "put", "put_writes", "put", "put_writes", "put"]

    def test_files_writes_where_the_tasks_ran(self, saver: Any) -> None:
        chain_graph(saver, a=say("a")).invoke({"log": ["in"]}, CONFIG)

        found = list(saver.list({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}))
        assert [[row[1:] for row in one.pending_writes] for one in found] == [
            [],
            [("log", ["a"])],
            [("log", ["in"]), ("branch:to:a", None)],
        ]

    def test_goes_on_where_the_last_one_ended(self, saver: Any) -> None:
        app = chain_graph(saver, a=say("a"))
        app.invoke({"log": ["1"]}, CONFIG)

        assert app.invoke({"log": ["2"]}, CONFIG)["log"] == ["1", "a", "2", "a"]
        assert [one.metadata["step"] for one in app.get_state_history(CONFIG)] == [4, 3, 2, 1, 0, -1]

    async def test_is_the_same_async(self, saver: Any) -> None:
        app = chain_graph(saver, a=say("a"))
        await app.ainvoke({"log": ["1"]}, CONFIG)
        await app.ainvoke({"log": ["2"]}, CONFIG)

        assert (await app.aget_state(CONFIG)).values == {"log": ["1", "a", "2", "a"]}
        assert len([one async for one in app.aget_state_history(CONFIG)]) == 6

    def test_stores_what_a_node_returned_not_what_it_did_with_it_later(self, saver: Any) -> None:
        mine: list[str] = ["mine"]

        def keeps(state: State) -> Any:
            return {"log": mine}

        def spoils(state: State) -> Any:
            mine.append("spoilt")
            return {"n": 1}

        app = chain_graph(saver, keeps=keeps, spoils=spoils)
        app.invoke({"log": []}, CONFIG)

        assert app.get_state(CONFIG).values["log"] == ["mine"]

    def test_can_ask_and_be_answered(self, saver: Any) -> None:
        app = chain_graph(saver, ask=lambda state: {"log": [interrupt("one?"), interrupt("two?")]})
        app.invoke({"log": []}, CONFIG)
        assert [question.value for question in app.get_state(CONFIG).interrupts] == ["one?"]

        app.invoke(Command(resume="1"), CONFIG)
        assert [question.value for question in app.get_state(CONFIG).interrupts] == ["two?"]

        assert app.invoke(Command(resume="2"), CONFIG)["log"] == ["1", "2"]

    def test_that_failed_goes_on_without_what_was_done(self, saver: Any) -> None:
        ran: list[str] = []
        broken = [True]

        def good(state: State) -> Any:
            ran.append("good")
            return {"log": ["good"]}

        def bad(state: State) -> Any:
            ran.append("bad")
            if broken:
                raise ValueError("no")
            return {"log": ["bad"]}

        graph = StateGraph(State)
        for name, node in (("bad", bad), ("good", good)):
            graph.add_node(name, node)
            graph.add_edge(START, name)
        app = graph.compile(checkpointer=saver)
        with pytest.raises(ValueError, match="no"):
            app.invoke({"log": []}, CONFIG)
        assert app.get_state(CONFIG).next == ("bad",)
        broken.clear()

        assert sorted(app.invoke(None, CONFIG)["log"]) == ["bad", "good"]
        assert ran.count("good") == 1

    def test_can_be_forked_from_an_old_checkpoint(self, saver: Any) -> None:
        app = chain_graph(saver, a=say("a"), b=say("b"))
        app.invoke({"log": ["1"]}, CONFIG)
        old = next(one for one in app.get_state_history(CONFIG) if one.next == ("b",))

        assert app.invoke({"log": ["other"]}, old.config)["log"] == ["1", "a", "other", "a", "b"]
        assert app.get_state(old.config).values == {"log": ["1", "a"]}

    def test_refuses_what_cannot_be_stored(self, saver: Any) -> None:
        app = chain_graph(saver, a=lambda state: {"log": [open]})

        with pytest.raises(UnstorableTypeError, match="log"):
            app.invoke({"log": []}, CONFIG)


class DescribeItsLease:
    @staticmethod
    def take(chain: PublicChain, run: str, wait_s: float = 0) -> Fence:
        loaded = chain.perform(chain.load(At("t"), lease=LeaseWish(run, wait_s)))
        assert loaded is not None and loaded.fence is not None
        return loaded.fence

    def test_keeps_a_second_run_out(self, saver: Any) -> None:
        one, other = PublicChain(saver, getattr(saver, "chain", None)), chain_of(saver)
        fence = self.take(one, "first")

        with pytest.raises(ThreadBusyError, match="run first"):
            self.take(other, "second")  # type: ignore[arg-type]  # it is a PublicChain
        one.perform(one.beat(fence))
        one.perform(one.release(fence))
        assert self.take(other, "second").run == "second"  # type: ignore[arg-type]  # as above

    def test_is_checked_by_every_commit(self, saver: Any) -> None:
        chain: Any = chain_of(saver)
        loaded = chain.perform(chain.load(At("t"), lease=LeaseWish("old", 0)))
        staged = chain.stage(first_commit(loaded.base))
        chain.perform(chain.release(loaded.fence))
        self.take(chain, "new")

        with pytest.raises(StaleRunError):
            chain.perform(chain.commit([staged], loaded.fence))
        assert saver.get_tuple({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}) is None

    def test_is_given_back_when_the_saver_fails_to_load(self, saver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        chain: Any = chain_of(saver)

        def fails(config: Any) -> Any:
            raise OSError("gone")

        with monkeypatch.context() as patch:
            patch.setattr(saver, "get_tuple", fails)
            with pytest.raises(OSError, match="gone"):
                chain.perform(chain.load(At("t"), lease=LeaseWish("first", 0)))

        assert self.take(chain, "second").run == "second"

    async def test_is_given_back_when_the_caller_is_cancelled_while_it_loads(self, saver: Any) -> None:
        chain: Any = chain_of(saver)
        reading = asyncio.Event()

        async def slow(config: Any) -> Any:
            reading.set()
            await asyncio.sleep(60)

        saver.aget_tuple = slow
        loading = asyncio.ensure_future(chain.aperform(chain.load(At("t"), lease=LeaseWish("first", 0))))
        await reading.wait()
        loading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await loading
        del saver.aget_tuple

        assert (await chain.aperform(chain.load(At("t"), lease=LeaseWish("second", 0)))).fence.run == "second"


def first_commit(base: Any) -> Commit:
    return Commit(
        at=At("t"), id="019a0000-0000-7000-8000-000000000000", step=-1, source="input", ts="", run="old", base=base,
        lent=None, changed={"log": ["x"]}, dropped=frozenset(), versions={"log": 1 << 20}, seen={}, pure=frozenset(),
        tasks=(), next=("a",), metadata={"source": "input", "step": -1},
    )  # fmt: skip
