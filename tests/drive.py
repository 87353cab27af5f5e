"""One face over the sync and the async methods, so that a behaviour is described once and run by both drivers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

PATIENCE_S = 20.0
"""How long a test waits for something that must come, before it fails."""


class Running:
    """A call that was started and runs beside the test."""

    def __init__(self, future: Future[Any], cancel: Callable[[], None] | None = None) -> None:
        self._future, self._cancel = future, cancel

    def result(self) -> Any:
        """What the call returned; raises what it raised, CancelledError when it was cancelled."""
        return self._future.result(PATIENCE_S)

    def error(self) -> BaseException | None:
        """What the call raised, None when it returned."""
        return self._future.exception(PATIENCE_S)

    def done(self) -> bool:
        return self._future.done()

    def cancel(self) -> None:
        """Cancels the call; only the async driver can."""
        assert self._cancel is not None, "a thread cannot be cancelled"
        self._cancel()


class Drive:
    """The calls the specifications make. `call` and `each` reach any other method by its sync name."""

    name = ""
    is_async = False

    def call(self, owner: Any, method: str, *args: Any, **options: Any) -> Any:
        raise NotImplementedError

    def each(self, owner: Any, method: str, *args: Any, **options: Any) -> list[Any]:
        raise NotImplementedError

    def take(self, count: int, owner: Any, method: str, *args: Any, **options: Any) -> list[Any]:
        raise NotImplementedError

    def start(self, owner: Any, method: str, *args: Any, **options: Any) -> Running:
        raise NotImplementedError

    def node(self, function: Callable[..., Any]) -> Callable[..., Any]:
        raise NotImplementedError

    def invoke(self, graph: Any, *args: Any, **options: Any) -> Any:
        return self.call(graph, "invoke", *args, **options)

    def stream(self, graph: Any, *args: Any, **options: Any) -> list[Any]:
        return self.each(graph, "stream", *args, **options)

    def get_state(self, graph: Any, *args: Any, **options: Any) -> Any:
        return self.call(graph, "get_state", *args, **options)

    def update_state(self, graph: Any, *args: Any, **options: Any) -> Any:
        return self.call(graph, "update_state", *args, **options)

    def bulk_update_state(self, graph: Any, *args: Any, **options: Any) -> Any:
        return self.call(graph, "bulk_update_state", *args, **options)

    def history(self, graph: Any, *args: Any, **options: Any) -> list[Any]:
        return self.each(graph, "get_state_history", *args, **options)

    def get_tuple(self, saver: Any, config: Any) -> Any:
        return self.call(saver, "get_tuple", config)

    def list(self, saver: Any, *args: Any, **options: Any) -> list[Any]:
        return self.each(saver, "list", *args, **options)

    def close(self) -> None:
        """Ends what the driver runs on."""


class SyncDrive(Drive):
    """Calls the sync methods in the test's own thread."""

    name = "sync"

    def call(self, owner: Any, method: str, *args: Any, **options: Any) -> Any:
        return getattr(owner, method)(*args, **options)

    def each(self, owner: Any, method: str, *args: Any, **options: Any) -> list[Any]:
        return list(getattr(owner, method)(*args, **options))

    def take(self, count: int, owner: Any, method: str, *args: Any, **options: Any) -> list[Any]:
        """The first `count` items; then the iterator is closed."""
        iterator = iter(getattr(owner, method)(*args, **options))
        taken = [next(iterator) for _ in range(count)]
        iterator.close()
        return taken

    def start(self, owner: Any, method: str, *args: Any, **options: Any) -> Running:
        future: Future[Any] = Future()

        def work() -> None:
            try:
                answer = getattr(owner, method)(*args, **options)
                future.set_result(answer if method != "stream" else list(answer))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=work, daemon=True).start()
        return Running(future)

    def node(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function


class AsyncDrive(Drive):
    """Calls the a-methods on an event loop that runs in a thread of its own."""

    name = "async"
    is_async = True

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def call(self, owner: Any, method: str, *args: Any, **options: Any) -> Any:
        return self.wait(getattr(owner, f"a{method}")(*args, **options))

    def each(self, owner: Any, method: str, *args: Any, **options: Any) -> list[Any]:
        async def collect() -> list[Any]:
            return [item async for item in getattr(owner, f"a{method}")(*args, **options)]

        return self.wait(collect())

    def take(self, count: int, owner: Any, method: str, *args: Any, **options: Any) -> list[Any]:
        """The first `count` items; then the iterator is closed."""

        async def collect() -> list[Any]:
            iterator = getattr(owner, f"a{method}")(*args, **options)
            taken = [await anext(iterator) for _ in range(count)]
            await iterator.aclose()
            return taken

        return self.wait(collect())

    def start(self, owner: Any, method: str, *args: Any, **options: Any) -> Running:
        tasks: list[asyncio.Task[Any]] = []

        async def work() -> Any:
            tasks.append(asyncio.current_task())  # type: ignore[arg-type]
            answer = getattr(owner, f"a{method}")(*args, **options)
            return [item async for item in answer] if method == "stream" else await answer

        future = asyncio.run_coroutine_threadsafe(work(), self.loop)
        return Running(future, lambda: self.loop.call_soon_threadsafe(lambda: tasks[0].cancel()) and None)

    def node(self, function: Callable[..., Any]) -> Callable[..., Any]:
        async def node(*args: Any, **options: Any) -> Any:
            return function(*args, **options)

        node.__name__ = function.__name__
        return node

    def wait(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """The result of a coroutine run on the loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(PATIENCE_S)

    def close(self) -> None:
        async def finish() -> None:
            await self.loop.shutdown_asyncgens()
            await self.loop.shutdown_default_executor()

        self.wait(finish())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE_S)
        self.loop.close()
