"""Task records as public rows, and back."""

from __future__ import annotations

from typing import Any

import pytest

from stepwell.checkpoint.base.records import flat, record_of, records_of, rows_of
from stepwell.saves import TaskRecord
from stepwell.types import ERROR, INTERRUPT, NO_WRITES, RESUME, Interrupt


def record(**changed: Any) -> TaskRecord:
    given: dict[str, Any] = {"writes": (), "finished": True, **changed}
    return TaskRecord("task", "node", "~path", ("a",), "run", 1, **given)


ASKED = ((Interrupt("first?", "1"), "#a:0"), (Interrupt("second?", "2"), "#b:0"))


class DescribeARecord:
    def test_is_its_writes(self) -> None:
        assert rows_of(record(writes=(("a", 1), ("b", 2)))) == [("a", 1), ("b", 2)]

    def test_that_wrote_nothing_says_so(self) -> None:
        assert rows_of(record()) == [(NO_WRITES, None)]
        assert record_of("task", [(NO_WRITES, None)]).finished

    def test_that_failed_is_its_error(self) -> None:
        error = {"type": "ValueError", "message": "no", "notes": [], "traceback": ""}

        assert rows_of(record(finished=False, error=error)) == [(ERROR, error)]

    def test_that_waits_shows_only_open_questions_to_people(self) -> None:
        waiting = record(finished=False, interrupts=ASKED, answers=(("#a:0", "yes"),))

        shown = {channel: value for _, channel, value in flat([waiting])}

        assert list(shown) == [RESUME, INTERRUPT]
        assert shown[INTERRUPT] == (ASKED[1][0],)

    @pytest.mark.parametrize(
        "given",
        [
            record(writes=(("a", 1),)),
            record(),
            record(finished=False, error={"type": "E", "message": "m"}),
            record(finished=False, interrupts=ASKED),
            record(finished=False, interrupts=ASKED, answers=(("#a:0", None),)),
            record(writes=(("a", 1),), interrupts=ASKED, answers=(("#a:0", 1), ("#b:0", 2))),
            record(writes=(("a", 1),), children={"inner": "id"}),
            record(finished=False, interrupts=ASKED, answers=(("#a:0", 1),), children={"one": "1", "two": "2"}),
        ],
    )
    def test_comes_back_from_its_rows(self, given: TaskRecord) -> None:
        found = record_of("task", rows_of(given), path="~path", run="run")

        assert (found.writes, found.finished, found.error) == (given.writes, given.finished, given.error)
        assert (found.interrupts, found.answers) == (given.interrupts, given.answers)
        assert found.children == given.children


class DescribeRowsOfAnotherMaker:
    @pytest.mark.parametrize(
        "rows",
        [
            [(ERROR, "ValueError('no')")],
            [(INTERRUPT, (Interrupt("ok?", "1"),))],
            [(INTERRUPT, "just text")],
            [(RESUME, ["yes", "no"])],
            [(RESUME, "yes")],
            [("a", 1), (ERROR, "no"), (RESUME, [1])],
        ],
    )
    def test_are_shown_as_they_were_filed(self, rows: list[tuple[str, Any]]) -> None:
        shown = [(channel, value) for _, channel, value in flat([record_of("task", rows)])]

        assert sorted(shown, key=str) == sorted(rows, key=str)

    def test_are_a_record_a_task(self) -> None:
        made = records_of([("1", "a", 1), ("2", "a", 2), ("1", "b", 3)])

        assert [(one.task, one.writes) for one in made] == [("1", (("a", 1), ("b", 3))), ("2", (("a", 2),))]

    def test_come_in_order_of_path_task_and_number(self) -> None:
        late = TaskRecord("1", "", "~b", (), "", 1, (("x", 1),), error={"type": "E", "message": ""})
        early = TaskRecord("2", "", "~a", (), "", 1, (("y", 2),))

        assert [(task, channel) for task, channel, _ in flat([late, early])] == [("2", "y"), ("1", ERROR), ("1", "x")]
