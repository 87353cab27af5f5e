"""LangChain's callbacks and tracers for a run: the run is a chain run, each node a chain run below it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackManager, CallbackManager
from langchain_core.callbacks.manager import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun

from stepwell.callbacks import GraphCallbackHandler, GraphInterruptEvent, GraphResumeEvent
from stepwell.config import CALLBACKS_SLOT, config_of, merge_callbacks, offer, withdraw
from stepwell.errors import GraphInterrupt, ParentCommand
from stepwell.pregel.listening import Ears
from stepwell.pregel.messages import MessagesHandler
from stepwell.types import INTERRUPT, NS_SEP

if TYPE_CHECKING:
    from stepwell.engine.run import Run
    from stepwell.engine.task import Task

W = TypeVar("W")


class Callbacks(Ears):
    """Tells callbacks and tracers about one run and its nodes, and gives the models in them somebody to stream to."""

    __slots__ = ("_callbacks", "_chain", "_messages", "_run")

    def __init__(self, run: Run) -> None:
        self._run = run
        self._callbacks = run.config.get("callbacks")
        self._messages = _messages_handler(self._callbacks)
        if self._messages is None and "messages" in run.heard:
            self._messages = MessagesHandler()
            self._callbacks = merge_callbacks(self._callbacks, [self._messages])
        self._chain: Any = None

    # ------------------------------------------------------------------ the run

    def started(self, input: Any) -> None:
        self._chain = self._manager().on_chain_start(None, input, name=self._name, run_id=self._run_id)

    async def astarted(self, input: Any) -> None:
        self._chain = await self._amanager().on_chain_start(None, input, name=self._name, run_id=self._run_id)

    def ended(self, output: Any) -> None:
        if self._chain is not None:
            self._chain.on_chain_end(output)

    async def aended(self, output: Any) -> None:
        if self._chain is not None:
            await self._chain.on_chain_end(output)

    def failed(self, error: BaseException) -> None:
        if self._chain is not None:
            self._chain.on_chain_error(error)

    async def afailed(self, error: BaseException) -> None:
        if self._chain is not None:
            await self._chain.on_chain_error(error)

    def interrupted(self, interrupts: Sequence[Any], status: str = "pending") -> None:
        event = GraphInterruptEvent(*self._place(status), tuple(interrupts))
        for handler in self._graph_handlers():
            _refuse_awaitable(handler, handler.on_interrupt(event))

    async def ainterrupted(self, interrupts: Sequence[Any], status: str = "pending") -> None:
        event = GraphInterruptEvent(*self._place(status), tuple(interrupts))
        for handler in self._graph_handlers():
            await _settled(handler.on_interrupt(event))

    def resumed(self, status: str = "pending") -> None:
        event = GraphResumeEvent(*self._place(status))
        for handler in self._graph_handlers():
            _refuse_awaitable(handler, handler.on_resume(event))

    async def aresumed(self, status: str = "pending") -> None:
        event = GraphResumeEvent(*self._place(status))
        for handler in self._graph_handlers():
            await _settled(handler.on_resume(event))

    # ------------------------------------------------------------------ its nodes

    def around(self, task: Task, body: Callable[[], W]) -> W:
        if task.node.hidden:
            return super().around(task, body)
        messages = self._messages
        shown = _Shown(task)
        manager = self._below(task)
        node = manager.on_chain_start(None, shown.input(), name=task.name)
        task.slots[CALLBACKS_SLOT] = node.get_child("seq:step:1")
        if messages is not None:
            messages.enter(task)
        token = offer(task)
        try:
            writes = body()
            if messages is not None:
                messages.take(task, writes)
        except (GraphInterrupt, ParentCommand) as stop:
            node.on_chain_end(shown.stop(stop))
            raise
        except BaseException as error:
            node.on_chain_error(error)
            raise
        finally:
            withdraw(token)
            if messages is not None:
                messages.leave(task)
        node.on_chain_end(shown.output(writes))
        return writes

    async def aaround(self, task: Task, body: Callable[[], Awaitable[W]]) -> W:
        if task.node.hidden:
            return await super().aaround(task, body)
        messages = self._messages
        shown = _Shown(task)
        manager = self._abelow(task)
        node = await manager.on_chain_start(None, shown.input(), name=task.name)
        task.slots[CALLBACKS_SLOT] = node.get_child("seq:step:1")
        if messages is not None:
            messages.enter(task)
        token = offer(task)
        try:
            writes = await body()
            if messages is not None:
                messages.take(task, writes)
        except (GraphInterrupt, ParentCommand) as stop:
            await node.on_chain_end(shown.stop(stop))
            raise
        except BaseException as error:
            await node.on_chain_error(error)
            raise
        finally:
            withdraw(token)
            if messages is not None:
                messages.leave(task)
        await node.on_chain_end(shown.output(writes))
        return writes

    # ------------------------------------------------------------------ managers

    @property
    def _name(self) -> str:
        return str(self._run.config.get("run_name") or self._run.plan.name)

    @property
    def _run_id(self) -> UUID | None:
        try:
            return UUID(str(self._run.run_id))
        except ValueError:
            return None

    def _manager(self) -> CallbackManager:
        config = self._run.config
        return CallbackManager.configure(
            inheritable_callbacks=self._callbacks,
            inheritable_tags=config.get("tags"),
            inheritable_metadata=self._metadata(),
        )

    def _amanager(self) -> AsyncCallbackManager:
        config = self._run.config
        return AsyncCallbackManager.configure(
            inheritable_callbacks=self._callbacks,
            inheritable_tags=config.get("tags"),
            inheritable_metadata=self._metadata(),
        )

    def _metadata(self) -> dict[str, Any]:
        metadata = dict(self._run.config.get("metadata") or {})
        if self._run.thread_id is not None:
            metadata.setdefault("thread_id", self._run.thread_id)
        return metadata

    def _below(self, task: Task) -> CallbackManager:
        """The manager for one node: what is started with it is a child of the run."""
        chain: CallbackManagerForChainRun | None = self._chain
        return _placed(task, self._manager() if chain is None else chain.get_child())

    def _abelow(self, task: Task) -> AsyncCallbackManager:
        chain: AsyncCallbackManagerForChainRun | None = self._chain
        return _placed(task, self._amanager() if chain is None else chain.get_child())

    def _place(self, status: str) -> tuple[Any, ...]:
        run = self._run
        return self._run_id, status, run.checkpoint_id or "", tuple(run.ns.split(NS_SEP)) if run.ns else ()

    def _graph_handlers(self) -> Iterator[GraphCallbackHandler]:
        source = self._chain if self._chain is not None else self._manager()
        return (handler for handler in source.handlers if isinstance(handler, GraphCallbackHandler))


M = TypeVar("M", CallbackManager, AsyncCallbackManager)


def _placed(task: Task, manager: M) -> M:
    """The manager, saying where in the graph the node is: to its own run by a tag, to all below by metadata."""
    manager.add_tags([f"graph:step:{task.step}"], inherit=False)
    config = config_of(task)
    manager.add_tags([tag for tag in task.node.tags if tag not in manager.tags])
    manager.add_metadata(config["metadata"])
    return manager


class _Shown:
    """What of a node's input and output tracers are shown."""

    __slots__ = ("_task",)

    def __init__(self, task: Task) -> None:
        self._task = task

    def input(self) -> Any:
        policy = self._task.node.trace
        given = self._task.input
        return policy.process_inputs(given) if policy is not None and policy.process_inputs is not None else given

    def output(self, writes: Any) -> Any:
        keys = self._task.run.plan.keys
        output = {channel: value for channel, value in writes if channel in keys}
        return self._processed(output)

    def stop(self, stop: GraphInterrupt | ParentCommand) -> Any:
        """A node that asks, or sends its graph's parent on, did not fail."""
        if isinstance(stop, GraphInterrupt):
            return {INTERRUPT: stop.interrupts}
        return self._processed(stop.command)

    def _processed(self, output: Any) -> Any:
        policy = self._task.node.trace
        return policy.process_outputs(output) if policy is not None and policy.process_outputs is not None else output


def _messages_handler(callbacks: Any) -> MessagesHandler | None:
    """The handler that a run around this one put there."""
    handlers = callbacks if isinstance(callbacks, Sequence) else getattr(callbacks, "handlers", ())
    return next((handler for handler in handlers if isinstance(handler, MessagesHandler)), None)


async def _settled(answer: Any) -> None:
    if inspect.isawaitable(answer):
        await answer


def _refuse_awaitable(handler: GraphCallbackHandler, answer: Any) -> None:
    if inspect.isawaitable(answer):
        close = getattr(answer, "close", None)
        if close is not None:
            close()
        raise TypeError(
            f"{type(handler).__name__}.on_interrupt or on_resume is async, and the graph was called with a sync "
            "method. Call ainvoke() or astream() instead, or make the handler's methods plain functions."
        )
