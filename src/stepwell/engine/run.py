"""What one run knows: what it was asked for, where it stands, and the values it hands out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from stepwell.copies import COPIERS, copied, is_flat
from stepwell.engine.layout import Layout
from stepwell.ids import IdClock
from stepwell.plan.plan import Node, Plan
from stepwell.saves import At, Base, ChainSaver, Fence, LeaseWish, Loaded, TaskRecord
from stepwell.types import MISSING, ROUTE, OnInterrupted, Overwrite

if TYPE_CHECKING:
    from stepwell.engine.task import Emitted, Task


def _nobody(_chunk: Any) -> None:
    """Where chunks go when nobody listens."""


def _none(*_: Any) -> None:
    """Where there is no cache, no key; where there is no saver, nothing unknown."""


def _over(*_: Any) -> None:
    raise RuntimeError("the run is over: a call of a @task was made after it, by a thread or coroutine left behind.")


_NO_STARTS: Final[dict[str, tuple[str, str]]] = {}


class Run:
    """One run of a plan. The first part is what a caller asks for and does not change; the second moves.

    Fields with a default are class attributes, so that making a run costs what it uses.
    """

    # Asked for.
    chain: ChainSaver | None = None
    at: At | None = None
    config: dict[str, Any]
    context: Any = None
    store: Any = None
    cache: Any = None
    control: Any = None
    durability: str = "sync"
    modes: frozenset[str] = frozenset()  # stream modes that this run's own events go to
    heard: frozenset[str] = frozenset()  # stream modes that something inside its tasks may post to
    shown_ns: tuple[str, ...] = ()
    subgraphs: bool = False
    limit: int = 10007
    parent: Task | None = None
    run_id: str = ""
    metadata: Mapping[str, Any] = {}  # what every checkpoint of the run carries
    on_interrupted: OnInterrupted = "raise"
    busy_wait: float = 60.0
    interrupt_before: Sequence[str] | str = ()
    interrupt_after: Sequence[str] | str = ()
    max_concurrency: int | None = None
    output_keys: Any = None  # instead of the plan's, for what a run returns and `values` shows
    starts: dict[str, tuple[str, str]] = _NO_STARTS  # a graph inside → (namespace, checkpoint), until it starts there
    overtaken: bool = False  # others went on from the checkpoint that it stands on
    placed: bool = False  # it starts from a checkpoint that was chosen for it
    grafted: bool = False  # it starts from a checkpoint of another namespace
    entropy: int = 0
    debug: bool = False

    # Hooks of the face and the driver.
    post: Callable[[Emitted], None] = staticmethod(_nobody)
    clock: Callable[[], float]
    wall: Callable[[], float]
    spawn: Callable[..., Any] = staticmethod(_over)
    digest: Callable[[Any], str]
    describe: Callable[[Any], Any]
    check_answer: Callable[[Any, Any, Any], Any]
    around: Callable[..., Any] | None = None
    aaround: Callable[..., Any] | None = None
    cache_key: Callable[[Task], Any] = staticmethod(_none)
    find_unknown: Callable[[Any], Any] = staticmethod(_none)
    require_known: Callable[[Any, str], None] = staticmethod(_none)
    ears: Any = None  # who is told that the run began and ended

    # Moving.
    wish: LeaseWish | None = None  # of the load that takes the thread, until that is back
    fence: Fence | None = None
    base: Base | None = None
    loaded: Loaded | None = None
    ids: IdClock
    checkpoint_id: str = ""
    head: str | None = None
    step: int = -1
    taken: int = 0
    counter: int = 0
    resuming: bool = False
    passing: bool = False  # the next step may pass its breakpoints
    partial: bool = False  # answers came: questions without one are not asked again
    written: Any = None  # the write that its driver began in the background last
    closing: bool = False  # the run is over; what it owes is being written
    previous: Any = None
    low: int = 0  # the bits of a version that tell this run's from those of other branches
    _version: Any = None

    def __init__(self, plan: Plan, layout: Layout, config: dict[str, Any]) -> None:
        self.plan = plan
        self.layout = layout
        self.config = config
        self.cells: dict[str, Any] = {}
        self.versions: dict[str, Any] = {}
        self.seen: dict[str, dict[str, Any]] = {}
        self.inner: set[str] = set()  # cells that are no state keys, as they stand
        self.deep: set[str] = set()  # state keys whose state is a container
        self.flat: dict[str, Any] = {}  # state key → the very object known to be flat
        self.unknown: set[str] = set()  # state keys that hold a type this process does not know
        self.held: set[str] = set()  # deferred nodes that are due
        self.parked: dict[str, TaskRecord] = {}  # nodes whose open question waits while the run goes on
        self.records: dict[str, TaskRecord] = {}  # stored tasks of the step that is next
        self.called: dict[str, TaskRecord] = {}  # finished @task calls, by path
        self.own_memories: dict[str, str] = {}  # namespace of a graph with its own memory → the task that uses it
        self.laid_over: list[tuple[str, Any]] = []  # after a pause: writes of the open step's finished tasks
        self.answered: set[str] = set()  # tasks that this run brought answers for
        self.open_records: list[TaskRecord] = []  # what durability="exit" owes of tasks that are still open
        self.children: dict[str, str] = {}
        self.moved: list[Any] = []  # staged, not yet committed
        self.unsaved: Any = None  # what durability="exit" still owes

    def let_go(self) -> None:
        """The run is over: it drops its driver, which knows it, so that both are freed at once with all they hold."""
        self.__dict__.pop("spawn", None)
        self.__dict__.pop("post", None)

    def next_version(self) -> Any:
        """The version of everything that moves in the step at hand."""
        if self._version is None:
            self.counter += 1
            self._version = self.counter << 20 | self.low
        return self._version

    def end_step(self) -> None:
        """What moves from here on gets a new version."""
        self._version = None

    @property
    def ns(self) -> str:
        """The checkpoint namespace of this run; "" for a root graph."""
        return (self.at.ns or "") if self.at is not None else ""

    @property
    def thread_id(self) -> str | None:
        """The thread, if the run has one."""
        return self.at.thread if self.at is not None else None

    @property
    def lease(self) -> Fence | None:
        """The lease that it holds, or may hold: a load that took it was broken off, or giving it back was."""
        return self.wish.taken if self.wish is not None else self.fence

    def place(self, checkpoint: str | None) -> At:
        """Where `checkpoint` of this run lies."""
        at = self.at
        assert at is not None
        return At(at.thread, at.ns, checkpoint, at.branch)

    def begin(self) -> None:
        """The state before any write."""
        for name, channel in self.layout.initial:
            if name not in self.cells:
                self.set_cell(name, channel.initial())

    def own_name(self, channel: str) -> str:
        """A stored channel's name in this plan: that of a renamed node's routing cell follows the alias."""
        if self.plan.aliases and channel.startswith(ROUTE):
            node = channel.removeprefix(ROUTE)
            return ROUTE + self.plan.aliases.get(node, node)
        return channel

    # Cells.

    def set_cell(self, name: str, state: Any) -> None:
        """Takes a channel's new state."""
        if state is MISSING:
            self.drop_cell(name)
            return
        self.cells[name] = state
        if name in self.layout.inner:
            self.inner.add(name)
        elif type(state) in COPIERS:
            self.deep.add(name)
        elif name in self.deep:
            self.deep.discard(name)

    def drop_cell(self, name: str) -> None:
        """The channel holds no value any more."""
        self.cells.pop(name, None)
        self.inner.discard(name)
        self.deep.discard(name)

    def is_available(self, name: str) -> bool:
        """Whether a channel holds a value."""
        if name not in self.cells:
            return False
        return name not in self.layout.indirect or self.plan.channels[name].holds(self.cells[name])

    # Handing values out.

    def values_for(self, node: Node) -> dict[str, Any]:
        """What a node reads, its own to keep."""
        if node.name in self.layout.wide:
            return self.all_values()
        cells, reads = self.cells, node.reads or ()
        values = {name: cells[name] for name in reads if name in cells}
        self._decouple(values)
        return values

    def all_values(self) -> dict[str, Any]:
        """All state keys that hold a value, the reader's own to keep."""
        values = self.cells.copy()
        for name in self.inner:
            del values[name]
        self._decouple(values)
        return values

    def _decouple(self, values: dict[str, Any]) -> None:
        for name in self.unknown & values.keys() if self.unknown else ():
            self.require_known(self.cells[name], name)
        if self.deep:
            for name in self.deep & values.keys():
                values[name] = self._copy_of(name, values[name])
        if self.layout.indirect:
            for name in self.layout.indirect & values.keys():
                self._show_indirect(name, values)

    def _copy_of(self, name: str, state: Any) -> Any:
        if self.flat.get(name) is state:
            return self.flat[name].copy()
        if isinstance(state, (list, dict, set)) and is_flat(state):
            self.flat[name] = state
            return state.copy()
        return copied(state)

    def _show_indirect(self, name: str, values: dict[str, Any]) -> None:
        channel = self.plan.channels[name]
        state = values[name]
        if channel.holds(state):
            values[name] = channel.view(state)
        else:
            del values[name]

    def values_with(self, writes: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        """All state values with `writes` applied, without taking them: what a route looks at."""
        values = self.all_values()
        inner, plain = self.layout.inner, self.layout.plain
        grouped: dict[str, list[Any]] = {}
        for name, value in writes:
            if name not in inner:
                grouped.setdefault(name, []).append(copied(value))
        for name, given in grouped.items():
            if name in plain and len(given) == 1:
                values[name] = given[0].value if type(given[0]) is Overwrite else given[0]
                continue
            channel = self.plan.channels[name]
            state = channel.fold(self.cells.get(name, MISSING), given)
            if channel.holds(state):
                values[name] = copied(channel.view(state))
            else:
                values.pop(name, None)
        return values

    def output(self) -> Any:
        """What the run returns: the output keys as they stand."""
        wanted = self.plan.output if self.output_keys is None else self.output_keys
        values = self._as_it_stands()
        if isinstance(wanted, str):
            return self._one(wanted, values)
        return {name: values[name] for name in wanted if name in values}

    def shown(self) -> Any:
        """What `values` events show: all state keys in the order of the schema."""
        wanted = self.plan.stream if self.output_keys is None else self.output_keys
        values = self._as_it_stands()
        if isinstance(wanted, str):
            return self._one(wanted, values)
        return {name: values[name] for name in wanted if name in values}

    def _as_it_stands(self) -> dict[str, Any]:
        """All values; after a pause with what finished tasks of the open step wrote, where that merges."""
        if self.laid_over:
            try:
                return self.values_with(self.laid_over)
            except Exception:  # a conflict: the step will say so when it is taken
                self.laid_over = []
        return self.all_values()

    def _one(self, name: str, values: dict[str, Any]) -> Any:
        if name in values or not self.is_available(name):
            return values.get(name)
        return copied(self.plan.channels[name].view(self.cells[name]))
