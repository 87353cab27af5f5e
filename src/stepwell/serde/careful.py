"""The careful way to write: walks a value in Python, says where an unstorable part lies, bears what msgpack cannot."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from itertools import islice
from types import MappingProxyType, SimpleNamespace
from typing import Any, Final

from ormsgpack import Ext, packb

from stepwell.errors import UnstorableTypeError
from stepwell.serde import codes, objects, own, plain
from stepwell.serde.codes import ANY_KEY, OPTIONS, Refusal, Writer
from stepwell.serde.registry import stored_name

_EXACT_KEYS: Final = frozenset((str, int, float, bool, bytes, type(None)))
_SMALL_ENOUGH: Final = 120  # nested lists and dicts per msgpack value; msgpack itself gives up at 255
_NO_PACK: Final[Any] = None


def encode_carefully(value: Any, writer_of: Callable[[type], Writer], channel: str) -> bytes:
    """The bytes of `value`. Raises UnstorableTypeError that names channel, place and type."""
    walk = _Walk(writer_of, channel)
    try:
        return walk.pack(value)
    except RecursionError:
        raise UnstorableTypeError(
            f"{walk.where()}a {type(value).__name__} is nested too deeply to be stored. Flatten it."
        ) from None


class _Walk:
    """One walk over one value."""

    __slots__ = ("_channel", "_depth", "_open", "_path", "_writer_of")

    def __init__(self, writer_of: Callable[[type], Writer], channel: str) -> None:
        self._writer_of = writer_of
        self._channel = channel
        self._path: list[_Within | Any] = []
        self._open: set[int] = set()
        self._depth = 0

    @codes.careful
    def pack(self, value: Any) -> bytes:
        outer, self._depth = self._depth, 0
        try:
            return packb(self._exact(value), None, OPTIONS | ANY_KEY)
        finally:
            self._depth = outer

    def where(self) -> str:
        """ "channel 'job', at [0].lock: " """
        at = f"at {place}" if (place := _place(self._path)) else ""
        channel = f"channel {self._channel!r}" if self._channel else ""
        return ", ".join(filter(None, (channel, at))) + ": " if channel or at else ""

    def _exact(self, value: Any) -> Any:
        """`value` as something that msgpack writes exactly."""
        kind = type(value)
        if kind is str:
            return value if _is_whole(value) else plain.write_text(value, _NO_PACK)
        if kind is int:
            return value if -(1 << 63) <= value < 1 << 64 else plain.write_int(value, _NO_PACK)
        if kind in _EXACT_KEYS:
            return value
        if id(value) in self._open:
            raise UnstorableTypeError(f"{self.where()}a {kind.__name__} that contains itself cannot be stored.")
        self._open.add(id(value))
        try:
            if kind is list or kind is dict:
                return self._container(value)
            return self._written(value)
        finally:
            self._open.discard(id(value))

    def _container(self, value: Any) -> Any:
        self._depth += 1
        if self._depth > _SMALL_ENOUGH:
            made: Any = Ext(codes.NEST, self._restart(value))
        else:
            made = self._items(value) if type(value) is list else self._mapping(value)
        self._depth -= 1
        return made

    def _restart(self, value: Any) -> bytes:
        outer, self._depth = self._depth, 0
        made = packb(self._items(value) if type(value) is list else self._mapping(value), None, OPTIONS | ANY_KEY)
        self._depth = outer
        return made

    def _items(self, value: list[Any]) -> list[Any]:
        made = []
        for i, item in enumerate(value):
            self._path.append(i)
            made.append(self._exact(item))
            self._path.pop()
        return made

    def _mapping(self, value: dict[Any, Any]) -> Any:
        flat = []
        for key, item in value.items():
            flat.append(self._exact(key))
            self._path.append(key)
            flat.append(self._exact(item))
            self._path.pop()
        keys = flat[::2]
        if all(type(key) in _EXACT_KEYS for key in keys):
            return dict(zip(keys, flat[1::2], strict=True))
        return Ext(codes.MAP, packb(flat, None, OPTIONS | ANY_KEY))

    def _written(self, value: Any) -> Ext:
        depth = len(self._path)
        try:
            write = self._writer_of(type(value))
            self._path.append(_Within(type(value)))
            made = write(value, self.pack)
            self._path.pop()
        except Refusal as refusal:
            del self._path[depth:]
            raise UnstorableTypeError(
                f"{self.where()}a value of type {stored_name(type(value))} cannot be stored: {refusal}."
            ) from None
        return made


class _Within:
    """A step of a path into a value that one of our writers takes apart."""

    __slots__ = ("kind",)

    def __init__(self, kind: type) -> None:
        self.kind = kind


_DIRECT: Final[frozenset[Any]] = frozenset(
    (tuple, set, frozenset, OrderedDict, Counter, SimpleNamespace, MappingProxyType)
)


def _place(path: list[Any]) -> str:
    """ "[0].tool['x']": what an object is stored as (its name, then its fields) is not shown."""
    shown = []
    steps = iter(path)
    for step in steps:
        if not isinstance(step, _Within):
            shown.append(f"[{step!r}]")
        elif step.kind not in _DIRECT:
            next(steps, None)
            if objects.has_fields(step.kind) and step.kind not in own.WRITERS:
                shown.extend(f".{field}" for field in islice(steps, 1))
    return "".join(shown)


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
