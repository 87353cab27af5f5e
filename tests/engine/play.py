"""A core is a function: answers in, effects out. No thread, loop, clock, mock or sleep.

`play(core, …)` sends answers by hand and stops where they end. `World().play(core)` answers each effect in the plainest
way there is (nodes run at once, the clock stands, a load finds what the test put there) and keeps what it was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from stepwell.channels import BinaryOperatorAggregate, LastValue, NamedBarrierValue
from stepwell.channels.base import BaseChannel
from stepwell.channels.latch import Latch
from stepwell.channels.topic import Topic
from stepwell.engine import effects as fx
from stepwell.engine.effects import Effect
from stepwell.engine.layout import layout_of
from stepwell.engine.run import Run
from stepwell.engine.task import PULL, Task
from stepwell.ids import IdClock, task_id
from stepwell.plan.plan import Node, Plan
from stepwell.saves import At, Commit, Fence, Loaded, Page, Pending, Saved, TaskRecord
from stepwell.types import ROUTE, TASKS, Command, Interrupt, Send

NOW_NS = 1_750_000_000_123_456_789
CHECKPOINT = "01976a3e-0000-7000-8000-000000000001"
FENCE = Fence("t", 7, "run-1")


# Playing.


class Played:
    """What a core did: its effects in order, and how it ended: `result`, `error`, or neither while it waits."""

    def __init__(self) -> None:
        self.effects: list[Effect[Any]] = []
        self.result: Any = None
        self.error: BaseException | None = None
        self.ended = False

    @property
    def trace(self) -> list[str]:
        """The kinds of the effects, in order."""
        return [type(effect).__name__ for effect in self.effects]

    def of(self, kind: type[Any]) -> list[Any]:
        """The effects of one kind."""
        return [effect for effect in self.effects if type(effect) is kind]


def play(core: Any, *answers: Any) -> Played:
    """Sends one answer per effect; an exception among them is thrown in. Stops at the effect that has no answer."""
    played = Played()
    left = iter(answers)
    step: Callable[[], Effect[Any]] = lambda: next(core)  # noqa: E731  # rebound below for each answer
    try:
        while True:
            played.effects.append(step())
            try:
                answer = next(left)
            except StopIteration:
                return played
            step = _sending(core, answer)
    except StopIteration as stop:
        played.result, played.ended = stop.value, True
    except BaseException as error:
        played.error, played.ended = error, True
    assert not list(left), "the core ended before it asked for all answers"
    return played


def _sending(core: Any, answer: Any) -> Callable[[], Effect[Any]]:
    if isinstance(answer, BaseException):
        return lambda: core.throw(answer)
    if isinstance(answer, list):
        answer = [item.arrive() if isinstance(item, Back) else item for item in answer]
    return lambda: core.send(answer)


def fields(effect: Any) -> dict[str, Any]:
    """An effect's fields, to compare: lists and tuples count the same."""
    return {name: _plain(getattr(effect, name)) for name in type(effect).__slots__}


def _plain(value: Any) -> Any:
    return list(value) if type(value) in (list, tuple) else value


