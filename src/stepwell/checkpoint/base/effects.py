"""What operations over the public methods of a saver ask for, sync or async: PublicChain carries it out."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any


class Call:
    """Call a public method; sync `name`, async its twin."""

    __slots__ = ("args", "name")

    def __init__(self, name: str, *args: Any) -> None:
        self.name, self.args = name, args

    def __iter__(self) -> Generator[Call, Any, Any]:
        answer = yield self
        return answer


class Listing:
    """All tuples that `list` (`alist`) gives."""

    __slots__ = ("before", "config", "filter", "limit")

    def __init__(
        self,
        config: Mapping[str, Any] | None,
        *,
        filter: Mapping[str, Any] | None = None,
        before: Mapping[str, Any] | None = None,
        limit: int | None = None,
    ) -> None:
        self.config, self.filter, self.before, self.limit = config, filter, before, limit

    def __iter__(self) -> Generator[Listing, Any, list[Any]]:
        answer: list[Any] = yield self
        return answer


class Inner:
    """An operation of the built-in chain under a saver whose public methods were changed."""

    __slots__ = ("op",)

    def __init__(self, op: Generator[Any, Any, Any]) -> None:
        self.op = op

    def __iter__(self) -> Generator[Inner, Any, Any]:
        answer = yield self
        return answer
