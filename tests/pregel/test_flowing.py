"""The chunks that `astream` gives, and how they end with the loop that they were read on."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from stepwell.checkpoint.memory import InMemorySaver
from stepwell.errors import GraphError
from stepwell.pregel.flowing import Chunks, Source
from tests.specs.given import cfg, chain

HALF_READ = """
import asyncio, sys
from stepwell.checkpoint.memory import InMemorySaver
from tests.specs.given import cfg, chain, side_by_side

sys.stderr = sys.stdout  # what asyncio logs, and what is told of exceptions that nobody takes

async def quick(state):
    return {"log": ["quick"]}

async def slow(state):
    await asyncio.sleep(0 if sys.argv[2] == "quick" else 60)
    return {"log": ["slow"]}

saver = InMemorySaver()
make = chain if sys.argv[2] == "quick" else side_by_side
graph = make({"a": quick, "b": slow, "c": quick}, saver)
kept = []

async def main():
    stream = graph.astream({"log": []}, cfg(), stream_mode=["updates", "custom"])
    if sys.argv[1] == "kept":
        kept.append(stream)
        await anext(stream)
    else:
        async for chunk in stream:
            break
    del stream


if sys.argv[3] == "run":
    asyncio.run(main())
else:
    loop = asyncio.new_event_loop()
    loop.run_until_complete(main())
    loop.run_until_complete(asyncio.sleep(0.1))  # a stream that was dropped is closed by a task of the loop's own
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
"""


class DescribeALoopThatEndsWithAHalfReadStream:
    @pytest.mark.parametrize("ends", ["run", "by hand"])
    @pytest.mark.parametrize("work", ["quick", "slow"])
    @pytest.mark.parametrize("reader", ["kept", "dropped"])
    def test_logs_nothing(self, proc, reader, work, ends):
        assert proc(HALF_READ, reader, work, ends) == ""


def source_of(*chunks: Any, closed: list[str] | None = None, shaped: Any = None) -> Source:
    async def flow() -> Any:
        try:
            for chunk in chunks:
                yield chunk
        finally:
            if closed is not None:
                closed.append("closed")

    return Source(flow(), lambda chunk: chunk[0] != "unwanted", shaped or (lambda name, value: {name: value}))


class DescribeChunks:
    async def test_are_those_that_are_wanted_in_the_shape_that_was_asked_for(self):
        chunks = Chunks(lambda: source_of(("a", 1), ("unwanted", 2), ("b", 3)))

        assert [chunk async for chunk in chunks] == [{"a": 1}, {"b": 3}]
        assert [chunk async for chunk in chunks] == []

    async def test_begin_the_run_with_the_first_that_is_asked_for(self):
        begun = []
        chunks = Chunks(lambda: begun.append(1) or source_of(("a", 1), ("b", 2)))

        assert begun == []
        assert await anext(chunks) == {"a": 1} and await chunks.asend("nothing it takes") == {"b": 2}
        assert begun == [1]

    async def test_that_are_closed_before_the_first_begin_no_run(self):
        chunks = Chunks(lambda: pytest.fail("a run began"))

        await chunks.aclose()

        assert [chunk async for chunk in chunks] == []

    async def test_of_a_call_that_is_refused_end_with_the_error(self):
        def begin() -> Source:
            raise GraphError("no such mode")

        chunks = Chunks(begin)

        with pytest.raises(GraphError, match="no such mode"):
            await anext(chunks)
        assert [chunk async for chunk in chunks] == []

    async def test_stop_the_run_when_they_are_closed(self):
        closed: list[str] = []
        async with aclosing(Chunks(lambda: source_of(("a", 1), ("b", 2), closed=closed))) as chunks:
            await anext(chunks)

        assert closed == ["closed"] and [chunk async for chunk in chunks] == []

    async def test_stop_the_run_when_one_cannot_be_handed_out(self):
        closed: list[str] = []

        def shaped(name: str, value: Any) -> Any:
            raise ValueError("no shape")

        with pytest.raises(ValueError, match="no shape"):
            await anext(Chunks(lambda: source_of(("a", 1), closed=closed, shaped=shaped)))
        assert closed == ["closed"]

    async def test_stop_the_run_when_an_error_is_thrown_in(self):
        closed: list[str] = []
        chunks = Chunks(lambda: source_of(("a", 1), ("b", 2), closed=closed))
        await anext(chunks)

        with pytest.raises(KeyError):
            await chunks.athrow(KeyError("mine"))
        assert closed == ["closed"]


async def test_a_stream_that_is_broken_off_gives_its_thread_back():
    graph = chain("abc", InMemorySaver())

    async with aclosing(graph.astream({"log": []}, cfg(), stream_mode="updates")) as stream:
        assert await anext(stream) == {"a": {"log": ["a"]}}

    assert (await graph.aget_state(cfg())).next == ("b",)
    assert (await graph.ainvoke(None, cfg())) == {"log": ["a", "b", "c"]}