class World:
    """Answers each effect in the plainest way. `refuses` names an effect and the error it ends in."""

    def __init__(
        self, loads: Mapping[str | None, Any] | Loaded | None = None, *, history: Sequence[Loaded] = ()
    ) -> None:
        """`loads`: what a load finds, by namespace; a single Loaded for any."""
        self.loads = loads
        self.history = history
        self.cached: dict[Any, Any] = {}
        self.clock = 100.0
        self.chance = 0.25
        self.refuses: dict[type[Any], BaseException] = {}
        self.log: list[Effect[Any]] = []

    def play(self, core: Any) -> Any:
        """Drives a core to its end; its result, or what it raises."""
        try:
            effect = next(core)
            while True:
                self.log.append(effect)
                try:
                    answer = self.answer(effect)
                except BaseException as error:
                    effect = core.throw(error)
                else:
                    effect = core.send(answer)
        except StopIteration as stop:
            return stop.value

    def answer(self, effect: Any) -> Any:
        kind = type(effect)
        if kind in self.refuses:
            raise self.refuses[kind]
        if kind is fx.Next:
            for task in effect.start:
                task.perform()
            return list(effect.start)
        if kind is fx.Load:
            return self.loads if not isinstance(self.loads, Mapping) else self.loads.get(effect.at.ns)
        if kind is fx.CacheSet:
            return self.cached.update({key: writes for key, (writes, _) in effect.pairs.items()})
        answers: dict[type[Any], Any] = {
            fx.Now: NOW_NS, fx.Clock: self.clock, fx.Random: self.chance, fx.CacheGet: self.cached,
            fx.Commit: Saved(object()), fx.History: Page(tuple(self.history), None),
        }  # fmt: skip
        return answers.get(kind)

    @property
    def trace(self) -> list[str]:
        """The kinds of the effects so far, without the clock."""
        return [type(effect).__name__ for effect in self.log if type(effect) is not fx.Now]

    @property
    def commits(self) -> list[Commit]:
        """What was committed, in order."""
        every = [what for effect in self.log if type(effect) is fx.Commit for what in _whats(effect)]
        return [what for what in every if isinstance(what, Commit)]

    @property
    def records(self) -> list[TaskRecord]:
        """The task records that were saved beside checkpoints, in order."""
        return [record for filed in self.filed for record in filed.tasks]

    @property
    def filed(self) -> list[Pending]:
        """What was saved of tasks that are no checkpoint yet, alone or together with one, in order."""
        found = [what for effect in self.log if type(effect) in (fx.Commit, fx.SaveWrites) for what in (_whats(effect))]
        return [what for what in found if isinstance(what, Pending)]

    @property
    def chunks(self) -> list[tuple[str, Any]]:
        """What was shown: (mode, payload)."""
        return [(effect.mode, effect.payload) for effect in self.log if type(effect) is fx.Emit]


def _whats(effect: Any) -> list[Commit | Pending]:
    staged = effect.staged if type(effect) is fx.Commit else (effect.staged,)
    return [one.what for one in staged]


class Staged:
    """What a chain's `stage` gave: it stands for `what`, and the next one is compared with its base."""

    def __init__(self, what: Commit | Pending) -> None:
        self.what = what
        self.base = object()


class Chain:
    """The one thing the engine calls directly in a saver: `stage`."""

    def stage(self, what: Commit | Pending) -> Staged:
        return Staged(what)


# What is played.


Body = Callable[[Any], Any]


def node(name: str, body: Body | None = None, *, then: Iterable[str] = (), reads: Iterable[str] = ("x", "log"),
         **fields: Any) -> Node:  # fmt: skip
    """A node that returns {key: value} (or a list of writes), followed by those in `then`."""
    following = [(channel if ":" in channel else ROUTE + channel, None) for channel in then]

    def writes_of(values: Any, task: Any) -> list[tuple[str, Any]]:
        if isinstance(values, Command):
            values = values.update
        made = list(values.items()) if isinstance(values, dict) else list(values or ())
        return made + [(channel, name if channel.startswith("join:") else None) for channel, _ in following]

    def run(given: Any, task: Any) -> list[tuple[str, Any]]:
        return writes_of(body(given) if body is not None else None, task)

    triggers = fields.pop("triggers", (ROUTE + name,))
    return Node(name, triggers, tuple(reads), None, fields.pop("run", run), None, writes_of=writes_of, **fields)


def plan(*nodes: Node, first: Iterable[str] = (), channels: Mapping[str, BaseChannel[Any, Any, Any]] | None = None,
         **fields: Any) -> Plan:  # fmt: skip
    """A plan with the keys x (last value) and log (added up). Input is {key: value}; then `first` nodes run."""
    state = {"x": LastValue(int), "log": BinaryOperatorAggregate(list, lambda a, b: a + b), **(channels or {})}
    keys = frozenset(state)
    cells: dict[str, BaseChannel[Any, Any, Any]] = {**state, TASKS: Topic(Send)}
    triggered: dict[str, tuple[str, ...]] = {}
    for one in nodes:
        for channel in one.triggers:
            cells.setdefault(channel, Latch() if channel.startswith(ROUTE) else NamedBarrierValue(str, ()))
            triggered[channel] = (*triggered.get(channel, ()), one.name)
    for name, channel in cells.items():
        channel.key = name
    starts = tuple(first) or tuple(one.name for one in nodes[:1])
    settings: dict[str, Any] = {
        "enter": lambda given: [*given.items(), *((ROUTE + name, None) for name in starts)],
        "output": tuple(state), "stream": tuple(state), "keys": keys, "entry": None, **fields,
    }  # fmt: skip
    name = settings.pop("name", "played")
    return Plan(name, {one.name: one for one in nodes}, cells, triggered, **settings)


