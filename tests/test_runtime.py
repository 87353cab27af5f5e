"""What a node is handed of its run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from stepwell.errors import OutsideRunError, StepwellError
from stepwell.runtime import DEFAULT_RUNTIME, ExecutionInfo, RunControl, Runtime, ServerInfo, get_runtime, runtime_of
from stepwell.scope import current_task


def a_task(**changes: Any) -> Any:
    """The parts of a task and its run that a runtime is made of."""
    said: list[tuple[str, Any]] = []
    run = SimpleNamespace(
        context={"user": "ada"},
        store="the store",
        config={"configurable": {}},
        checkpoint_id="c1",
        thread_id="t1",
        run_id="r1",
        control=None,
    )
    task = SimpleNamespace(
        run=run, ns="node:1", id="1", attempt=1, slots={}, previous=None, said=said,
        emit=lambda mode, chunk: said.append((mode, chunk)), live=lambda: said.append(("live", None)),
    )  # fmt: skip
    run.__dict__.update({key: value for key, value in changes.items() if hasattr(run, key)})
    task.__dict__.update({key: value for key, value in changes.items() if not hasattr(run, key)})
    return task


class DescribeTheRuntimeOfATask:
    def test_has_the_context_and_store_of_the_run(self) -> None:
        runtime = runtime_of(a_task())

        assert runtime.context == {"user": "ada"} and runtime.store == "the store"

    def test_writes_to_the_custom_stream_of_the_task(self) -> None:
        task = a_task()

        runtime_of(task).stream_writer({"done": 1})

        assert task.said == [("custom", {"done": 1})]

    def test_gives_a_heartbeat_on_purpose(self) -> None:
        task = a_task()

        runtime_of(task).heartbeat()

        assert task.said == [("live", None)]

    def test_tells_which_execution_this_is(self) -> None:
        info = runtime_of(a_task(attempt=2)).execution_info

        assert info == ExecutionInfo(
            checkpoint_id="c1", checkpoint_ns="node:1", task_id="1", thread_id="t1", run_id="r1", node_attempt=2
        )

    def test_is_built_once(self) -> None:
        task = a_task()

        assert runtime_of(task) is runtime_of(task)

    def test_has_no_server_info_outside_of_a_server(self) -> None:
        assert runtime_of(a_task()).server_info is None

    def test_knows_the_assistant_a_server_runs_it_for(self) -> None:
        config = {"configurable": {"assistant_id": "a", "graph_id": "g"}}

        assert runtime_of(a_task(config=config)).server_info == ServerInfo(assistant_id="a", graph_id="g")

    def test_is_found_from_inside_the_node(self) -> None:
        task = a_task()
        token = current_task.set(task)

        found = get_runtime()
        current_task.reset(token)

        assert found is runtime_of(task)

    def test_is_not_found_outside_of_a_node(self) -> None:
        with pytest.raises(OutsideRunError, match="outside of a node"):
            get_runtime()


class DescribeARuntimeByItself:
    def test_writes_nowhere(self) -> None:
        DEFAULT_RUNTIME.stream_writer("lost")
        DEFAULT_RUNTIME.heartbeat()

        assert DEFAULT_RUNTIME.context is None and DEFAULT_RUNTIME.store is None

    def test_override_replaces_some_fields_of_a_copy(self) -> None:
        runtime: Runtime[Any] = Runtime(context="a", store="s")

        assert runtime.override(context="b") == Runtime(context="b", store="s")
        assert runtime.context == "a"

    def test_merge_takes_what_the_other_sets(self) -> None:
        mine: Runtime[Any] = Runtime(context="a", store="s")

        assert mine.merge(Runtime(context="b")) == Runtime(context="b", store="s")

    def test_patch_execution_info_replaces_some_of_its_fields(self) -> None:
        runtime: Runtime[Any] = Runtime(execution_info=ExecutionInfo(task_id="1"))

        patched = runtime.patch_execution_info(node_attempt=3)

        assert patched.execution_info == ExecutionInfo(task_id="1", node_attempt=3)

    def test_has_no_execution_info_to_patch(self) -> None:
        with pytest.raises(StepwellError, match="no execution_info"):
            DEFAULT_RUNTIME.patch_execution_info(node_attempt=3)

    def test_cannot_be_changed_in_place(self) -> None:
        with pytest.raises(AttributeError):
            DEFAULT_RUNTIME.store = "mine"  # type: ignore[misc]  # the point of the test


class DescribeARunControl:
    def test_asks_for_nothing_at_first(self) -> None:
        runtime: Runtime[Any] = Runtime(control=RunControl())

        assert not runtime.drain_requested and runtime.drain_reason is None

    def test_asks_the_run_to_stop_and_says_why(self) -> None:
        control = RunControl()

        control.request_drain("deploy")

        runtime: Runtime[Any] = Runtime(control=control)
        assert runtime.drain_requested and runtime.drain_reason == "deploy"

    def test_keeps_the_first_reason(self) -> None:
        control = RunControl()

        control.request_drain("deploy")
        control.request_drain("again")

        assert control.drain_reason == "deploy"

    def test_is_not_needed(self) -> None:
        assert not DEFAULT_RUNTIME.drain_requested and DEFAULT_RUNTIME.drain_reason is None
