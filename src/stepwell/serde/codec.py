"""Values ↔ bytes.

There are two ways to write, and both give the same bytes. The fast one lets msgpack walk lists, dicts with str keys and
scalars in C and calls us for everything else. What it cannot write exactly (int keys, lone surrogates, bytearrays, …)
or not at all is walked in Python (careful.py), which also finds out where an unstorable value lies.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, Final, NoReturn

from ormsgpack import Ext, packb, unpackb

from stepwell.errors import SerializationError
from stepwell.serde import arrays, codes, library, messages, named, objects, own, plain, wrapped
from stepwell.serde.careful import encode_carefully
from stepwell.serde.codes import ANY_KEY, OPTIONS, Pack, Reader, Refusal, Unpack, Writer
from stepwell.serde.registry import Registry, stored_name
from stepwell.serde.registry import registry as of_this_process
from stepwell.types import Unknown

_WRITERS: Final = {**plain.WRITERS, **library.WRITERS, **own.WRITERS, Unknown: named.write_unknown}
_READERS: Final = {**plain.READERS, **library.READERS, **own.READERS, **wrapped.READERS, **arrays.READERS,
                   **messages.READERS}  # fmt: skip
_NATIVE: Final = frozenset((str, int, float, bool, bytes, type(None)))
_KEPT_WRITERS: Final = 4096
_EXT_8, _EXT_16 = 0xC7, 0xC8  # msgpack: an extension type with its size in one byte, in two


class _Faults(threading.local):
    """What a callback of msgpack raised; msgpack itself reports no more than that one failed."""

    last: BaseException | None = None


_faults: Final = _Faults()


class Codec:
    """Encodes values exactly, and decodes them to fresh objects; reading imports nothing and runs nothing.

    registry: where class names are looked up (default: that of the process). strict_types: a class that is neither
    built in, nor in a schema, nor registered is an error instead of a warning. pickle_fallback: what cannot be stored
    otherwise is pickled, and pickles are read; only for data that nobody else can write. look_only: messages come as
    Unknown with their fields, and their library is not imported; for those who show what is stored.
    """

    __slots__ = ("_messages", "_pack", "_read", "_unpack", "_writers", "pickle_fallback", "registry", "strict_types")

    def __init__(
        self,
        registry: Registry | None = None,
        strict_types: bool = False,
        pickle_fallback: bool = False,
        look_only: bool = False,
    ) -> None:
        self.registry = of_this_process if registry is None else registry
        self.strict_types = strict_types
        self.pickle_fallback = pickle_fallback
        self._writers: dict[type, Writer] = _Writers(self._find_writer)
        self._pack: Pack = _fast_pack(self._writers)
        pickled = wrapped.read_pickle if pickle_fallback else wrapped.refuse_pickle
        readers = {**_READERS, **named.readers(self.registry), codes.PICKLE: pickled}
        if look_only:
            readers |= messages.LOOKERS
        self._read, self._unpack = _fast_unpack(readers)
        self._messages = messages.LOOKERS if look_only else messages.READERS

    def encode(self, value: Any, channel: str = "") -> bytes:
        """The bytes of `value`. Equal values of equal exact types give equal bytes.

        Raises UnstorableTypeError, which names the place in `channel` and the type.
        """
        kind = type(value)
        try:
            if kind in _NATIVE:
                return packb(value, None, OPTIONS)
            if kind is list or kind is dict:
                return self._pack(value)
            return packb(self._writers[kind](value, self._pack))
        except Exception:
            # The careful way decides: it writes the same bytes, or says what is wrong and where.
            _raise_if_control()
            return encode_carefully(value, self._writers.__getitem__, channel)

    def decode(self, data: bytes) -> Any:
        """A fresh value. Classes this process does not know come as types.Unknown.

        Raises SerializationError for bytes that this codec did not write.
        """
        try:
            return unpackb(data, ext_hook=self._read, option=ANY_KEY)
        except Exception as error:
            _raise_damaged(error)

    def is_whole(self, data: bytes) -> bool:
        """Whether bytes can be taken apart. Nothing is made of the types they name, so none has to be known."""
        try:
            unpackb(data, ext_hook=_no_value, option=ANY_KEY)
        except Exception:
            _raise_if_control()
            return False
        return True

    def decode_all(self, items: Iterable[bytes]) -> list[Any]:
        """`decode` of each, for many: messages go straight to their readers."""
        read, unpack, readers = self._read, self._unpack, self._messages
        values: list[Any] = []
        append = values.append
        try:
            for data in items:
                head = data[0]
                if head == _EXT_16 and data[3] in readers and len(data) == 4 + (data[1] << 8 | data[2]):
                    append(readers[data[3]](data[4:], unpack))
                elif head == _EXT_8 and data[2] in readers and len(data) == 3 + data[1]:
                    append(readers[data[2]](data[3:], unpack))
                else:
                    append(unpackb(data, ext_hook=read, option=ANY_KEY))
        except Exception as error:
            _raise_damaged(error)
        return values

    def _find_writer(self, cls: type) -> Writer:
        home = (cls.__module__, cls.__qualname__)
        if home in library.LATE and _is_at_home(cls):
            return library.LATE[home]
        if home in messages.BY_NAME and _is_at_home(cls):
            return messages.writer(messages.BY_NAME[home], objects.writer(cls, stored_name(cls)))
        try:
            if cls.__module__.partition(".")[0] == "numpy":
                return arrays.writer(cls)
            if cls.__module__ in ("types", "typing"):
                return named.form_writer(self._meet)
            return wrapped.writer(cls) or named.writer(cls, self._meet)
        except Refusal:
            if self.pickle_fallback:
                return wrapped.write_pickle
            raise

    def _meet(self, cls: type) -> None:
        self.registry.meet(cls, strict=self.strict_types)


def _no_value(_kind: int, _data: bytes) -> None:
    return None


class _Writers(dict[type, Writer]):
    """Writers by class; finds one for a class it meets for the first time. Raises Refusal when there is none."""

    def __init__(self, find: Callable[[type], Writer]) -> None:
        super().__init__(_WRITERS)
        self._find = find

    def __missing__(self, cls: type) -> Writer:
        found = self._find(cls)
        if len(self) > _KEPT_WRITERS:  # classes made at run time must not pile up
            for made in list(self):  # those of builtins stay: another thread may be looking for one
                if made not in _WRITERS:
                    self.pop(made, None)
        self[cls] = found
        return found


# Closures, because each bound method costs 30 ns where a message costs 2,000.


def _fast_pack(writers: dict[type, Writer]) -> Pack:
    def write(value: Any) -> Ext:
        try:
            return writers[type(value)](value, pack)
        except BaseException as error:
            _faults.last = error
            raise

    def pack(value: Any) -> bytes:
        data = packb(value, write, OPTIONS)
        # msgpack takes bytearray for bytes. The marks of bytes are rare in text, so the walk is too.
        if (0xC4 in data or 0xC5 in data or 0xC6 in data) and _holds_mutable_bytes(value):
            raise Refusal("the careful way writes bytearrays")
        return data

    return pack


def _fast_unpack(readers: dict[int, Reader]) -> tuple[Callable[[int, bytes], Any], Unpack]:
    def read(code: int, data: bytes) -> Any:
        try:
            return readers[code](data, unpack)
        except BaseException as error:
            if _faults.last is None:  # the innermost one says what happened
                _faults.last = error
            raise

    def unpack(data: bytes) -> Any:
        return unpackb(data, ext_hook=read, option=ANY_KEY)

    return read, unpack


def _is_at_home(cls: type) -> bool:
    return getattr(import_module(cls.__module__), cls.__name__, None) is cls


def _holds_mutable_bytes(value: Any) -> bool:
    if type(value) is list:
        items: Iterable[Any] = value
    elif type(value) is dict:
        items = value.values()
    else:
        return type(value) in (bytearray, memoryview)
    kinds = set(map(type, items))
    if bytearray in kinds or memoryview in kinds:
        return True
    if list not in kinds and dict not in kinds:
        return False
    return any(_holds_mutable_bytes(item) for item in items if type(item) is list or type(item) is dict)


def _raise_if_control() -> None:
    fault, _faults.last = _faults.last, None
    if fault is not None and not isinstance(fault, Exception):
        raise fault


def _raise_damaged(error: Exception) -> NoReturn:
    fault, _faults.last = _faults.last or error, None
    if isinstance(fault, SerializationError | Warning) or not isinstance(fault, Exception):
        raise fault
    raise SerializationError(
        f"stored bytes could not be read: {fault}. They were cut off, changed, or written by something else."
    ) from fault
