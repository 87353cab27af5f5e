"""The bytes of states that follow one another, of which each packs only what moved."""

from __future__ import annotations

import random
from typing import Any

from stepwell.checkpoint.apart import Pointed
from stepwell.checkpoint.names import Names
from stepwell.checkpoint.pack import unpack_state
from stepwell.checkpoint.pack_state import pack_state
from stepwell.checkpoint.refs import Inline
from stepwell.checkpoint.rows import NO_ANCHOR, Cell, State
from stepwell.serde.codec import Codec

CODEC = Codec()
LIMIT = 10_000  # no anchor is begun


def version(counter: int) -> int:
    return counter << 20 | 7


def cell(of: Any, text: str = "") -> Cell:
    return of, Inline(text.encode())


def wide(count: int = 40) -> State:
    """A state of many cells, and as many nodes of which each has seen its own."""
    cells = {f"branch:to:n{at}": cell(version(at)) for at in range(count)}
    seen = {f"n{at}": {f"branch:to:n{at}": version(at)} for at in range(count)}
    return State(NO_ANCHOR, cells, seen)


def told(state: State) -> Any:
    """What there is to know of a state."""
    cells = {name: (at, ref.data if type(ref) is Inline else None) for name, (at, ref) in state.cells.items()}
    return list(cells.items()), list(state.seen.items())


def read(data: bytes, names: Names) -> Any:
    return told(unpack_state(data, names, CODEC, Pointed(), {}))


def afresh(state: State, names: Names) -> bytes:
    """The bytes of a state that follows none."""
    return pack_state(State(state.anchor, state.cells, state.seen), names, CODEC)


class DescribeTheBytesOfAState:
    def test_hold_what_moved_after_those_before(self) -> None:
        names, state = Names(), wide()
        pack_state(state, names, CODEC)

        after = state.then({"a": cell(version(50), "x")}, {"n3": {"a": version(50)}}, LIMIT)

        assert read(pack_state(after, names, CODEC), names) == told(after)
        assert pack_state(after, names, CODEC) == afresh(after, names)

    def test_follow_a_cell_that_a_node_saw_when_it_moves_on(self) -> None:
        names, state = Names(), wide()
        pack_state(state, names, CODEC)

        after = state.then({"branch:to:n3": cell(version(50))}, {}, LIMIT)

        assert read(pack_state(after, names, CODEC), names) == told(after)
        assert pack_state(after, names, CODEC) == afresh(after, names)

    def test_are_right_whatever_moves_in_whatever_order(self) -> None:
        chance, names, state, states = random.Random(7), Names(), wide(), []
        for step in range(400):
            moved = {f"branch:to:n{chance.randrange(60)}" for _ in range(chance.randrange(4))} | {"__start__"}
            now = version(100 + step)
            cells = {name: chance.choice([cell(now, name), (now, None), state.cell(name)]) for name in sorted(moved)}
            seen = {f"n{at}": {f"branch:to:n{at}": now} for at in {chance.randrange(60)}}
            state = state.then(cells, seen, LIMIT)
            if chance.random() < 0.8:
                states.append((state, pack_state(state, names, CODEC)))

        assert [read(data, names) for _, data in states] == [told(one) for one, _ in states]
        assert max(len(data) / len(afresh(one, names)) for one, data in states) < 1.1

    def test_of_two_states_after_the_same_one_are_each_its_own(self) -> None:
        names, state = Names(), wide()
        pack_state(state, names, CODEC)

        one = state.then({"a": cell(version(50), "one")}, {}, LIMIT)
        other = state.then({"b": cell(version(51), "other")}, {}, LIMIT)

        assert read(pack_state(other, names, CODEC), names) == told(other)
        assert read(pack_state(one, names, CODEC), names) == told(one)

    def test_take_versions_that_others_made(self) -> None:
        names, state = Names(), wide()
        pack_state(state, names, CODEC)

        after = state.then({"a": cell("00000001.0.5")}, {}, LIMIT)
        later = after.then({"b": cell(version(60))}, {}, LIMIT)

        assert read(pack_state(after, names, CODEC), names) == told(after)
        assert read(pack_state(later, names, CODEC), names) == told(later)

    def test_take_a_version_older_than_all_that_are_listed(self) -> None:
        names = Names()
        state = State(NO_ANCHOR, {f"k{at}": cell(version(9 + at)) for at in range(20)}, {})
        pack_state(state, names, CODEC)

        after = state.then({"a": cell(version(3))}, {}, LIMIT)

        assert read(pack_state(after, names, CODEC), names) == told(after)

    def test_are_packed_by_what_moved_alone(self) -> None:
        names, state = Names(), wide()
        pack_state(state, names, CODEC)
        asked: list[str] = []

        class Watched(Names):
            @property
            def number(self) -> Any:
                return lambda name: asked.append(name) or names.number(name)

        pack_state(state.then({"branch:to:n5": cell(version(50))}, {}, LIMIT), Watched(), CODEC)

        assert asked == ["branch:to:n5", "n5"]
