"""How configs become one, and which one a node is handed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from stepwell import config as configs
from stepwell.config import (
    DEFAULT_RECURSION_LIMIT,
    TASK_KEY,
    config_of,
    ensure_config,
    get_config,
    get_store,
    get_stream_writer,
    merge_callbacks,
    merge_configs,
    parent_of,
    run_config,
    stored_metadata,
)
from stepwell.errors import ConfigError, OutsideRunError
from stepwell.scope import current_task


def a_task(config: dict[str, Any] | None = None, *, thread: str | None = "t1", node: Any = None) -> Any:
    """The parts of a task and its run that a config is made of."""
    said: list[Any] = []
    node = node or SimpleNamespace(metadata={}, tags=())
    run = SimpleNamespace(config=ensure_config(config), thread_id=thread, checkpoint_id="c1", store="s")
    return SimpleNamespace(
        run=run, node=node, name="work", step=3, triggers=("branch:to:work",), path=("__pregel_pull", "work"),
        ns="work:1", id="1", slots={}, done=False, error=None, said=said,
        emit=lambda mode, chunk: said.append((mode, chunk)),
    )  # fmt: skip


@contextmanager
def inside(task: Any) -> Iterator[Any]:
    """As in the body of the node of `task`."""
    token = current_task.set(task)
    try:
        yield task
    finally:
        current_task.reset(token)


class DescribeACompleteConfig:
    def test_has_every_entry_that_is_read_without_asking(self) -> None:
        assert ensure_config() == {
            "tags": [], "metadata": {}, "callbacks": None, "recursion_limit": DEFAULT_RECURSION_LIMIT,
            "configurable": {},
        }  # fmt: skip

    def test_shares_no_container_with_what_was_given(self) -> None:
        given: dict[str, Any] = {"tags": ["a"], "metadata": {"m": 1}, "configurable": {"thread_id": "t"}}

        full = ensure_config(given)
        full["tags"].append("b")
        full["metadata"]["n"] = 2
        full["configurable"]["thread_id"] = "u"

        assert given == {"tags": ["a"], "metadata": {"m": 1}, "configurable": {"thread_id": "t"}}

    def test_takes_a_key_of_the_users_own_at_the_top_as_configurable(self) -> None:
        assert ensure_config({"thread_id": "t"})["configurable"] == {"thread_id": "t"}

    def test_keeps_options_of_the_library_at_the_top(self) -> None:
        assert ensure_config({"on_busy": "reject"})["on_busy"] == "reject"

    @pytest.mark.parametrize("limit", [0, -1, True, "10", 1.5])
    def test_refuses_a_step_limit_that_is_none(self, limit: Any) -> None:
        with pytest.raises(ConfigError, match="recursion_limit") as refused:
            ensure_config({"recursion_limit": limit})

        assert isinstance(refused.value, ValueError)

    def test_takes_the_default_limit_from_the_environment(self, proc: Any) -> None:
        script = """
            import os
            os.environ["STEPWELL_DEFAULT_RECURSION_LIMIT"] = "12"
            from stepwell.config import ensure_config
            print(ensure_config()["recursion_limit"])
        """

        assert proc(script) == "12\n"

    def test_says_which_environment_variable_is_wrong(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("STEPWELL_DEFAULT_RECURSION_LIMIT", "many")

        with pytest.raises(ConfigError, match="STEPWELL_DEFAULT_RECURSION_LIMIT is 'many'"):
            configs._default_limit()


class DescribeMergingConfigs:
    def test_lets_the_later_one_win(self) -> None:
        merged = merge_configs({"recursion_limit": 5, "run_name": "a"}, None, {"recursion_limit": 7})

        assert merged["recursion_limit"] == 7 and merged["run_name"] == "a"

    def test_adds_up_tags_metadata_and_configurable(self) -> None:
        merged = merge_configs(
            {"tags": ["a", "b"], "metadata": {"m": 1, "n": 1}, "configurable": {"x": 1}},
            {"tags": ["b", "c"], "metadata": {"n": 2}, "configurable": {"y": 2}},
        )

        assert merged["tags"] == ["a", "b", "c"]
        assert merged["metadata"] == {"m": 1, "n": 2}
        assert merged["configurable"] == {"x": 1, "y": 2}

    def test_puts_callbacks_one_after_the_other_each_once(self) -> None:
        first, second = object(), object()

        assert merge_callbacks([first], [second, first]) == [first, second]

    def test_leaves_callbacks_alone_where_there_is_one_side(self) -> None:
        assert merge_callbacks(None, ["h"]) == ["h"] and merge_configs({"callbacks": ["h"]})["callbacks"] == ["h"]

    def test_refuses_a_step_limit_that_is_none(self) -> None:
        with pytest.raises(ConfigError):
            merge_configs({"recursion_limit": 0})

    def test_takes_keys_of_the_users_own_at_the_top_as_configurable(self) -> None:
        assert merge_configs({"thread_id": "t"}, {"tags": None})["configurable"] == {"thread_id": "t"}

    def test_adds_handlers_to_a_manager_without_changing_it(self) -> None:
        from langchain_core.callbacks import BaseCallbackHandler, CallbackManager

        first, second = BaseCallbackHandler(), BaseCallbackHandler()
        manager = CallbackManager(handlers=[first], inheritable_handlers=[first])

        assert merge_callbacks(manager, [second, first]).inheritable_handlers == [first, second]
        assert merge_callbacks([second], manager).inheritable_handlers == [first, second]
        assert manager.handlers == [first]

    def test_of_two_managers_keeps_the_later_as_parent_of_what_runs(self) -> None:
        from uuid import UUID

        from langchain_core.callbacks import BaseCallbackHandler, CallbackManager

        first, second = BaseCallbackHandler(), BaseCallbackHandler()
        outer = CallbackManager([first], [first], parent_run_id=UUID(int=1))
        inner = CallbackManager([second], [second], parent_run_id=UUID(int=2))

        merged = merge_callbacks(outer, inner)

        assert merged.parent_run_id == UUID(int=2) and merged.inheritable_handlers == [second, first]
        assert merge_callbacks(outer, outer) is outer


class DescribeTheConfigOfARun:
    def test_is_the_graphs_own_under_the_calls(self) -> None:
        own = {"recursion_limit": 9, "tags": ["own"]}

        merged = run_config(own, {"tags": ["call"], "configurable": {"thread_id": "t"}})

        assert merged["recursion_limit"] == 9 and merged["tags"] == ["own", "call"]
        assert merged["configurable"] == {"thread_id": "t"}

    def test_inside_a_node_takes_over_what_the_node_was_given(self) -> None:
        outer = {"tags": ["outer"], "metadata": {"m": 1}, "configurable": {"user": "ada"}, "recursion_limit": 8}

        with inside(a_task(outer)):
            merged = run_config(None, None)

        assert merged["tags"] == ["outer"] and merged["recursion_limit"] == 8
        assert merged["metadata"] == {"m": 1, "thread_id": "t1"}
        assert merged["configurable"] == {"user": "ada", "thread_id": "t1"}

    def test_inside_a_node_lies_between_the_graphs_own_and_the_calls(self) -> None:
        with inside(a_task({"configurable": {"a": "node", "b": "node"}})):
            merged = run_config({"configurable": {"a": "own"}}, {"configurable": {"b": "call"}})

        assert merged["configurable"] == {"a": "node", "b": "call", "thread_id": "t1"}

    def test_naming_a_thread_drops_the_configurable_of_the_node_and_keeps_its_tags(self) -> None:
        with inside(a_task({"tags": ["outer"], "configurable": {"user": "ada"}})):
            merged = run_config(None, {"configurable": {"thread_id": "t2"}})

        assert merged["configurable"] == {"thread_id": "t2"} and merged["tags"] == ["outer"]

    def test_given_the_nodes_own_config_is_the_same_as_given_none(self) -> None:
        task = a_task({"tags": ["outer"], "metadata": {"m": 1}, "configurable": {"user": "ada"}})

        with inside(task):
            assert run_config(None, config_of(task)) == run_config(None, None)

    def test_knows_the_node_by_its_config_in_a_thread_without_context(self) -> None:
        task = a_task({"configurable": {"user": "ada"}})
        found: list[Any] = []

        thread = threading.Thread(target=lambda: found.append(run_config(None, config_of(task))))
        thread.start()
        thread.join()

        assert found[0]["configurable"] == {"user": "ada", "thread_id": "t1"}

    def test_given_the_nodes_config_with_another_thread_keeps_no_address_of_the_node(self) -> None:
        task = a_task()
        handed = config_of(task)

        call = {**handed, "configurable": {**handed["configurable"], "thread_id": "t2"}}

        assert run_config(None, call)["configurable"] == {"thread_id": "t2"}


class DescribeWhoseChildARunIs:
    def test_outside_of_any_node_nobodys(self) -> None:
        assert parent_of(None) is None and parent_of({"configurable": {"thread_id": "t"}}) is None

    def test_inside_a_node_the_nodes(self) -> None:
        with inside(a_task()) as task:
            assert parent_of(None) is task and parent_of({"tags": ["x"]}) is task

    def test_with_a_thread_of_its_own_nobodys(self) -> None:
        with inside(a_task()):
            assert parent_of({"configurable": {"thread_id": "t2"}}) is None

    def test_with_the_config_of_the_node_the_nodes(self) -> None:
        task = a_task()

        assert parent_of(config_of(task)) is task

    def test_with_the_config_of_a_node_that_is_over_nobodys(self) -> None:
        ended, failed = a_task(), a_task()
        ended.done, failed.error = True, ValueError()

        assert parent_of(config_of(ended)) is None and parent_of(config_of(failed)) is None
        assert run_config(None, config_of(ended))["configurable"] == {"thread_id": "t1"}

    def test_with_the_config_of_the_node_and_another_checkpoint_nobodys(self) -> None:
        handed = config_of(a_task())

        assert parent_of({"configurable": {**handed["configurable"], "checkpoint_id": "c0"}}) is None


class DescribeTheConfigOfANode:
    def test_addresses_the_thread_and_the_namespace_of_the_task(self) -> None:
        task = a_task({"configurable": {"thread_id": "t1", "user": "ada"}})

        assert config_of(task)["configurable"] == {
            "user": "ada", "thread_id": "t1", "checkpoint_ns": "work:1", "checkpoint_id": "c1", TASK_KEY: task,
        }  # fmt: skip

    def test_tells_tracers_where_in_the_graph_this_is(self) -> None:
        assert config_of(a_task({"metadata": {"m": 1}}))["metadata"] == {
            "m": 1,
            "thread_id": "t1",
            "langgraph_step": 3,
            "langgraph_node": "work",
            "langgraph_triggers": ("branch:to:work",),
            "langgraph_path": ("__pregel_pull", "work"),
            "langgraph_checkpoint_ns": "work:1",
        }

    def test_has_the_tags_and_metadata_of_the_node(self) -> None:
        node = SimpleNamespace(metadata={"kind": "slow"}, tags=("mine",))

        config = config_of(a_task({"tags": ["run"]}, node=node))

        assert config["tags"] == ["run", "mine"] and config["metadata"]["kind"] == "slow"

    def test_names_no_thread_where_there_is_none(self) -> None:
        assert "thread_id" not in config_of(a_task(thread=None))["configurable"]

    def test_is_found_from_inside_the_node(self) -> None:
        with inside(a_task()) as task:
            assert get_config() is config_of(task)

    def test_leaves_the_config_of_the_run_alone(self) -> None:
        task = a_task({"tags": ["run"], "metadata": {"m": 1}})

        config_of(task)["tags"].append("more")
        config_of(task)["metadata"]["n"] = 2

        assert task.run.config["tags"] == ["run"] and task.run.config["metadata"] == {"m": 1}


class DescribeWhatIsFoundFromInsideANode:
    def test_the_store_of_the_graph(self) -> None:
        with inside(a_task()):
            assert get_store() == "s"

    def test_a_writer_to_the_custom_stream(self) -> None:
        with inside(a_task()) as task:
            get_stream_writer()("chunk")

        assert task.said == [("custom", "chunk")]

    @pytest.mark.parametrize("ask", [get_config, get_store, get_stream_writer])
    def test_nothing_outside_of_it(self, ask: Any) -> None:
        with pytest.raises(OutsideRunError, match="outside of a node") as refused:
            ask()

        assert isinstance(refused.value, RuntimeError)


class DescribeTheMetadataACheckpointKeeps:
    def test_is_the_scalars_of_metadata(self) -> None:
        config = {"metadata": {"user": "ada", "n": 1, "ok": True, "deep": {"a": 1}}}

        assert stored_metadata(config) == {"user": "ada", "n": 1, "ok": True}

    def test_is_of_configurable_only_what_is_named(self) -> None:
        config = {"configurable": {"thread_id": "t", "api_key": "sk-1", "tenant": "x", "checkpoint_ns": ""}}

        assert stored_metadata(config) == {"thread_id": "t"}
        assert stored_metadata(config, ["tenant"]) == {"thread_id": "t", "tenant": "x"}

    def test_has_the_id_of_the_run(self) -> None:
        assert stored_metadata({"run_id": 7}) == {"run_id": "7"}

    def test_leaves_out_what_tells_about_the_node_around(self) -> None:
        config = {"metadata": {"langgraph_node": "a", "__private": 1, "checkpoint_ns": "a:1", "thread_id": "outer"}}

        assert stored_metadata(config) == {}


class DescribeRunnablesOfLangChain:
    def test_below_a_node_are_given_the_nodes_config(self) -> None:
        from langchain_core.runnables import RunnableLambda

        task = a_task({"configurable": {"user": "ada"}})
        seen: list[Any] = []
        token = configs.offer(task)

        RunnableLambda(lambda x, config: seen.append(config)).invoke(1)
        configs.withdraw(token)

        assert seen[0]["configurable"]["user"] == "ada" and seen[0]["configurable"]["thread_id"] == "t1"
        assert seen[0]["recursion_limit"] == DEFAULT_RECURSION_LIMIT

    def test_lend_what_was_added_on_the_way_to_graphs_below_them(self) -> None:
        from langchain_core.runnables import RunnableLambda

        seen: list[Any] = []
        with inside(a_task({"tags": ["run"]})) as task:
            token = configs.offer(task)
            RunnableLambda(lambda x: seen.append(run_config(None, None))).with_config(tags=["chain"]).invoke(1)
            configs.withdraw(token)

        assert seen[0]["tags"] == ["run", "chain"] and seen[0]["configurable"] == {"thread_id": "t1"}

    def test_around_a_graph_lend_their_config_but_not_their_step_limit(self) -> None:
        from langchain_core.runnables import RunnableLambda

        seen: list[Any] = []

        RunnableLambda(lambda x: seen.append(run_config(None, None))).invoke(1, {"tags": ["chain"]})

        assert seen[0]["tags"] == ["chain"] and seen[0]["recursion_limit"] == DEFAULT_RECURSION_LIMIT

    def test_find_the_config_of_a_node_as_a_mapping(self) -> None:
        from langchain_core.runnables.config import var_child_runnable_config

        task = a_task({"tags": ["run"]})
        token = configs.offer(task)
        offered = var_child_runnable_config.get()
        configs.withdraw(token)

        assert offered and dict(offered) == config_of(task) and len(offered) == len(config_of(task))

    def test_give_their_own_config_to_functions_outside_of_any_graph(self) -> None:
        from langchain_core.runnables import RunnableLambda

        seen: list[Any] = []

        RunnableLambda(lambda x: seen.append(get_config()["tags"])).invoke(1, {"tags": ["chain"]})

        assert seen == [["chain"]]

    def test_are_not_imported_for_a_config(self, proc: Any) -> None:
        script = """
            import sys
            from stepwell.config import run_config
            import stepwell.runtime
            run_config(None, {"configurable": {"thread_id": "t"}})
            print([name for name in ("langchain_core", "pydantic", "asyncio") if name in sys.modules])
        """

        assert proc(script) == "[]\n"
