"""Difference 36: two callables share cached results only when nothing that could make them differ does."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import pytest

from stepwell.nodes.identity import identity_of


def work(state: Any) -> Any:
    return state


def other(state: Any) -> Any:
    return [state]


def tagged(tag: Any, state: Any) -> Any:
    return tag, state


def closing_over(tag: Any) -> Callable[[Any], Any]:
    def node(state: Any) -> Any:
        return tag, state

    return node


def with_default(tag: str) -> Callable[[Any], Any]:
    def node(state: Any, tag: str = tag) -> Any:
        return tag, state

    return node


class A:
    def __init__(self, tag: Any = None) -> None:
        self.tag = tag

    def __call__(self, state: Any) -> Any:
        return "A", state

    def method(self, state: Any) -> Any:
        return self.tag, state


class B(A):
    def __call__(self, state: Any) -> Any:
        return "B", state


class DescribeTheIdentityOfACallable:
    @pytest.mark.parametrize(
        ("make_one", "make_other"),
        [
            (lambda: work, lambda: other),
            (lambda: A(), lambda: B()),
            (lambda: A("x"), lambda: A("y")),
            (lambda: A("1"), lambda: A(1)),
            (lambda: A(1), lambda: A(True)),
            (lambda: A([1]), lambda: A((1,))),
            (lambda: functools.partial(tagged, "p"), lambda: functools.partial(tagged, "q")),
            (lambda: functools.partial(tagged, "p"), lambda: functools.partial(tagged, tag="p")),
            (lambda: functools.partial(work), lambda: work),
            (lambda: A("x").method, lambda: A("y").method),
            (lambda: A("x").method, lambda: A("x")),
            (lambda: closing_over("x"), lambda: closing_over("y")),
            (lambda: closing_over(work), lambda: closing_over(other)),
            (lambda: closing_over(threading.Lock()), lambda: closing_over(threading.Lock())),
            (lambda: with_default("x"), lambda: with_default("y")),
            (lambda: lambda state: state, lambda: lambda state: [state]),
            (lambda: A, lambda: B),
        ],
    )
    def test_differs_where_they_do(self, make_one: Any, make_other: Any) -> None:
        one, another = make_one(), make_other()

        assert identity_of(one) != identity_of(another)

    @pytest.mark.parametrize(
        "make",
        [
            lambda: work,
            lambda: A("x"),
            lambda: A({"deep": [1, ("a",)]}),
            lambda: A(work),
            lambda: A("x").method,
            lambda: functools.partial(tagged, "p"),
            lambda: closing_over("x"),
            lambda: closing_over([work, {"f": other}]),
            lambda: closing_over(A("x")),
        ],
    )
    def test_is_the_same_for_what_is_made_the_same_way(self, make: Any) -> None:
        assert identity_of(make()) == identity_of(make())

    def test_stays_with_an_object_that_has_no_encoding(self) -> None:
        lock = threading.Lock()

        assert identity_of(closing_over(lock)) == identity_of(closing_over(lock))

    def test_ends_for_a_function_that_holds_itself(self) -> None:
        def make(tag: str) -> Callable[[Any], Any]:
            def node(state: Any) -> Any:
                return node, tag

            return node

        assert identity_of(make("x")) == identity_of(make("x")) != identity_of(make("y"))

    def test_changes_with_the_code_of_a_class_of_the_same_name(self) -> None:
        def edited(answer: int) -> Any:
            scope: dict[str, Any] = {"__name__": "edited"}
            exec(f"class Node:\n    def __call__(self, state): return {answer}", scope)
            return scope["Node"]()

        assert identity_of(edited(1)) == identity_of(edited(1)) != identity_of(edited(2))

    def test_is_the_same_in_another_process(self, proc: Any) -> None:
        script = """
            import functools
            from stepwell.nodes.identity import identity_of
            def node(state, kinds=frozenset({"a", "b", "c"})):
                return state in {"x", "y", "z"}
            class Node:
                def __init__(self): self.tag = {"a": 1}
                def __call__(self, state): return state
            print(identity_of(node), identity_of(Node()), identity_of(functools.partial(node, 1)))
        """

        assert proc(script) == proc(script)

    def test_takes_a_client_for_itself_and_does_not_look_into_it(self) -> None:
        class Client:
            def __init__(self) -> None:
                self.calls = 0

        client = Client()
        before = identity_of(closing_over(client))
        client.calls += 1

        assert identity_of(closing_over(client)) == before != identity_of(closing_over(Client()))

    def test_takes_equal_data_for_the_same(self) -> None:
        from dataclasses import dataclass

        @dataclass
        class Settings:
            limit: int

        assert identity_of(closing_over(Settings(1))) == identity_of(closing_over(Settings(1)))
        assert identity_of(closing_over(Settings(1))) != identity_of(closing_over(Settings(2)))
