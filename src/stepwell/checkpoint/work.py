"""What one staging has at hand: the codec, places for new items, and where equal bytes lie already."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Sequence
from operator import is_
from typing import Any, Final, NamedTuple, Protocol

from stepwell.checkpoint.costs import IN_DATABASE, Costs
from stepwell.checkpoint.kept import SCALARS, Kept, KeptMapping, KeptSequence, KeptText
from stepwell.checkpoint.ledger import WORTH_SHARING, Item, Ledger
from stepwell.checkpoint.refs import Part, Ref

COPIED: Final = frozenset({dict, list, set, deque, OrderedDict, defaultdict, Counter, bytearray, tuple})
"""Types that are handed to nodes as copies, so that identity says nothing about them."""


INLINE_BYTES: Final = 64
"""Up to this size a value lies in the reference itself."""


class Touch(NamedTuple):
    """What a merge can have done to a channel's old value.

    pure: it cannot have changed an old element. written: identities of what this step's writes held.
    """

    pure: bool
    written: frozenset[int] | set[int]


UNTOUCHED: Final = Touch(True, frozenset())
UNKNOWN: Final = Touch(False, frozenset())


class Codec(Protocol):
    """Values ↔ stable bytes. `encode` raises UnstorableTypeError, which names `channel`."""

    def encode(self, value: Any, channel: str = "") -> bytes: ...

    def decode(self, data: bytes) -> Any: ...

    def decode_all(self, items: Iterable[bytes]) -> list[Any]: ...


class Lender(Protocol):
    """A base whose values may be referred to."""

    def probe(self, identity: int, name: str) -> Sequence[Kept]: ...

    def kept_of(self, name: str) -> Kept | None: ...


class Work:
    """One staging under way. Nothing of it is known to others until `finish`."""

    __slots__ = (
        "_codec",
        "_fresh",
        "_ledger",
        "_memo",
        "channel",
        "costs",
        "is_apart",
        "items",
        "lenders",
        "ns",
        "sends",
        "tails",
    )

    def __init__(
        self, codec: Codec, ledger: Ledger, ns: str, lenders: tuple[Lender, ...], costs: Costs = IN_DATABASE
    ) -> None:
        self._codec, self._ledger, self.ns, self.lenders = codec, ledger, ns, lenders
        self.costs = costs
        self._memo: dict[int, bytes] = {}  # identity of an object that this staging holds → its bytes
        self._fresh: dict[bytes, tuple[int, int]] = {}
        self.items: list[Item] = []
        self.sends: dict[int, Ref] = {}  # identity of a Send that has references of its own → these
        self.tails: dict[str, tuple[list[Any], list[Part]]] = {}  # channel → elements just placed behind it, and where
        self.channel = ""
        self.is_apart = False  # whether new items are part of no channel's value

    def encode(self, value: Any) -> bytes:
        """The value's bytes."""
        if type(value) in SCALARS:
            return self._codec.encode(value, self.channel)
        data = self._memo.get(id(value))
        if data is None:
            data = self._memo[id(value)] = self._codec.encode(value, self.channel)
        return data

    def has_met(self, value: Any) -> bool:
        """Whether this staging has encoded the object before."""
        return id(value) in self._memo

    def encode_once(self, value: Any) -> bytes:
        """The bytes of a value that lives no longer than this call."""
        return self._codec.encode(value, self.channel)

    def find(self, data: bytes) -> tuple[int, int] | None:
        """Where these bytes lie, if they were placed in this staging or a short while before."""
        if len(data) < WORTH_SHARING:
            return None
        return self._fresh.get(data) or self._ledger.find(data)

    def place(self, data: Iterable[bytes], count: int, log: int, tip: int) -> list[Part]:
        """Places items behind those of the channel at hand (they ended at `tip` of `log`); answers the runs."""
        if self.is_apart:
            return self.place_apart(data, count)
        return self._note(data, self._ledger.reserve((self.ns, self.channel), log, tip, count))

    def place_apart(self, data: Iterable[bytes], count: int) -> list[Part]:
        """Places items that belong to no growing value; answers the runs."""
        return self._note(data, self._ledger.reserve_apart(count))

    def _note(self, data: Iterable[bytes], runs: list[Part]) -> list[Part]:
        supply = iter(data)
        items, fresh = self.items, self._fresh
        for log, start, stop in runs:
            for index in range(start, stop):
                item = next(supply)
                items.append((log, index, item))
                if len(item) >= WORTH_SHARING:
                    fresh[item] = (log, index)
        return runs

    def borrowed(self, value: Any, probe: Any, kind: type[Kept]) -> Kept | None:
        """A kept value of this or the calling graph that `value` begins with, element by element the same objects."""
        for lender in self.lenders:
            for kept in lender.probe(id(probe), self.channel):
                if type(kept) is kind and _begins_with(value, kept):
                    return kept
        return None

    def borrowed_sequence(self, value: list[Any]) -> KeptSequence | None:
        """What `value` begins with of a kept list: the same objects, or (plain containers are handed out as copies)
        equal bytes under the same name."""
        found = self.borrowed(value, value[0], KeptSequence)
        if found is None and type(value[0]) in COPIED:
            found = self._equal_sequence(value)
        if type(found) is not KeptSequence or found.items is None:
            return None
        # A copy: another graph that runs beside this one may borrow the same list, and both will grow it.
        items, data = found.elements().copy(), found.encoded().copy()
        return KeptSequence(found.ref, items, data, found.count, found.live_bytes)

    def _equal_sequence(self, value: list[Any]) -> Kept | None:
        for lender in self.lenders:
            kept = lender.kept_of(self.channel)
            if type(kept) is KeptSequence and 0 < kept.count <= len(value):
                data = kept.encoded()
                if all(self.encode(item) == encoded for item, encoded in zip(value, data, strict=False)):
                    return KeptSequence(kept.ref, value[: kept.count], data, kept.count, kept.live_bytes)
        return None

    def borrowed_mapping(self, value: Any, kind: int) -> KeptMapping | None:
        """A kept mapping of this or the calling graph to compare `value` with: same objects, or of the same name."""
        found = self.borrowed(value, next(iter(value.values())), KeptMapping)
        if type(found) is KeptMapping and found.ref.kind == kind:
            return found
        for lender in self.lenders:
            kept = lender.kept_of(self.channel)
            if type(kept) is KeptMapping and kept.ref.kind == kind and len(value) >= len(kept.data):
                return KeptMapping(kept.ref, kept.data, None, kept.keys, kept.rows, kept.live_bytes)
        return None

    def finish(self) -> int:
        """Makes what was placed known to the run; answers the number of this staging."""
        sequence = self._ledger.owe(self.items)
        if self._fresh:
            self._ledger.remember(self._fresh)
        return sequence


def _begins_with(value: Any, kept: Kept) -> bool:
    if type(kept) is KeptSequence:
        if kept.items is None or len(value) < kept.count:
            return False
        return all(map(is_, kept.elements(), value))
    if type(kept) is KeptText:
        return kept.value is value
    if type(kept) is KeptMapping and kept.objects is not None:
        return len(value) >= len(kept.data) and all(map(is_, kept.objects.values(), value.values()))
    return False
