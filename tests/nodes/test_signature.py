"""What the parameters of a node's function ask for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Optional, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig

from stepwell.config import config_of
from stepwell.nodes.signature import destinations_in, signature_of
from stepwell.runtime import Runtime, runtime_of
from stepwell.store.base import BaseStore
from stepwell.types import Command, StreamWriter
from stepwell.warnings import StepwellWarning

if TYPE_CHECKING:
    from somewhere import Context, OnlyForCheckers


class State(TypedDict):
    a: int


def names(function, **options):
    return [name for name, _ in signature_of(function, **options).extras]


class DescribeWhatIsFilledIn:
    def test_is_nothing_for_a_function_of_the_state(self):
        assert names(lambda state: None) == []

    def test_is_every_known_name_without_an_annotation(self):
        assert names(lambda state, config, writer, store, runtime, previous: None) == [
            "config", "writer", "store", "runtime", "previous",
        ]  # fmt: skip

    def test_is_filled_by_name_alone_or_behind_a_star(self):
        def node(state, *, config: RunnableConfig):
            return None

        assert signature_of(node).extras == (("config", config_of),)

    def test_is_a_known_name_with_a_fitting_annotation(self):
        def node(
            state: State,
            config: Optional[RunnableConfig],  # noqa: UP045  # as code in the field writes it
            writer: StreamWriter,
            store: BaseStore | None,
            runtime: Runtime[Context],
            previous: int,
        ):
            return None

        assert names(node) == ["config", "writer", "store", "runtime", "previous"]

    def test_is_known_where_the_annotation_can_be_resolved_by_type_checkers_only(self):
        def node(state: OnlyForCheckers, runtime: Runtime[OnlyForCheckers], store: Optional[BaseStore]):  # noqa: UP045
            return None

        assert names(node) == ["runtime", "store"]

    def test_is_not_a_known_name_with_another_annotation(self):
        def node(state, store: dict, writer: int = 0, runtime: str = ""):
            return None

        assert names(node) == []

    def test_warns_where_the_annotation_of_config_keeps_it_from_being_filled(self):
        def node(state, config: int = 0):
            return None

        with pytest.warns(StepwellWarning, match="parameter 'config' of 'node' is annotated"):
            assert names(node) == []

    def test_takes_any_dict_for_config_and_any_callable_for_a_writer(self):
        def node(state, config: dict[str, Any], writer: Callable[[Any], None], runtime: Any):
            return None

        assert names(node) == ["config", "writer", "runtime"]

    def test_is_never_the_first_parameter(self):
        assert names(lambda config: None) == []

    def test_may_be_the_first_parameter_of_a_task(self):
        assert names(lambda config: None, leading=0) == ["config"]

    def test_is_the_error_for_handlers_only(self):
        assert names(lambda state, error: None) == []
        assert names(lambda state, error: None, handler=True) == ["error"]

    def test_is_nothing_for_a_function_that_does_not_tell(self):
        assert signature_of(max).extras == ()

    def test_is_found_in_objects_methods_and_partials(self):
        class Node:
            def __call__(self, state: State, runtime: Runtime):
                return None

            def method(self, state: State, runtime: Runtime):
                return None

        def function(tag, state: State, runtime: Runtime):
            return None

        for action in (Node(), Node().method, partial(function, "x")):
            assert names(action) == ["runtime"]

    def test_is_what_the_task_has(self, task):
        extras = dict(signature_of(lambda s, writer, store, previous, error: None, handler=True).extras)

        extras["writer"](task)("chunk")

        assert task.emitted == [("custom", "chunk")]
        assert extras["store"](task) == "the store"
        assert extras["previous"](task) == "before"
        assert extras["error"](task) == "the fault"


class DescribeWhatElseIsRead:
    def test_is_the_annotation_of_the_state_and_of_the_return(self):
        def node(state: State) -> dict:
            return {}

        signature = signature_of(node)

        assert (signature.state, signature.returned) == (State, dict)

    def test_is_whether_there_is_a_state_and_a_second_argument(self):
        def nothing():
            return None

        def named(*, state):
            return None

        assert not signature_of(nothing).takes_state
        assert not signature_of(named).takes_state
        assert signature_of(lambda state, failure: None, handler=True).second
        assert not signature_of(lambda state, config: None).second
        assert not signature_of(lambda state, *rest: None).second

    @pytest.mark.parametrize(
        ("hint", "found"),
        [
            (Command[Literal["a", "b"]], ("a", "b")),
            (dict | Command[Literal["a"]], ("a",)),
            (list[Command[Literal["a"]]], ("a",)),
            (Command, ()),
            (Command[str], ()),
            (dict, ()),
            (None, ()),
        ],
    )
    def test_is_where_commands_lead(self, hint, found):
        assert destinations_in(hint) == found


def test_runtime_is_made_for_nodes_that_ask_only():
    assert dict(signature_of(lambda state, runtime: None).extras) == {"runtime": runtime_of}
