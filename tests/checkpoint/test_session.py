"""What a process knows of a thread while it writes to it."""

from __future__ import annotations

from stepwell.checkpoint.ledger import Ledger
from stepwell.checkpoint.names import Names
from stepwell.checkpoint.session import Runs, Session


def session() -> Session:
    return Session("t", 1, Ledger("t", 0), Names(), Runs(0))


class DescribeNumbers:
    def test_that_are_given_while_others_are_written_are_still_owed(self) -> None:
        # given a name that is being written
        mine = session()
        mine.names.number("first")
        writing = mine.save_numbers()
        statement = next(writing)

        # when another thread gives a number to a second one
        mine.names.number("second")
        written = ([], [])
        try:
            writing.send(None)
        except StopIteration as end:
            written = end.value
        mine.settle_numbers(*written)

        # then the second is not taken for written
        assert [row[2] for row in statement.rows] == ["first"]
        assert list(mine.names.unsaved.values()) == ["second"]

    def test_of_a_graphs_channels_and_nodes_are_given_at_once(self) -> None:
        mine = session()

        mine.expect_names(frozenset({"text", "branch:to:model"}))

        assert set(mine.names.unsaved.values()) == {"text", "branch:to:model", "model"}

    def test_of_a_graph_with_very_many_channels_are_given_some_at_a_time(self) -> None:
        mine = session()
        mine.expect_names(frozenset(f"channel {number:04}" for number in range(1000)))
        before = list(mine.names.unsaved)

        number = mine.names.number("channel 0017")

        given = set(mine.names.unsaved.values())
        assert not before
        assert mine.names.unsaved[number] == "channel 0017"
        assert given == {f"channel {number:04}" for number in range(16, 32)}
        assert mine.names.number("channel 0018") in mine.names.unsaved
        assert len(mine.names.unsaved) == 16

    def test_of_two_graphs_with_very_many_channels_are_those_of_either(self) -> None:
        mine = session()
        mine.expect_names(frozenset(f"outer {number:04}" for number in range(200)))
        mine.expect_names(frozenset(f"branch:to:inner {number:04}" for number in range(200)))

        mine.names.number("outer 0001")
        mine.names.number("inner 0001")

        assert len(mine.names.unsaved) == 16 + 32
