"""Difference 36: a cached result is used again for exactly the same input only."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from stepwell.cache.key import cache_key, key_of
from stepwell.types import CachePolicy
from stepwell.warnings import StepwellWarning

POLICY = CachePolicy(ttl=5)
NS = ("work", "mod.work#1")


class DescribeTheKeyOfAnInput:
    @pytest.mark.parametrize(
        ("one", "another"),
        [
            ({"x": 1}, {"x": "1"}),
            ({"x": 1}, {"x": True}),
            ({"x": 1}, {"x": 1.0}),
            ({"x": None}, {}),
            ({"x": ("a", "bc")}, {"x": ("ab", "c")}),
            ({"x": [1]}, {"x": (1,)}),
            ({"x": {"k": 1}}, {"x": [("k", 1)]}),
            ({"x": b"1"}, {"x": "1"}),
        ],
    )
    def test_differs_where_the_inputs_do(self, one: Any, another: Any) -> None:
        assert cache_key(NS, POLICY, one) != cache_key(NS, POLICY, another)

    def test_is_the_same_for_equal_inputs(self) -> None:
        assert cache_key(NS, POLICY, {"x": [1, {"y": (2,)}]}) == cache_key(NS, POLICY, {"x": [1, {"y": (2,)}]})

    def test_lies_under_the_node_for_the_time_of_the_policy(self) -> None:
        key = cache_key(NS, POLICY, 1)

        assert key is not None and key.ns == NS and key.ttl == 5

    def test_tells_positional_from_named_arguments(self) -> None:
        assert cache_key(NS, POLICY, 1, x=2) != cache_key(NS, POLICY, 1, 2)

    def test_is_what_the_key_function_says(self) -> None:
        policy = CachePolicy(key_func=lambda state: state["id"])

        assert cache_key(NS, policy, {"id": "a", "n": 1}) == cache_key(NS, policy, {"id": "a", "n": 2})
        assert cache_key(NS, policy, {"id": "a"}) != cache_key(NS, policy, {"id": "b"})

    def test_tells_text_from_bytes_of_a_key_function(self) -> None:
        policy = CachePolicy(key_func=lambda given: given)

        assert cache_key(NS, policy, b"a") != cache_key(NS, policy, "61") != cache_key(NS, policy, "a")

    def test_is_none_with_a_warning_for_an_input_without_an_exact_encoding(self) -> None:
        with pytest.warns(StepwellWarning, match="'work' are not cached for this input"):
            assert cache_key(NS, POLICY, {"x": threading.Lock()}) is None


class DescribeTheKeyOfATask:
    def test_is_that_of_its_input(self) -> None:
        key = cache_key(NS, POLICY, {"x": 1})

        assert key is not None and key_of(a_task(input={"x": 1})) == (key.ns, key.key)

    def test_is_that_of_its_arguments_for_a_call(self) -> None:
        key = cache_key(NS, POLICY, 1, y=2)

        assert key is not None
        assert key_of(a_task(path=("push", "p", 0, True), arg=((1,), {"y": 2}))) == (key.ns, key.key)

    def test_is_none_without_a_policy_or_a_cache(self) -> None:
        assert key_of(a_task(policy=None)) is None and key_of(a_task(cache=None)) is None


def a_task(policy: Any = POLICY, cache: Any = "a cache", **parts: Any) -> Any:
    node = SimpleNamespace(cache=policy, cache_ns=NS)
    return SimpleNamespace(**{"node": node, "run": SimpleNamespace(cache=cache), "path": ("pull", "work"), **parts})
