"""Property: whatever runs do to a state, every checkpoint ever written reads back equal, types and order included."""

from __future__ import annotations

import copy
import os
import random
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from stepwell.checkpoint.serde import register
from stepwell.checkpoint.tools.copying import copy_thread
from stepwell.checkpoint.tools.trimming import prune
from stepwell.saves import At
from stepwell.serde.codec import Codec
from stepwell.types import TASKS, Overwrite, Send
from tests.checkpoint.chains import Walk, open_chain, pages, read, task

codec = Codec()
EXAMPLES = int(os.environ.get("STEPWELL_EXAMPLES", "30"))
SEEDS = st.integers(0, 1 << 16)
PURE = ("log", "notes", "files", "topic")


@register
@dataclass
class Note:
    id: int
    text: str
    marks: list[Any] = field(default_factory=list)


@register
@dataclass
class Book:
    """Large enough to be stored by its fields."""

    title: str
    pages: list[Any]
    index: dict[Any, Any]


def is_same(one: Any, other: Any) -> bool:
    """Equal, and of equal types at every depth, dicts in equal order."""
    return codec.encode(one) == codec.encode(other)


class Chance:
    """Values and edits from one random generator."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.number = seed << 16

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def place(self, length: int) -> int:
        return self.random.randrange(length) if length else 0

    def scalar(self) -> Any:
        self.number += 1
        return self.pick(
            0, 1, True, False, 1.0, -0.0, None, "", "a", "b" * self.random.randrange(90), f"text {self.number}",
            self.number, b"raw", b"r" * 70, 2**70, "\udcff",
        )  # fmt: skip

    def note(self) -> Note:
        self.number += 1
        return Note(self.number, f"note {self.number} " + "x" * self.random.randrange(80), [self.scalar()])

    def value(self, depth: int = 2) -> Any:
        make = self.pick(self.scalar, self.scalar, self.note, self.list, self.dict, self.odd)
        return make(depth - 1) if depth and make in (self.list, self.dict, self.odd) else self.scalar()

    def list(self, depth: int = 1) -> list[Any]:
        return [self.value(depth) for _ in range(self.random.randrange(12))]

    def dict(self, depth: int = 1) -> dict[Any, Any]:
        return {self.key(): self.value(depth) for _ in range(self.random.randrange(12))}

    def key(self) -> Any:
        return self.pick("a", "b", "c", f"key {self.random.randrange(20)}", 1, 2, (1, "t"), None, True, 2.5)

    def odd(self, depth: int = 1) -> Any:
        some = self.list(0)
        return self.pick(
            tuple(self.list(depth)),
            deque(self.list(depth), self.pick(None, 3, 8)),
            OrderedDict(self.dict(depth)),
            Counter({"a": self.random.randrange(5), "b": 2}),
            _filled(defaultdict(list), {self.key(): [self.scalar()]}),
            {item for item in some if item is not None},
            frozenset(some),
            Book(f"book {self.number}", [f"page {n} " + "x" * 70 for n in range(12)], self.index()),
        )

    def index(self) -> dict[Any, Any]:
        return {f"key {n}": self.scalar() for n in range(self.random.randrange(15))}

    def edit(self, value: Any) -> Any:
        """A value like `value`; often the same object, changed in place at some depth."""
        if isinstance(value, Note):
            value.marks.append(self.scalar())
            return value
        if isinstance(value, Book):
            value.pages = self._edit_sequence(value.pages)
            value.index = self._edit_dict(value.index) if self.pick(True, False) else value.index
            return value
        if isinstance(value, (list, deque)):
            return self._edit_sequence(value)
        if isinstance(value, dict):
            return self._edit_dict(value)
        if isinstance(value, set):
            self.pick(value.add, value.discard)(self.pick("a", "b", 1, self.number))
            return value
        if isinstance(value, str):
            return value + self.pick("", "more " * self.random.randrange(20))
        if isinstance(value, bytes):
            return value + b"more"
        return self.value()

    def _edit_sequence(self, value: Any) -> Any:
        at = self.place(len(value))
        match self.random.randrange(8):
            case 0:
                value.append(self.value())
            case 1 if len(value) != getattr(value, "maxlen", None):
                value.insert(at, self.value())
            case 2 if value:
                value[at] = self.value()
            case 3 if value:
                del value[at]
            case 4:
                value.reverse()
            case 5:
                value.clear()
            case 6 if value:
                value[at] = self.edit(value[at])
            case _ if isinstance(value, list):
                shuffled = value.copy()
                self.random.shuffle(shuffled)
                return shuffled
        return value

    def _edit_dict(self, value: dict[Any, Any]) -> Any:
        key = self.pick(*value) if value else self.key()
        match self.random.randrange(7):
            case 0 if key in value:
                del value[key]
            case 1 if key in value:
                value[key] = value.pop(key)  # moves to the end
            case 2 if key in value:
                value[key] = self.edit(value[key])
            case 3:
                value.clear()
            case 4 if isinstance(value, OrderedDict) and key in value:
                value.move_to_end(key, last=False)
            case _:
                value[self.key()] = self.value() if not isinstance(value, Counter) else 3
        return value


def _filled(value: Any, more: dict[Any, Any]) -> Any:
    value.update(more)
    return value


class Thread(RuleBasedStateMachine):
    """A thread that runs, forks and nests, beside a model that deep-copies every checkpoint."""

    kind = "memory"

    def __init__(self) -> None:
        super().__init__()
        self.chain = open_chain(self.kind)
        self.model: dict[tuple[str, str], dict[str, Any]] = {}
        self.written: dict[str, list[Any]] = {}
        self.copies: list[tuple[str, dict[tuple[str, str], dict[str, Any]]]] = []
        self.walk: Walk

    @initialize()
    def begin(self) -> None:
        self.walk = Walk(self.chain)
        self.walk.load_values()

    def _save(self, walk: Walk, changed: dict[str, Any], *tasks: Any, **more: Any) -> None:
        before = walk.id
        copies = copy.deepcopy([list(record.writes) for record in tasks])
        id = walk.save(changed, *tasks, pure=PURE, **more)
        self._note(walk, before, changed, more.get("dropped", ()))
        if walk.ns == "" and before is not None and tasks:
            self.written[id] = copies

    def _note(self, walk: Walk, before: str | None, changed: dict[str, Any], dropped: tuple[str, ...] = ()) -> None:
        """The model of a checkpoint: that of its parent, and deep copies of what changed."""
        values = dict(self.model[walk.ns, before]) if before is not None else {}
        for name in dropped:
            values.pop(name, None)
        self.model[walk.ns, str(walk.id)] = {**values, **copy.deepcopy(changed)}

    # Pure channels: what is written is written; nothing else is touched.

    @rule(seed=SEEDS, count=st.integers(0, 4))
    def append(self, seed: int, count: int) -> None:
        chance = Chance(seed)
        items = [chance.value() for _ in range(count)]
        log = self.walk.cells.get("log", []) + items
        self._save(self.walk, {"log": log}, task("a", ("log", items)))

    @rule(seed=SEEDS)
    def answer_by_id(self, seed: int) -> None:
        """As add_messages: same id replaces in place, others are appended. A node edited some objects it returns."""
        chance = Chance(seed)
        notes: list[Note] = list(self.walk.cells.get("notes", []))
        given = [chance.note() for _ in range(chance.random.randrange(3))]
        if notes:
            given.append(chance.edit(notes[chance.place(len(notes))]))
            given.append(Note(notes[chance.place(len(notes))].id, "another"))
        gone = chance.place(len(notes)) if notes and chance.pick(True, False) else None
        merged = [note for at, note in enumerate(notes) if at != gone]
        for note in given:
            at = next((at for at, old in enumerate(merged) if old.id == note.id), None)
            merged = [*merged, note] if at is None else [*merged[:at], note, *merged[at + 1 :]]
        self._save(self.walk, {"notes": merged}, task("b", ("notes", given)))

    @rule(seed=SEEDS)
    def write_files(self, seed: int) -> None:
        chance = Chance(seed)
        given = chance.dict()
        old = self.walk.cells.get("files", {})
        new = dict(given) if chance.pick(False, False, True) else {**old, **given}
        self._save(self.walk, {"files": new}, task("c", ("files", given)))

    # Channels whose merge may do anything, in place and at every depth.

    @rule(seed=SEEDS, name=st.sampled_from(["wild", "map", "last"]))
    def edit(self, seed: int, name: str) -> None:
        chance = Chance(seed)
        old = self.walk.cells.get(name)
        new = chance.edit(old) if old is not None and chance.pick(True, True, False) else chance.value(3)
        self._save(self.walk, {name: new}, task("d", (name, new)))

    @rule(seed=SEEDS)
    def reduce_in_place(self, seed: int) -> None:
        """A reducer that changes the list it is handed, and returns it."""
        chance = Chance(seed)
        wild = self.walk.cells.get("wild")
        wild = wild if isinstance(wild, list) else []
        for _ in range(chance.random.randrange(4)):
            wild = chance._edit_sequence(wild)
        self._save(self.walk, {"wild": wild}, task("e", ("wild", [chance.scalar()])))

    @rule(seed=SEEDS)
    def write_many(self, seed: int) -> None:
        chance = Chance(seed)
        changed = {f"wide {n}": chance.value() for n in range(chance.random.randrange(90))}
        self._save(self.walk, changed, task("f", *changed.items()))

    @rule(seed=SEEDS)
    def clear(self, seed: int) -> None:
        chance = Chance(seed)
        if self.walk.cells:
            self._save(self.walk, {}, dropped=(chance.pick(*self.walk.cells),))

    @rule(seed=SEEDS)
    def overwrite(self, seed: int) -> None:
        items = Chance(seed).list()
        self._save(self.walk, {"log": list(items)}, task("g", ("log", Overwrite(items))))

    # Several tasks: the records of those that finished first come before the checkpoint.

    @rule(seed=SEEDS, count=st.integers(1, 5))
    def fan_out(self, seed: int, count: int) -> None:
        chance = Chance(seed)
        if self.walk.id is None:
            return
        records = [task(f"w{n}", ("log", chance.list()), ("topic", [chance.note()])) for n in range(count)]
        for record in chance.random.sample(records, chance.random.randrange(count + 1)):
            self.walk.file(record)
        logs = [item for record in records for item in dict(record.writes)["log"]]
        notes = [item for record in records for item in dict(record.writes)["topic"]]
        self._save(self.walk, {"log": self.walk.cells.get("log", []) + logs, "topic": notes}, *records)

    @rule(seed=SEEDS)
    def send(self, seed: int) -> None:
        chance = Chance(seed)
        cells = self._readable()
        sends = [
            Send(
                "w",
                {"n": n, **{name: _handed(cells[name]) for name in chance.random.sample([*cells], len(cells) // 2)}},
            )
            for n in range(chance.random.randrange(4))
        ]
        self._save(self.walk, {TASKS: sends}, task("h", *((TASKS, one) for one in sends)))

    def _readable(self) -> dict[str, Any]:
        """What a node can hand on: the queue of sends is no key that it could read."""
        return {name: value for name, value in self.walk.cells.items() if name != TASKS}

    @rule(seed=SEEDS, steps=st.integers(1, 3))
    def nest(self, seed: int, steps: int) -> None:
        """A graph inside a task: it is handed values of this one, edits them and hands some back."""
        chance = Chance(seed)
        if self.walk.id is None:
            return
        inner = Walk(self.chain, ns=f"node:{seed % 5}", above=self.walk)
        inner.load_values()
        given = {name: _handed(value) for name, value in self._readable().items() if chance.pick(True, False)}
        before = inner.id
        first = inner.stage({"__start__": given}, source="input")
        self._note(inner, before, {"__start__": given})
        before = inner.id
        second = inner.stage(dict(given), task("__start__", *given.items()), dropped=("__start__",))
        self._note(inner, before, given, ("__start__",))
        self.chain.perform(self.chain.commit([first, second], inner.fence))
        for _ in range(steps):
            items = [chance.note()]
            old = inner.cells.get("notes", [])
            self._save(inner, {"notes": [*old, *items]}, task("i", ("notes", items)))
        back = list(inner.cells["notes"])
        self._save(self.walk, {"notes": back}, task("j", ("notes", back)))

    # Ends and new beginnings.

    @rule()
    def go_on_later(self) -> None:
        self.walk.end()
        self.begin()

    @rule(seed=SEEDS)
    def fork(self, seed: int) -> None:
        self.walk.end()
        ids = [id for ns, id in self.model if ns == ""]
        at = Chance(seed).pick(*ids) if ids else None
        self.walk = Walk(self.chain, at=at)
        self.walk.load_values()
        if at is not None:
            assert is_same(self.walk.cells, self._ordered("", at, self.walk.cells))

    @rule()
    def prune(self) -> None:
        """Heads stay, their ancestors go; what stays reads as before."""
        self.walk.end()
        self.chain.perform(prune(self.chain, ["t"], "keep_latest"))
        left = {(loaded.at.ns, loaded.at.checkpoint) for loaded in pages(self.chain, At("t", None))}
        assert left <= set(self.model)
        assert not self.walk.head or ("", self.walk.head) in left
        self.model = {key: values for key, values in self.model.items() if key in left}
        self.written = {id: writes for id, writes in self.written.items() if self._parent_of(id)}
        self.begin()

    def _parent_of(self, id: str) -> str | None:
        loaded = read(self.chain, id)
        return loaded.parent if loaded is not None else None

    @rule()
    def copy_the_thread(self) -> None:
        if self.model:
            target = f"copy {len(self.copies)}"
            self.copies.append((target, dict(self.model)))
            self.walk.end()
            self.chain.perform(copy_thread(self.chain, "t", target))
            self.begin()

    @rule(seed=SEEDS)
    def look_back(self, seed: int) -> None:
        if self.model:
            ns, id = Chance(seed).pick(*self.model)
            assert is_same(dict(read(self.chain, id, ns=ns).values), self._ordered(ns, id))

    @invariant()
    def the_head_is_what_was_saved_last(self) -> None:
        if self.model and self.walk.id is not None:
            found = read(self.chain)
            assert found.at.checkpoint == self.walk.head

    def teardown(self) -> None:
        for ns, id in self.model:
            values = dict(read(self.chain, id, ns=ns).values)
            assert is_same(values, self._ordered(ns, id, values)), (ns, id)
        listed = pages(self.chain, At("t", ""))
        assert [loaded.at.checkpoint for loaded in listed] == sorted(
            (id for ns, id in self.model if not ns), reverse=True
        )
        for loaded in listed:
            assert is_same(dict(loaded.values), self._ordered("", loaded.at.checkpoint, loaded.values))
            made = [other.at.checkpoint for other in listed if other.parent == loaded.at.checkpoint]
            assert loaded.leaf == (not made)
            expected = [writes for id in made for writes in self.written.get(id, [])]
            found = [list(record.writes) for record in loaded.done]
            assert sorted(map(codec.encode, found)) == sorted(map(codec.encode, expected))
        for thread, model in self.copies[-2:]:
            for (ns, id), expected in model.items():
                values = dict(read(self.chain, id, thread, ns).values)
                assert is_same(values, {name: expected[name] for name in values})

    def _ordered(self, ns: str, id: str, like: Any = None) -> dict[str, Any]:
        """The model's values in the order in which the saver lists channels; that one is nobody's promise."""
        values = self.model[ns, id]
        order = read(self.chain, id, ns=ns).values if like is None else like
        assert set(order) == set(values)
        return {name: values[name] for name in order}


def _handed(value: Any) -> Any:
    """A value as the engine hands it out: plain containers copied, other objects shared."""
    if isinstance(value, (list, deque, tuple, set)):
        return copy.copy(value) if isinstance(value, (deque, set)) else type(value)(map(_handed, value))
    if type(value) is dict:
        return {key: _handed(item) for key, item in value.items()}
    return value


@pytest.fixture(autouse=True)
def _deadline() -> None:
    """In place of the one minute that a test has: these are thousands."""


class InSqlite(Thread):
    kind = "sqlite"


Thread.TestCase.settings = InSqlite.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=30,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
pytestmark = pytest.mark.filterwarnings("ignore::stepwell.errors.StoredTypeWarning")
DescribeAThreadInMemory = Thread.TestCase
DescribeAThreadInSqlite = InSqlite.TestCase
