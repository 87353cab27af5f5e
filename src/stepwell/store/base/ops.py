"""What a store is asked and what it answers: items and operations."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypedDict, final

NamespacePath: TypeAlias = tuple[str, ...]
"""Labels of a namespace in a condition; "*" stands for any one label."""
NamespaceMatchType: TypeAlias = Literal["prefix", "suffix"]


@final
class NotProvided:
    """The type of NOT_PROVIDED."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NOT_PROVIDED"


NOT_PROVIDED: Final = NotProvided()
"""The default of `ttl`: the store's own default holds. None means that the item never expires."""


class Item:
    """One stored item. Times are datetimes in UTC: when it was first put, and when it was last put."""

    __slots__ = ("created_at", "key", "namespace", "updated_at", "value")

    def __init__(
        self,
        *,
        value: dict[str, Any],
        key: str,
        namespace: tuple[str, ...],
        created_at: datetime | str,
        updated_at: datetime | str,
    ) -> None:
        self.value = value
        self.key = key
        self.namespace = tuple(namespace)
        self.created_at = _as_datetime(created_at)
        self.updated_at = _as_datetime(updated_at)

    def dict(self) -> dict[str, Any]:
        """The item as plain data: the namespace as a list, times as ISO 8601 text."""
        return {
            "namespace": list(self.namespace),
            "key": self.key,
            "value": self.value,
            "created_at": self.created_at.isoformat(),
            "updated_at": self.updated_at.isoformat(),
        }

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.dict() == other.dict()

    def __hash__(self) -> int:
        return hash((self.namespace, self.key))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.dict().items())})"


class SearchItem(Item):
    """An item that a search found. `score`: how near it is to the query, None when nothing was compared."""

    __slots__ = ("score",)

    def __init__(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: dict[str, Any],
        created_at: datetime | str,
        updated_at: datetime | str,
        score: float | None = None,
    ) -> None:
        super().__init__(value=value, key=key, namespace=namespace, created_at=created_at, updated_at=updated_at)
        self.score = score

    def dict(self) -> dict[str, Any]:
        """The item as plain data, with its score."""
        return {**super().dict(), "score": self.score}


def _as_datetime(value: datetime | str) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(value)


class GetOp(NamedTuple):
    """Read one item. `refresh_ttl`: reading it makes it live its ttl once more."""

    namespace: tuple[str, ...]
    key: str
    refresh_ttl: bool = True


class PutOp(NamedTuple):
    """Write one item, or delete it where `value` is None.

    index: None: the store's fields are embedded; False: nothing is; a list of paths: those are. ttl: minutes, or None.
    """

    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any] | None
    index: Literal[False] | list[str] | None = None  # type: ignore[assignment]  # hides tuple.index, as people know it
    ttl: float | None = None


class SearchOp(NamedTuple):
    """Find items at and below a namespace: those that `filter` takes, the nearest to `query` first if there is one."""

    namespace_prefix: tuple[str, ...]
    filter: Mapping[str, Any] | None = None
    limit: int = 10
    offset: int = 0
    query: str | None = None
    refresh_ttl: bool = True


class MatchCondition(NamedTuple):
    """That a namespace begins or ends with `path`; "*" stands for any one label."""

    match_type: NamespaceMatchType
    path: NamespacePath


class ListNamespacesOp(NamedTuple):
    """List the namespaces that hold items and meet all conditions, cut to `max_depth` labels, each once, sorted."""

    match_conditions: tuple[MatchCondition, ...] | None = None
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


Op: TypeAlias = GetOp | PutOp | SearchOp | ListNamespacesOp
Result: TypeAlias = Item | list[Item] | list[SearchItem] | list[tuple[str, ...]] | None


class TTLConfig(TypedDict, total=False):
    """How long items live. Expired items are never returned, swept or not.

    default_ttl: minutes for items put without a ttl of their own; refresh_on_read: reading an item makes it live its
    ttl once more (default True); sweep_interval_minutes: how often `start_ttl_sweeper` sweeps; omit_expired: has no
    effect here, they always are.
    """

    default_ttl: float | None
    refresh_on_read: bool
    sweep_interval_minutes: float | None
    omit_expired: bool


class IndexConfig(TypedDict, total=False):
    """What makes items findable by meaning.

    dims: numbers in a vector; embed: LangChain Embeddings, a function (sync or async) from texts to vectors, or
    "provider:model"; fields: paths of the texts to embed (default ["$"], the whole value).
    """

    dims: int
    embed: Any
    fields: list[str] | None
