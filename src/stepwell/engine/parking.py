"""Questions that are kept while the thread goes on (`on_interrupted="keep"`).

The node that asked stays due, but is not run: each checkpoint that the run makes gets the question's record filed under
it, so that it outlives the run however that ends, until somebody answers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stepwell.engine.due import due_tasks
from stepwell.engine.run import Run
from stepwell.engine.saving import Steps, record_of, save_records
from stepwell.engine.task import PULL, Task
from stepwell.errors import InvalidUpdateError
from stepwell.saves import TaskRecord


def park(run: Run, asking: Sequence[Task], records: Mapping[str, TaskRecord]) -> None:
    """Keeps the questions of these tasks. Raises InvalidUpdateError where the task cannot come again."""
    for task in asking:
        if task.path[0] != PULL:
            raise InvalidUpdateError(
                f'on_interrupted="keep" cannot keep the question of node {task.name!r}: a Send started it, and its '
                "argument belongs to the step that is left. Answer it first, or drop it."
            )
        run.parked[task.name] = records[task.id]


def parked_tasks(run: Run) -> list[Task]:
    """The tasks that would run where the run stands now, had their questions an answer; paused."""
    parked, run.parked = run.parked, {}
    tasks = [task for task in due_tasks(run) if task.name in parked] if parked else []
    run.parked = parked
    for task in tasks:
        task.record = record = parked[task.name]
        answered = dict(record.answers)
        task.questions.open = [pair for pair in record.interrupts if pair[1] not in answered]
        task.paused = True
    return tasks


def file_parked(run: Run, *, is_over: bool = False) -> Steps[None]:
    """Files kept questions at the checkpoint the run stands on; with durability="exit", only when the run is over."""
    if run.parked and (run.durability == "exit") == is_over:
        yield from save_records(run, [record_of(task, finished=False) for task in parked_tasks(run)])
