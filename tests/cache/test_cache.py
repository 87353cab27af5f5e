"""What every cache does, by its sync and its async methods alike."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stepwell.cache.base import BaseCache
from stepwell.cache.memory import InMemoryCache
from stepwell.cache.sqlite import SqliteCache
from stepwell.warnings import StepwellWarning
from tests.drive import Drive

NS, OTHER = ("writes", "node"), ("writes", "other")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def cache(request: pytest.FixtureRequest, clock: Clock, tmp_path: Path) -> Iterator[BaseCache[Any]]:
    if request.param == "memory":
        yield InMemoryCache(clock=clock)
        return
    with SqliteCache[Any](path=tmp_path / "cache.sqlite", clock=clock) as made:
        yield made


@pytest.fixture
def do(drive: Drive, cache: BaseCache[Any]) -> Any:
    return lambda method, *args: drive.call(cache, method, *args)


class DescribeACache:
    def test_gives_back_what_was_set(self, do: Any) -> None:
        do("set", {(NS, "k"): ([("x", (1, "a"))], None)})

        assert do("get", [(NS, "k")]) == {(NS, "k"): [("x", (1, "a"))]}

    def test_leaves_out_what_it_does_not_have(self, do: Any) -> None:
        do("set", {(NS, "k"): (1, None)})

        assert do("get", [(NS, "k"), (NS, "l"), (OTHER, "k")]) == {(NS, "k"): 1}

    def test_replaces_what_was_there(self, do: Any) -> None:
        do("set", {(NS, "k"): (1, None)})

        do("set", {(NS, "k"): (2, None)})

        assert do("get", [(NS, "k")]) == {(NS, "k"): 2}

    def test_shares_no_object_with_what_was_set_or_got(self, do: Any) -> None:
        value = [1]
        do("set", {(NS, "k"): (value, None)})

        value.append(2)
        do("get", [(NS, "k")])[NS, "k"].append(3)

        assert do("get", [(NS, "k")]) == {(NS, "k"): [1]}

    def test_forgets_after_its_seconds(self, do: Any, clock: Clock) -> None:
        do("set", {(NS, "k"): (1, 10), (NS, "ever"): (2, None)})

        clock.now += 10

        assert do("get", [(NS, "k"), (NS, "ever")]) == {(NS, "ever"): 2}

    def test_remembers_up_to_then(self, do: Any, clock: Clock) -> None:
        do("set", {(NS, "k"): (1, 10)})

        clock.now += 9.9

        assert do("get", [(NS, "k")]) == {(NS, "k"): 1}

    def test_clears_some_namespaces(self, do: Any) -> None:
        do("set", {(NS, "k"): (1, None), (OTHER, "k"): (2, None)})

        do("clear", [NS])

        assert do("get", [(NS, "k"), (OTHER, "k")]) == {(OTHER, "k"): 2}

    def test_clears_everything(self, do: Any) -> None:
        do("set", {(NS, "k"): (1, None), (OTHER, "k"): (2, None)})

        do("clear")

        assert do("get", [(NS, "k"), (OTHER, "k")]) == {}

    def test_tells_namespaces_apart_whose_labels_join_to_the_same_text(self, do: Any) -> None:
        do("set", {(("a", "bc"), "k"): (1, None), (("ab", "c"), "k"): (2, None)})

        assert do("get", [(("a", "bc"), "k"), (("ab", "c"), "k")]) == {(("a", "bc"), "k"): 1, (("ab", "c"), "k"): 2}

    def test_leaves_out_what_cannot_be_stored_with_a_warning(self, do: Any) -> None:
        with socket.socket() as unstorable, pytest.warns(StepwellWarning, match="is not cached"):
            do("set", {(NS, "k"): (unstorable, None), (NS, "l"): (1, None)})

        assert do("get", [(NS, "k"), (NS, "l")]) == {(NS, "l"): 1}

    def test_takes_what_it_cannot_read_for_absent(self, cache: BaseCache[Any], do: Any) -> None:
        do("set", {(NS, "k"): (1, None)})

        class Strange:
            def dumps_typed(self, value: Any) -> tuple[str, bytes]:
                return "strange", b"?"

            def loads_typed(self, data: tuple[str, bytes]) -> Any:
                from stepwell.errors import UnknownTypeError

                raise UnknownTypeError("a class of another program")

        cache.serde = Strange()

        assert do("get", [(NS, "k")]) == {}

    def test_drops_what_has_expired_when_it_is_used_on(self, do: Any, clock: Clock) -> None:
        do("set", {(NS, str(n)): (n, 1) for n in range(10)})
        clock.now += 5

        do("set", {(OTHER, str(n)): (n, None) for n in range(1024)})
        clock.now -= 5

        assert do("get", [(NS, "1")]) == {}


class DescribeACacheInAFile:
    def test_outlives_the_process(self, tmp_path: Path, proc: Any) -> None:
        script = """
            import sys
            from stepwell.cache.sqlite import SqliteCache
            with SqliteCache(path=sys.argv[1]) as cache:
                if sys.argv[2] == "set":
                    cache.set({(("a",), "k"): ("kept", None)})
                print(cache.get([(("a",), "k")]))
        """

        proc(script, tmp_path / "c.sqlite", "set")

        assert proc(script, tmp_path / "c.sqlite", "get") == "{(('a',), 'k'): 'kept'}\n"