def run_of(made: Plan, **fields: Any) -> Run:
    """A run of a plan as the face would make it, without a saver; it stands at its start."""
    run = Run(made, layout_of(made), {"configurable": {}})
    run.run_id = "run-1"
    run.digest = repr
    run.describe = lambda schema: schema
    run.check_answer = lambda schema, answer, question: answer
    run.clock = run.wall = lambda: 100.0
    run.ids = IdClock(None, 0)
    run.checkpoint_id = "c0"
    run.step = 1
    for name, value in fields.items():
        setattr(run, name, value)
    run.begin()
    return run


def saved_run(made: Plan, **fields: Any) -> Run:
    """A run with a saver: thread "t"."""
    return run_of(made, **{"chain": Chain(), "at": At("t"), "fence": FENCE, **fields})


def due(run: Run, *names: str) -> list[Task]:
    """Tasks of these nodes, as a step would start them."""
    return [Task(run, run.plan.nodes[name], (PULL, name), run.plan.nodes[name].triggers) for name in names]


def set_cells(run: Run, **cells: Any) -> None:
    """Puts states into channels, as an earlier step would have. A key with "to_" in front is a node's routing cell."""
    for key, state in cells.items():
        name = ROUTE + key.removeprefix("to_") if key.startswith("to_") else key
        run.set_cell(name, state)
        run.versions[name] = run.next_version()
    run.end_step()


def ended(task: Task, *writes: tuple[str, Any], **values: Any) -> Task:
    """The task, as a driver hands it back when its body returned."""
    task.error, task.writes = None, [*writes, *values.items()]
    return task


def failed(task: Task, error: BaseException) -> Task:
    """The task, as a driver hands it back when its body raised."""
    task.error = error
    return task


class Back:
    """What comes back of a task at that point of a play, and not before: a task may come back twice."""

    def __init__(self, task: Task, writes: Sequence[tuple[str, Any]], error: BaseException | None) -> None:
        self.task, self.writes, self.error = task, writes, error

    def arrive(self) -> Task:
        return ended(self.task, *self.writes) if self.error is None else failed(self.task, self.error)


def ends(task: Task, *writes: tuple[str, Any], **values: Any) -> Back:
    """`ended`, once the play is there."""
    return Back(task, [*writes, *values.items()], None)


def fails(task: Task, error: BaseException) -> Back:
    """`failed`, once the play is there."""
    return Back(task, (), error)


def record(task: Task | str, *writes: tuple[str, Any], **fields: Any) -> TaskRecord:
    """A stored record of a task that finished with these writes."""
    id, name = (task.id, task.name) if isinstance(task, Task) else (task, task)
    given: dict[str, Any] = {"path": f"~{PULL}, {name}", "triggers": (ROUTE + name,), "run": "run-0", "attempt": 1}
    return TaskRecord(id, name, writes=writes, **{**given, **fields})


def asked(task: Task | str, value: Any = "sure?", identity: str = "#q:0", **fields: Any) -> TaskRecord:
    """A stored record of a task that waits for an answer."""
    question = Interrupt(value, task_id(value, identity).replace("-", ""))
    return record(task, interrupts=((question, identity),), **{"finished": False, **fields})


def loaded(cells: Mapping[str, Any] | None = None, **fields: Any) -> Loaded:
    """A stored checkpoint: step 0 of thread "t", whose channels each moved once. `next` as the plan would have it."""
    values = {(ROUTE + key[3:] if key.startswith("to_") else key): state for key, state in (cells or {}).items()}
    given: dict[str, Any] = {
        "at": At("t", "", CHECKPOINT, "main"), "parent": None, "step": 0, "source": "loop", "ts": "2026-01-01",
        "run": "run-0", "values": values, "versions": dict.fromkeys(values, 1 << 20), "seen": {}, "metadata": {},
        "pending": (), "done": (), "next": tuple(name.removeprefix(ROUTE) for name in values if name.startswith(ROUTE)),
        "children": {}, "leaf": True, "head": CHECKPOINT, "last_id": CHECKPOINT, "base": object(), "fence": FENCE,
    }  # fmt: skip
    return Loaded(**{**given, **fields})


def unknown_thread() -> Loaded:
    """What a load with a lease finds where nothing is."""
    return loaded(at=At("t", "", None, "main"), step=-2, head=None, last_id="", next=())
