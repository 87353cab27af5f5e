"""One execution of one node: what the engine keeps of it, and the handle that its body has on the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import Token
from typing import TYPE_CHECKING, Any

from stepwell.copies import copied
from stepwell.engine.interrupts import Questions
from stepwell.ids import task_id
from stepwell.plan.plan import Node, Writes
from stepwell.saves import TaskRecord
from stepwell.scope import current_task
from stepwell.types import NS_END, NS_SEP

if TYPE_CHECKING:
    from stepwell.engine.run import Run

PULL = "__pregel_pull"
PUSH = "__pregel_push"


class Task:
    """A node to run once in a step; attempts share it. Fields with a default are class attributes: cheap to make."""

    attempt = 1
    error: BaseException | None = None
    writes: Sequence[tuple[str, Any]] = ()
    pushed: tuple[tuple[str, Any], ...] = ()
    cached = False
    done = False  # its result is in `writes`: it ran, was stored, or came from the cache
    started = 0.0
    beat = 0.0
    ended = False  # this attempt's sync body came to its end, in this thread or another
    cancelled = False
    late: Exception | None = None  # the timeout that it ran into, until it has come back
    shown = False  # its end was told to whoever streams
    paused = False  # it, or a graph inside it, waits for a person
    calls = 0  # how many @task calls its body has made so far
    graphs = 0  # how many graphs its body has run so far
    origin: Task | None = None  # the task this one stands in for (error handlers) or was called from (@task)
    record: TaskRecord | None = None  # what was stored of it before
    children: Mapping[str, str] = {}  # namespace of a graph with its own memory inside it → where that stands
    fault: Any = None  # NodeError for an error handler
    post: Callable[[Any], None] | None = None
    _id: str | None = None
    _first: float | None = None
    _questions: Questions | None = None
    _slots: dict[str, Any] | None = None

    def __init__(self, run: Run, node: Node, path: tuple[Any, ...], triggers: tuple[str, ...], arg: Any = None) -> None:
        self.run = run
        self.node = node
        self.name = node.name
        self.path = path
        self.triggers = triggers
        self.arg = arg

    # What identifies it.

    @property
    def id(self) -> str:
        """Stable: the same checkpoint always gives the same ids, so stored results find their task."""
        if self._id is None:
            run = self.run
            self._id = task_id(run.checkpoint_id, run.ns, self.name, run.step, *self.path, *self.triggers)
        return self._id

    @property
    def step(self) -> int:
        """The number of the step it runs in."""
        return self.run.step

    @property
    def ns(self) -> str:
        """The namespace of a graph that runs inside this task."""
        own = f"{self.name}{NS_END}{self.id}"
        return f"{self.run.ns}{NS_SEP}{own}" if self.run.ns else own

    @property
    def slots(self) -> dict[str, Any]:
        """A place for what is built once for this task (its config, its runtime)."""
        if self._slots is None:
            self._slots = {}
        return self._slots

    # What its body runs on.

    @property
    def input(self) -> Any:
        """The node's input, fresh: values as of the step's start, or the argument of the Send."""
        if self.path[0] == PUSH:
            return copied(self.arg)
        node = self.node
        values = self.run.values_for(node)
        for key, manage in node.managed:
            values[key] = manage(self)
        return values if node.build is None else node.build(values)

    @property
    def remaining(self) -> int:
        """How many steps the run may still take, this one included."""
        return self.run.limit - self.run.taken

    @property
    def previous(self) -> Any:
        """What the last run of a functional graph saved for the next."""
        return self.run.previous

    @property
    def finished_now(self) -> bool:
        """Whether it finished in this run, rather than before: then it is not stored yet."""
        return self.done and not (self.record is not None and self.record.finished)

    def read(self, writes: Writes | None = None) -> dict[str, Any]:
        """Fresh copies of all state values, with `writes` of this task applied: what a route looks at."""
        return self.run.values_with(writes or [])

    def perform(self) -> None:
        """Runs the body here, to its end; leaves `writes` or `error`."""
        token = current_task.set(self)
        try:
            around = self.run.around
            run = self.node.run
            if run is None:
                raise TypeError(
                    f"node {self.name!r} is async only, and the graph was called with a sync method. "
                    "Call ainvoke() or astream() instead, or give the node a sync function."
                )
            self.writes = run(self.input, self) if around is None else around(self, lambda: run(self.input, self))
            if self.pushed:
                self.writes = [*self.pushed, *self.writes]
        except BaseException as error:
            self.error = error
        finally:
            current_task.reset(token)
            self._slots = None  # what is built for a body knows its task
            self.ended = True

    async def aperform(self) -> None:
        """`perform` for a node that has an async body."""
        token: Token[Any] | None = current_task.set(self)
        try:
            around = self.run.aaround
            arun = self.node.arun
            assert arun is not None
            self.writes = (
                await arun(self.input, self) if around is None else await around(self, lambda: arun(self.input, self))
            )
            if self.pushed:
                self.writes = [*self.pushed, *self.writes]
        except GeneratorExit:  # the loop was closed with it, which shows in whatever context
            token = None
            raise
        except BaseException as error:
            self.error = error
        finally:
            self._slots = None
            if token is not None:
                try:
                    current_task.reset(token)
                except ValueError:  # closed likewise, by a collector that took what it waited for first
                    raise GeneratorExit from None

    @property
    def first_attempt_time(self) -> float:
        """When its first attempt began to look at the clock, seconds since 1970."""
        if self._first is None:
            self._first = self.run.wall()
        return self._first

    def again(self) -> None:
        """Ready for another attempt: same id, same answers, nothing written."""
        self.first_attempt_time  # noqa: B018  # fixed before the second one
        self.attempt += 1
        self.error = None
        self.writes = ()
        self.calls = self.graphs = 0
        self.cancelled = self.paused = self.ended = False
        self.late = None
        self.pushed = ()
        self._slots = None
        if self._questions is not None:
            self._questions.rewind()

    # What its body may ask of the run.

    @property
    def questions(self) -> Questions:
        """The questions this task asked, and their answers."""
        if self._questions is None:
            self._questions = Questions.of(self.record)
        return self._questions

    @property
    def asked(self) -> bool:
        """Whether it asked something in this attempt that has no answer."""
        return self._questions is not None and bool(self._questions.open)

    def ask(self, value: Any, *, key: str | None = None, response_schema: Any = None) -> Any:
        """The answer to a question; raises GraphInterrupt while there is none."""
        root = self
        while root.origin is not None and root.fault is None:
            root = root.origin
        return root.questions.ask(root, self.path, value, key, response_schema)

    def call(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any) -> Any:
        """Starts a @task from inside this one; answers its future."""
        self.calls += 1
        return self.run.spawn(self, self.calls - 1, func, args, kwargs, options)

    def listens(self, mode: str) -> bool:
        """Whether somebody reads this stream mode."""
        return mode in self.run.heard

    def emit(self, mode: str, payload: Any) -> None:
        """Hands a chunk to whoever reads this stream mode."""
        self.heartbeat()
        if mode in self.run.heard:
            self.run.post(Emitted(self.run.shown_ns, mode, payload))

    def push(self, channel: str, value: Any) -> None:
        """Writes to a channel beside what the body returns, once it ends well."""
        self.pushed = (*self.pushed, (channel, value))

    def heartbeat(self) -> None:
        """A sign of life, for idle timeouts."""
        if self.node.timeout is not None and self.node.timeout.refresh_on == "auto":
            self.beat = self.run.clock()

    def live(self) -> None:
        """A sign of life given on purpose (`runtime.heartbeat()`)."""
        self.beat = self.run.clock()


class Emitted:
    """A chunk that came from inside a task while it ran."""

    __slots__ = ("mode", "ns", "payload")

    def __init__(self, ns: tuple[str, ...], mode: str, payload: Any) -> None:
        self.ns, self.mode, self.payload = ns, mode, payload


def by_path(task: Task) -> tuple[Any, ...]:
    """Sort key: pulls by name, then sends by index, then calls; never by arrival, so a replay folds the same."""
    kind, first, *_ = path = task.path
    if kind == PULL:
        return (0, first)
    return (1, first) if type(first) is int else (2, str(path))
