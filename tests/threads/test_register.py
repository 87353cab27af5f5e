"""A thread that is registered before anything is said in it."""

from __future__ import annotations

from stepwell.checkpoint.memory import InMemorySaver
from stepwell.threads import aensure_thread


async def test_a_thread_is_registered_on_the_event_loop_too():
    saver = InMemorySaver()

    await aensure_thread(saver, {"configurable": {"thread_id": "t"}}, {"user": "ada"})

    (row,) = saver.list_threads(status="empty")
    assert (row.thread_id, row.metadata) == ("t", {"user": "ada"})
