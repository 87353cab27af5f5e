"""How much is stored, as counts of rows and bytes: every value once, every checkpoint a pointer."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from stepwell.checkpoint.serde import register
from stepwell.types import TASKS, Send
from tests.checkpoint.chains import SqliteChain, Walk, read, task


@register
@dataclass
class Message:
    id: int
    text: str


def messages(start: int, count: int) -> list[Message]:
    return [Message(n, f"{n} " + "words " * 80) for n in range(start, start + count)]


@pytest.fixture
def chain() -> Iterator[SqliteChain]:
    opened = SqliteChain()
    yield opened
    opened.database.close()


def item_rows(chain: SqliteChain) -> int:
    [(count,)] = chain.ask("SELECT count(*) FROM items")
    return int(count)


def stored_bytes(chain: SqliteChain) -> int:
    """Bytes of values and of the rows that refer to them."""
    [(items, rows)] = chain.ask(
        "SELECT (SELECT sum(length(data)) FROM items), "
        "(SELECT sum(length(state) + coalesce(length(tasks), 0)) FROM checkpoint_rows)"
    )
    return int(items) + int(rows)


def converse(chain: SqliteChain, turns: int, thread: str = "t") -> list[Message]:
    """Turns of two messages, as a graph of one node saves them: input and its merge together, then the answer."""
    said: list[Message] = []
    for turn in range(turns):
        walk = Walk(chain, thread)
        said = list(walk.load_values().get("messages", []))
        question, answer = messages(2 * turn, 1), messages(2 * turn + 1, 1)
        first = walk.stage({"__start__": {"messages": question}}, source="input")
        said = said + question
        second = walk.stage(
            {"messages": said, "branch:to:chat": None}, task("__start__", ("messages", question)),
            dropped=("__start__",), pure=("messages",),
        )  # fmt: skip
        chain.perform(chain.commit([first, second], walk.fence))
        said = said + answer
        walk.save(
            {"messages": said}, task("chat", ("messages", answer)), dropped=("branch:to:chat",), pure=("messages",)
        )
        walk.end()
    return said


class DescribeAConversation:
    def test_stores_each_message_in_one_row(self, chain: SqliteChain) -> None:
        converse(chain, 30)

        assert item_rows(chain) == 60

    def test_takes_no_more_than_a_little_over_its_messages(self, chain: SqliteChain) -> None:
        said = converse(chain, 30)

        assert stored_bytes(chain) < 1.3 * sum(len(chain.codec.encode(message)) for message in said)

    def test_twice_as_long_takes_twice_as_much(self, chain: SqliteChain) -> None:
        converse(chain, 40)
        half = stored_bytes(chain)

        converse(chain, 40)

        assert stored_bytes(chain) <= 2.05 * half

    def test_has_rows_of_a_hundred_bytes(self, chain: SqliteChain) -> None:
        converse(chain, 40)

        [(payload, count)] = chain.ask(
            "SELECT sum(payload), (SELECT count(*) FROM checkpoint_rows) FROM dbstat WHERE name = 'checkpoint_rows'"
        )

        assert payload / count <= 110

    def test_refers_to_its_list_by_one_run_at_every_checkpoint(self, chain: SqliteChain) -> None:
        converse(chain, 30)

        runs = {len(read(chain).base.state.cell("messages")[1].parts)}

        assert runs == {1}

    def test_writes_head_rows_only_where_branches_part(self, chain: SqliteChain) -> None:
        converse(chain, 5)

        assert chain.ask("SELECT count(*) FROM heads") == [(0,)]


class DescribeAFork:
    def test_copies_nothing(self, chain: SqliteChain) -> None:
        converse(chain, 20)
        [(old,)] = chain.ask(
            "SELECT checkpoint_id FROM checkpoints WHERE step = (SELECT max(step) / 2 FROM checkpoints)"
        )
        before = item_rows(chain)

        walk = Walk(chain, at=old)
        said = walk.load_values()["messages"]
        new = messages(900, 1)
        walk.save({"messages": said + new}, task("chat", ("messages", new)), pure=("messages",))

        assert item_rows(chain) == before + 1

    def test_goes_on_in_a_run_of_its_own(self, chain: SqliteChain) -> None:
        converse(chain, 20)
        [(old,)] = chain.ask(
            "SELECT checkpoint_id FROM checkpoints WHERE step = (SELECT max(step) / 2 FROM checkpoints)"
        )
        walk = Walk(chain, at=old)
        said = walk.load_values()["messages"]

        for n in range(10):
            new = messages(900 + n, 1)
            said = said + new
            walk.save({"messages": said}, task("chat", ("messages", new)), pure=("messages",))

        assert len(walk.base.state.cell("messages")[1].parts) == 2
        walk.end()
        assert read(chain).values["messages"] == said


@pytest.mark.parametrize("size", [40, 400])
@pytest.mark.parametrize("edit", ["replace", "insert", "swap"])
def test_editing_a_long_list_anywhere_writes_a_few_times_what_changed(chain: SqliteChain, edit: str, size: int) -> None:
    chance = random.Random(7)
    walk = Walk(chain)
    value: list[Any] = [{"n": n, "text": "x" * size} for n in range(2000)]
    walk.save({"v": value}, pure=("v",))
    before = stored_bytes(chain)

    for step in range(400):
        value, at = list(value), chance.randrange(2000)
        new = {"n": -step, "text": "y" * size}
        if edit == "replace":
            value[at] = new
        elif edit == "insert":
            value.insert(at, new)
        else:
            other = chance.randrange(2000)
            value[at], value[other] = value[other], value[at]
        walk.save({"v": value}, task("n", ("v", new)), pure=("v",))

    written = 400 * len(chain.codec.encode(new)) * (2 if edit == "swap" else 1)
    assert stored_bytes(chain) - before <= 6 * written
    walk.end()
    assert read(chain).values["v"] == value


def test_a_wide_state_stores_what_moved(chain: SqliteChain) -> None:
    walk = Walk(chain)
    walk.save({f"key {n}": f"value {n} " + "x" * 40 for n in range(1000)})
    before = stored_bytes(chain)

    for n in range(50):
        walk.save({f"key {n}": n})

    assert stored_bytes(chain) - before < 50 * 600


class DescribeAGraphInsideATask:
    def test_that_is_handed_the_conversation_stores_none_of_it(self, chain: SqliteChain) -> None:
        said = converse(chain, 10)
        walk = Walk(chain)
        said = walk.load_values()["messages"]
        before = item_rows(chain)

        inner = Walk(chain, ns="agent:1", above=walk)
        handed = list(said)
        first = inner.stage({"__start__": {"messages": handed}}, source="input")
        second = inner.stage(
            {"messages": list(handed)}, task("__start__", ("messages", handed)), dropped=("__start__",)
        )
        chain.perform(chain.commit([first, second], inner.fence))

        assert item_rows(chain) == before
        assert read(chain, ns="agent:1").values["messages"] == said

    def test_gives_back_what_it_said_without_storing_it_again(self, chain: SqliteChain) -> None:
        converse(chain, 10)
        walk = Walk(chain)
        said = walk.load_values()["messages"]
        inner = Walk(chain, ns="agent:1", above=walk)
        handed, new = list(said), messages(500, 2)
        inner.save({"messages": handed}, source="input")
        inner.save({"messages": handed + new}, task("model", ("messages", new)), pure=("messages",))
        before = item_rows(chain)

        walk.save({"messages": said + new}, task("agent", ("messages", handed + new)), pure=("messages",))

        assert item_rows(chain) == before
        assert len(walk.base.state.cell("messages")[1].parts) == 1

    def test_is_handed_plain_containers_as_copies_and_stores_none(self, chain: SqliteChain) -> None:
        walk = Walk(chain)
        rows = [{"n": n, "text": "x" * 90} for n in range(40)]
        walk.save({"rows": rows}, pure=("rows",))
        before = item_rows(chain)

        inner = Walk(chain, ns="agent:1", above=walk)
        inner.save({"__start__": {"rows": [dict(row) for row in rows]}}, source="input")

        assert item_rows(chain) == before


def test_sends_that_carry_the_conversation_store_none_of_it(chain: SqliteChain) -> None:
    converse(chain, 10)
    walk = Walk(chain)
    said = walk.load_values()["messages"]
    before = stored_bytes(chain)

    sends = [Send("worker", {"messages": list(said), "n": n}) for n in range(20)]
    walk.save({TASKS: sends}, task("plan", *((TASKS, send) for send in sends)))
    walk.end()

    assert stored_bytes(chain) - before < 20 * 100
    found = read(chain)
    assert found.values[TASKS] == sends


class DescribeTasksBesideEachOther:
    def test_store_what_they_wrote_once(self, chain: SqliteChain) -> None:
        walk = Walk(chain)
        walk.save({"messages": messages(0, 3)}, pure=("messages",))
        records = [task(f"w{n}", ("messages", messages(10 + n, 1))) for n in range(5)]
        for record in records:
            walk.file(record)
        before = item_rows(chain)

        new = [message for record in records for message in record.writes[0][1]]
        walk.save({"messages": walk.cells["messages"] + new}, *records, pure=("messages",))

        assert item_rows(chain) == before
        assert chain.ask("SELECT count(*) FROM records") == [(0,)]
