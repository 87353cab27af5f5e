"""LangChain's callbacks and tracers for a run: the run is a chain run, each node a chain run below it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackManager, BaseCallbackManager, CallbackManager
from langchain_core.callbacks.manager import CallbackManagerForChainRun, handle_event

from stepwell.callbacks import GraphCallbackHandler, GraphInterruptEvent, GraphLifecycleStatus, GraphResumeEvent
from stepwell.config import CALLBACKS_SLOT, CONFIG_SLOT, config_of, merge_callbacks, offer, withdraw
from stepwell.engine.effects import Next, RunStopped
from stepwell.errors import GraphInterrupt, ParentCommand
from stepwell.plan.plan import Writes
from stepwell.pregel.messages import MessagesHandler
from stepwell.pregel.offering import aoffering, offering
from stepwell.pregel.tools import ToolsHandler
from stepwell.types import INTERRUPT, NS_SEP

if TYPE_CHECKING:
    from stepwell.engine.run import Run
    from stepwell.engine.saving import Steps
    from stepwell.engine.task import Task
    from stepwell.types import Interrupt

Questions = tuple["Interrupt", ...] | None
H = TypeVar("H", MessagesHandler, ToolsHandler)


def listening(run: Run, modes: frozenset[str]) -> Listening:
    """What tells callbacks, tracers and readers of `messages` and `tools` about `run`."""
    callbacks = run.config.get("callbacks")
    messages = _handler_of(MessagesHandler, callbacks)
    if messages is None and "messages" in modes:
        messages = MessagesHandler()
        callbacks = merge_callbacks(callbacks, [messages])
    if "tools" in modes and _handler_of(ToolsHandler, callbacks) is None:
        callbacks = merge_callbacks(callbacks, [ToolsHandler()])
    metadata = dict(run.config.get("metadata") or {})
    if run.thread_id is not None:
        metadata.setdefault("thread_id", run.thread_id)
    manager = CallbackManager.configure(
        inheritable_callbacks=callbacks, inheritable_tags=run.config.get("tags"), inheritable_metadata=metadata
    )
    return Listening(manager, messages)


class Listening:
    """Tells callbacks and tracers about one run and its nodes, and gives the models in them somebody to stream to."""

    __slots__ = ("_chain", "_manager", "_messages")

    def __init__(self, manager: CallbackManager, messages: MessagesHandler | None) -> None:
        self._manager = manager
        self._messages = messages
        self._chain: CallbackManagerForChainRun | None = None

    # ------------------------------------------------------------------ the run

    def attend(self, run: Run, input: Any, core: Steps[Questions]) -> Steps[Questions]:
        """The same run, told of: as it begins, goes on, asks, and ends."""
        name = str(run.config.get("run_name") or run.plan.name)
        self._chain = chain = self._manager.on_chain_start(None, input, name=name, run_id=_uuid(run.run_id))
        try:
            questions = yield from self._watched(run, core)
        except GraphInterrupt as stop:
            self._tell_of_questions(run, stop.interrupts)
            chain.on_chain_end({INTERRUPT: stop.interrupts})
            raise
        except ParentCommand as stop:
            chain.on_chain_end(stop.command)
            raise
        except (GeneratorExit, RunStopped):  # whoever read the stream has read enough
            chain.on_chain_end({})
            raise
        except BaseException as error:
            chain.on_chain_error(error)
            raise
        if questions is not None:
            self._tell_of_questions(run, questions)
        chain.on_chain_end(run.output())
        return questions

    def _watched(self, run: Run, core: Steps[Questions]) -> Steps[Questions]:
        if not any(isinstance(handler, GraphCallbackHandler) for handler in self._manager.handlers):
            return (yield from core)
        return (yield from _until_it_works(core, lambda: self._tell_of_going_on(run)))

    def _tell_of_going_on(self, run: Run) -> None:
        if run.resuming:
            self._tell("on_resume", GraphResumeEvent(_uuid(run.run_id), "pending", run.checkpoint_id, _ns(run)))

    def _tell_of_questions(self, run: Run, questions: Sequence[Interrupt]) -> None:
        status: GraphLifecycleStatus = "pending" if questions else _breakpoint(run)
        event = GraphInterruptEvent(_uuid(run.run_id), status, run.checkpoint_id, _ns(run), tuple(questions))
        self._tell("on_interrupt", event)

    def _tell(self, method: str, event: Any) -> None:
        handle_event([h for h in self._manager.handlers if isinstance(h, GraphCallbackHandler)], method, None, event)

    # ------------------------------------------------------------------ its nodes

    def around(self, task: Task, body: Callable[[], Writes]) -> Writes:
        """Carries out the body of a node as a chain run below that of the graph."""
        if task.node.hidden:
            return offering(task, body)
        visit = _Visit(self, task)
        visit.node = self._below(task, CallbackManager).on_chain_start(None, visit.input, name=task.name)
        try:
            with visit:
                visit.writes = body()
        finally:
            visit.tell()
        return visit.writes

    async def aaround(self, task: Task, body: Callable[[], Awaitable[Writes]]) -> Writes:
        """As `around`."""
        if task.node.hidden:
            return await aoffering(task, body)
        visit = _Visit(self, task)
        visit.node = await self._below(task, AsyncCallbackManager).on_chain_start(None, visit.input, name=task.name)
        try:
            with visit:
                visit.writes = await body()
        finally:
            await visit.tell()
        return visit.writes

    def enter(self, task: Task, node: Any) -> Any:
        """Gives what the node runs these callbacks; answers what `leave` wants back."""
        task.slots[CALLBACKS_SLOT] = node.get_child("seq:step:1")
        task.slots.pop(CONFIG_SLOT, None)  # it was built to tell where the node is, without these callbacks
        if self._messages is not None:
            self._messages.enter(task, task.input)
        return offer(task)

    def take(self, task: Task, writes: Writes) -> None:
        """Streams the messages among what a node wrote."""
        if self._messages is not None:
            self._messages.take(task, writes)

    def show(self, task: Task, message: Any) -> None:
        """Streams a message that a node hands over before it ends."""
        if self._messages is not None:
            self._messages.show(task, message)

    def leave(self, task: Task, token: Any) -> None:
        """The node is over."""
        withdraw(token)
        if self._messages is not None:
            self._messages.leave(task)

    def _below(self, task: Task, kind: type[M]) -> M:
        """The manager for one node, saying where in the graph it is: to its own run by a tag, to all by metadata."""
        above = self._manager
        manager = kind(
            handlers=list(above.inheritable_handlers),
            inheritable_handlers=list(above.inheritable_handlers),
            parent_run_id=self._chain.run_id if self._chain is not None else above.parent_run_id,
            tags=list(above.inheritable_tags),
            inheritable_tags=list(above.inheritable_tags),
            metadata=dict(above.inheritable_metadata),
            inheritable_metadata=dict(above.inheritable_metadata),
        )
        manager.add_tags([f"graph:step:{task.step}"], inherit=False)
        manager.add_tags(list(task.node.tags))
        manager.add_metadata(config_of(task)["metadata"])
        return manager


M = TypeVar("M", CallbackManager, AsyncCallbackManager)


class _Visit:
    """One run of a node: what tracers are shown of it, and how it ended."""

    __slots__ = ("_how", "_listening", "_task", "_token", "_what", "node", "writes")

    node: Any
    writes: Writes

    def __init__(self, listening: Listening, task: Task) -> None:
        self._listening = listening
        self._task = task

    @property
    def input(self) -> Any:
        policy = self._task.node.trace
        process = policy.process_inputs if policy is not None else None
        return self._task.input if process is None else process(self._task.input)

    def __enter__(self) -> None:
        self._token = self._listening.enter(self._task, self.node)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            if error is None:
                self._listening.take(self._task, self.writes)
            self._how, self._what = self._ended(error)
        except BaseException as fault:
            self._how, self._what = "on_chain_error", fault
            raise
        finally:
            self._listening.leave(self._task, self._token)

    def tell(self) -> Any:
        """Tells how it ended; to be awaited where the callbacks are async."""
        return getattr(self.node, self._how)(self._what)

    def _ended(self, error: BaseException | None) -> tuple[str, Any]:
        """A node that asks, or sends its graph's parent on, did not fail."""
        if error is None:
            keys = self._task.run.plan.keys
            return "on_chain_end", self._processed({name: value for name, value in self.writes if name in keys})
        if isinstance(error, GraphInterrupt):
            return "on_chain_end", {INTERRUPT: error.interrupts}
        if isinstance(error, ParentCommand):
            return "on_chain_end", self._processed(error.command)
        return "on_chain_error", error

    def _processed(self, output: Any) -> Any:
        policy = self._task.node.trace
        process = policy.process_outputs if policy is not None else None
        return output if process is None else process(output)


def _until_it_works(core: Steps[Questions], tell: Callable[[], None]) -> Steps[Questions]:
    """The same run; `tell` is called once, when its first tasks are about to start."""
    told = False
    try:
        effect = next(core)
        while True:
            if not told and isinstance(effect, Next):
                told = True
                tell()
            try:
                answer = yield effect
            except GeneratorExit:
                core.close()
                raise
            except BaseException as error:
                effect = core.throw(error)
            else:
                effect = core.send(answer)
    except StopIteration as end:
        questions: Questions = end.value
        return questions


def _breakpoint(run: Run) -> GraphLifecycleStatus:
    return "interrupt_before" if run.interrupt_before else "interrupt_after"


def _ns(run: Run) -> tuple[str, ...]:
    return tuple(run.ns.split(NS_SEP)) if run.ns else ()


def _uuid(text: str | None) -> UUID | None:
    try:
        return UUID(str(text))
    except ValueError:
        return None


def _handler_of(kind: type[H], callbacks: Any) -> H | None:
    """The handler of our own that a run around this one put there."""
    handlers = callbacks.handlers if isinstance(callbacks, BaseCallbackManager) else callbacks or ()
    return next((handler for handler in handlers if isinstance(handler, kind)), None)
