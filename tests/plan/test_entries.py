"""What the entries of a config may be."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from stepwell.errors import ConfigError
from stepwell.plan.entries import check_config, valid_limit


class Handler:
    """What tells a handler of callbacks from other things, without LangChain."""

    ignore_chain = False


class Manager:
    """What tells a callback manager from other things."""

    inheritable_handlers: tuple[Any, ...] = ()


class DescribeAConfig:
    @pytest.mark.parametrize("config", ["order-7", 5, ["order-7"], None, object()])
    def test_is_a_dict(self, config: Any) -> None:
        with pytest.raises(ConfigError, match="it is a dict") as refused:
            check_config(config)

        assert type(config).__name__ in str(refused.value)

    @pytest.mark.parametrize(
        "config",
        [
            {},
            {"tags": ["a"], "metadata": {"m": 1}, "configurable": {"thread_id": "t"}},
            {"tags": ("a",)},
            {"tags": {"a"}},
            {"callbacks": []},
            {"callbacks": [Handler()]},
            {"callbacks": Manager()},
            {"run_name": "nightly", "run_id": "r1"},
            {"run_id": uuid.UUID(int=1)},
            {"run_id": 7},
            dict.fromkeys(("tags", "metadata", "callbacks", "run_name", "run_id", "configurable")),
            {"thread_id": "t", "mine": object()},
        ],
    )
    def test_that_can_be_meant_is_taken(self, config: dict[str, Any]) -> None:
        check_config(config)

    @pytest.mark.parametrize(
        ("entry", "said"),
        [
            ({"configurable": "t"}, r"config\['configurable'\] is 't', of type str; it is a dict"),
            ({"metadata": ["m"]}, r"config\['metadata'\].*it is a dict"),
            ({"tags": "nightly"}, "'nightly', of type str; it is a list of texts"),
            ({"tags": 5}, "it is a list of texts"),
            ({"tags": {"a": 1}}, "it is a list of texts"),
            ({"tags": ["a", 5]}, "holds 5, of type int; a tag is text"),
            ({"callbacks": 5}, "it is a list of handlers"),
            ({"callbacks": "x"}, "it is a list of handlers"),
            ({"callbacks": Handler()}, r"Put a handler into a list: \[handler\]"),
            ({"callbacks": Manager}, "it is a list of handlers"),
            ({"callbacks": [5]}, "holds 5, of type int, which is no handler"),
            ({"callbacks": [Handler]}, r"holds the class Handler; call it: Handler\(\)"),
            ({"run_name": 5}, r"config\['run_name'\] is 5"),
            ({"run_id": []}, r"config\['run_id'\] is \[\]"),
            ({"run_id": True}, r"config\['run_id'\] is True"),
        ],
    )
    def test_whose_entry_cannot_be_meant_is_refused_by_its_name(self, entry: dict[str, Any], said: str) -> None:
        with pytest.raises(ConfigError, match=said):
            check_config(entry)


class DescribeALimit:
    def test_is_a_whole_number_of_at_least_one(self) -> None:
        assert valid_limit(1) == 1
        check_config({"recursion_limit": 1, "max_concurrency": 3})

    def test_of_tasks_at_once_may_be_left_out(self) -> None:
        check_config({"max_concurrency": None})

    @pytest.mark.parametrize("limit", [0, -1, True, "10", 1.5])
    def test_that_counts_nothing_is_refused(self, limit: Any) -> None:
        with pytest.raises(ConfigError, match="recursion_limit"):
            valid_limit(limit)
        with pytest.raises(ConfigError, match="max_concurrency"):
            check_config({"max_concurrency": limit})
