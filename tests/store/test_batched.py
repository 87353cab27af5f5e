"""A store of your own: what BaseStore and AsyncBatchedBaseStore ask for and give."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from typing import Any

import pytest

from stepwell.errors import InvalidNamespaceError, StepwellError
from stepwell.store.base import BaseStore, Item, Op, PutOp, Result
from stepwell.store.base.batch import AsyncBatchedBaseStore
from stepwell.store.memory import InMemoryStore

NS = ("n",)


class Remote(AsyncBatchedBaseStore):
    """A store that counts the batches it is asked for."""

    supports_ttl = True

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__()
        self.inner = InMemoryStore()
        self.batches: list[list[Op]] = []
        self.fails = fails

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        asked = list(ops)
        self.batches.append(asked)
        if self.fails:
            raise ConnectionError("the line is dead")
        return await self.inner.abatch(asked)


class DescribeAnAsyncBatchedStore:
    async def test_takes_the_calls_of_one_turn_as_one_batch(self) -> None:
        store = Remote()

        await asyncio.gather(*(store.aput(NS, str(n), {"n": n}) for n in range(5)))

        assert [len(batch) for batch in store.batches] == [5]

    async def test_has_all_the_calls_of_a_store(self) -> None:
        store = Remote()

        await store.aput(NS, "k", {"a": 1})
        item = await store.aget(NS, "k")
        found = await store.asearch(NS, filter={"a": 1})
        namespaces = await store.alist_namespaces(prefix=("n",), suffix=("n",))
        await store.adelete(NS, "k")

        assert isinstance(item, Item) and [hit.key for hit in found] == ["k"] and namespaces == [NS]
        assert await store.aget(NS, "k") is None

    async def test_sees_what_the_same_caller_put_before(self) -> None:
        store = Remote()

        async def caller(number: int) -> Any:
            await store.aput(NS, str(number), {"n": number})
            return await store.aget(NS, str(number))

        assert [item.value["n"] for item in await asyncio.gather(*(caller(n) for n in range(3)))] == [0, 1, 2]

    async def test_fails_a_wrong_call_alone(self) -> None:
        store = Remote()

        answers = await asyncio.gather(store.aput((), "k", {}), store.aput(NS, "k", {}), return_exceptions=True)

        assert isinstance(answers[0], InvalidNamespaceError) and answers[1] is None

    async def test_hands_an_error_to_every_caller_of_the_batch(self) -> None:
        store = Remote(fails=True)

        answers = await asyncio.gather(store.aget(NS, "k"), store.aget(NS, "l"), return_exceptions=True)

        assert [type(answer) for answer in answers] == [ConnectionError, ConnectionError]

    async def test_goes_on_when_a_caller_was_cancelled(self) -> None:
        store = Remote()
        gone = asyncio.ensure_future(store.aput(NS, "gone", {}))
        await asyncio.sleep(0)

        gone.cancel()
        await store.aput(NS, "k", {})

        assert [item.key for item in await store.asearch(NS)] == ["k"]

    async def test_refuses_a_sync_call_in_the_thread_of_its_loop(self) -> None:
        with pytest.raises(StepwellError, match="await store"):
            Remote().get(NS, "k")

    async def test_serves_sync_calls_of_other_threads_in_its_loop(self) -> None:
        store = Remote()
        await store.aput(NS, "k", {"a": 1})

        item = await asyncio.to_thread(store.get, NS, "k")

        assert item is not None and item.value == {"a": 1}

    def test_serves_sync_calls_where_no_loop_runs(self) -> None:
        store = Remote()

        store.put(NS, "k", {"a": 1})

        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append(store.get(NS, "k")))
        thread.start()
        thread.join()
        assert found[0].value == {"a": 1}


class DescribeTheNamesOfStores:
    def test_include_the_batched_one(self) -> None:
        from stepwell.store import base

        assert base.AsyncBatchedBaseStore is AsyncBatchedBaseStore
        assert not hasattr(base, "Nothing")
        assert not base.NOT_PROVIDED and repr(base.NOT_PROVIDED) == "NOT_PROVIDED"


class DescribeAStoreWithoutTtl:
    def test_refuses_one(self) -> None:
        class Plain(BaseStore):
            def batch(self, ops: Iterable[Op]) -> list[Result]:
                return [None for _ in ops]

            async def abatch(self, ops: Iterable[Op]) -> list[Result]:
                return self.batch(ops)

        Plain().put(NS, "k", {})
        with pytest.raises(NotImplementedError, match="Plain cannot let items expire"):
            Plain().put(NS, "k", {}, ttl=1)


class DescribeAStoreThatAnswersNothingToPuts:
    async def test_may_do_so(self) -> None:
        class Curt(BaseStore):
            def batch(self, ops: Iterable[Op]) -> list[Result]:
                return []

            async def abatch(self, ops: Iterable[Op]) -> list[Result]:
                return self.batch(ops)

        await Curt().aput(NS, "k", {})
        await Curt().adelete(NS, "k")

    async def test_may_do_so_in_batches(self) -> None:
        class Curt(AsyncBatchedBaseStore):
            async def abatch(self, ops: Iterable[Op]) -> list[Result]:
                return []

        await asyncio.wait_for(asyncio.gather(Curt().aput(NS, "k", {}), Curt().adelete(NS, "l")), 5)

    async def test_is_told_so_where_others_wait_for_an_answer(self) -> None:
        class Miscounting(AsyncBatchedBaseStore):
            async def abatch(self, ops: Iterable[Op]) -> list[Result]:
                return [None]

        store = Miscounting()
        asked = asyncio.gather(store.aput(NS, "k", {}), store.aget(NS, "k"), return_exceptions=True)
        answers = await asyncio.wait_for(asked, 5)

        assert [type(answer) for answer in answers] == [StepwellError, StepwellError]
        assert "was given 2 operations and answered 1" in str(answers[0])


class DescribeAMemoryStoreNobodySweeps:
    def test_does_not_keep_what_has_expired_for_ever(self) -> None:
        now = [0.0]
        store = InMemoryStore(clock=lambda: now[0])
        for number in range(5000):
            now[0] += 61
            store.batch([PutOp(("t", str(number)), "k", {}, ttl=1)])

        assert len(store._rows) < 1100 and len(store._below) < 1200
