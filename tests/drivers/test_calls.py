"""Calls of a @task: what a call stored is durable before its result is handed out."""

from __future__ import annotations

from typing import Any

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.func import entrypoint, task
from stepwell.sql.query import Pause

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "t"}}


@task
def doubled(n: int) -> int:
    return 2 * n


@task
async def adoubled(n: int) -> int:
    return 2 * n


@pytest.fixture
def stored(tmp_path):
    """A saver that takes its time to store what tasks did; and what it has stored so far."""
    with SqliteSaver(tmp_path / "x.db") as saver:
        save, done = saver.chain.save_writes, []

        def slowly(staged, fence):
            yield Pause(0.05)
            yield from save(staged, fence)
            done.append(staged)

        saver.chain.save_writes = slowly
        yield saver, done


class DescribeACallWhileStepsAreStoredInTheBackground:
    def test_from_a_thread(self, stored):
        saver, done = stored

        @entrypoint(checkpointer=saver)
        def work(n: int) -> tuple[int, int]:
            return doubled(n).result(), len(done)

        assert work.invoke(2, CONFIG, durability="async") == (4, 1)

    @pytest.mark.parametrize("call", [doubled, adoubled])
    async def test_from_a_coroutine(self, stored, call):
        saver, done = stored

        @entrypoint(checkpointer=saver)
        async def work(n: int) -> tuple[int, int]:
            return await call(n), len(done)

        assert await work.ainvoke(2, CONFIG, durability="async") == (4, 1)

    @pytest.mark.parametrize("call", [doubled, adoubled])
    async def test_from_a_thread_of_an_async_run(self, stored, call):
        saver, done = stored

        @entrypoint(checkpointer=saver)
        def work(n: int) -> tuple[int, int]:
            return call(n).result(), len(done)

        assert await work.ainvoke(2, CONFIG, durability="async") == (4, 1)
