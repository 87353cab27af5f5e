"""langchain_core messages and documents ↔ bytes.

Stored is [mask, required fields…, other fields…]: bit i of the mask says that field i differs from its default and
follows; bit 16 + i that whether field i was *given* is not what that suggests; bit 15 that a dict of extra fields comes
last. Reading sets the fields without validation: 1.2 µs a message instead of 4 (measured; `model_construct` takes 15 to
96). langchain_core is not imported by this file: a message on write brings its class; on read this table names it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final, NamedTuple, TypeAlias

from ormsgpack import Ext

from stepwell.serde import codes
from stepwell.serde.codes import Pack, Reader, Unpack, Writer
from stepwell.serde.unknown import unknown
from stepwell.types import Unknown

_EXTRA: Final = 1 << 15
_GIVEN: Final = 16
_OTHER: Final = 1 << 40  # stands for given fields outside of the table
_KEPT_PLANS: Final = 1024
_COMMON: Final = ("content", "additional_kwargs", "response_metadata", "type", "name", "id")
_AI: Final = (*_COMMON, "tool_calls", "invalid_tool_calls", "usage_metadata")
_AI_CHUNK: Final = (*_AI, "tool_call_chunks", "chunk_position")
_TOOL: Final = (*_COMMON, "tool_call_id", "artifact", "status")
_CHAT: Final = (*_COMMON, "role")
_DICTS: Final = frozenset(("additional_kwargs", "response_metadata", "metadata"))
_LISTS: Final = frozenset(("tool_calls", "invalid_tool_calls", "tool_call_chunks"))
_REQUIRED: Final = object()


class Kind(NamedTuple):
    """One class: its number, where it lives, its fields in order (never change the order), what `type` says."""

    code: int
    module: str
    name: str
    fields: tuple[str, ...]
    type: str


_M: Final = "langchain_core.messages."
_MESSAGES: Final = tuple(
    Kind(codes.MESSAGES + number, module, name, fields, said)
    for number, (module, name, fields, said) in enumerate(
        (
            (_M + "ai", "AIMessage", _AI, "ai"),
            (_M + "ai", "AIMessageChunk", _AI_CHUNK, "AIMessageChunk"),
            (_M + "human", "HumanMessage", _COMMON, "human"),
            (_M + "human", "HumanMessageChunk", _COMMON, "HumanMessageChunk"),
            (_M + "system", "SystemMessage", _COMMON, "system"),
            (_M + "system", "SystemMessageChunk", _COMMON, "SystemMessageChunk"),
            (_M + "tool", "ToolMessage", _TOOL, "tool"),
            (_M + "tool", "ToolMessageChunk", _TOOL, "ToolMessageChunk"),
            (_M + "chat", "ChatMessage", _CHAT, "chat"),
            (_M + "chat", "ChatMessageChunk", _CHAT, "ChatMessageChunk"),
            (_M + "function", "FunctionMessage", _COMMON, "function"),
            (_M + "function", "FunctionMessageChunk", _COMMON, "FunctionMessageChunk"),
            (_M + "modifier", "RemoveMessage", _COMMON, "remove"),
        )
    )
)
_DOCUMENT: Final = ("page_content", "id", "metadata", "type")
KINDS: Final = (*_MESSAGES, Kind(codes.DOCUMENT, "langchain_core.documents.base", "Document", _DOCUMENT, "Document"))
BY_NAME: Final = {(kind.module, kind.name): kind for kind in KINDS}


def _default(kind: Kind, name: str) -> Any:
    """The default of a field: a value, `dict` or `list` for a new one, _REQUIRED when it has none."""
    if name in _DICTS or name in _LISTS:
        return dict if name in _DICTS else list
    if name in ("content", "page_content", "role", "tool_call_id"):
        return _REQUIRED
    return {"type": kind.type, "status": "success"}.get(name)


def _split(kind: Kind) -> tuple[tuple[str, ...], tuple[tuple[str, int, Any], ...]]:
    """The required fields, and (name, bit, default) of the others: containers first, then text, then None."""
    told = [(name, 1 << i, _default(kind, name)) for i, name in enumerate(kind.fields)]
    required = tuple(name for name, _, default in told if default is _REQUIRED)
    others = [field for field in told if field[2] is not _REQUIRED]
    return required, tuple(sorted(others, key=lambda field: (field[2] is None, isinstance(field[2], str))))


def writer(kind: Kind, other_way: Writer) -> Writer:
    """How messages of one class are written; `other_way` takes those that do not look as the table says."""
    by_table = _table_writer(kind)

    def write(message: Any, pack: Pack) -> Ext:
        try:
            return by_table(message, pack)
        except KeyError:
            return other_way(message, pack)

    return write


def _table_writer(kind: Kind) -> Writer:
    """Raises KeyError for a message with other fields than those of the table."""
    required, others = _split(kind)
    containers = tuple(field for field in others if field[2] is dict or field[2] is list)
    texts = tuple(field for field in others if isinstance(field[2], str))
    empties = tuple((name, bit) for name, bit, default in others if default is None)
    bits = {name: 1 << i for i, name in enumerate(kind.fields)}
    assumed = sum(bits[name] for name in required)
    code, size, bit_of = kind.code, len(kind.fields), bits.get

    def write(message: Any, pack: Pack) -> Ext:
        held = message.__dict__
        if len(held) != size or message.__pydantic_private__:
            raise KeyError
        values: list[Any] = [0, *[held[name] for name in required]]
        mask = 0
        for name, bit, default in containers:
            value = held[name]
            if value or type(value) is not default:
                mask |= bit
                values.append(value)
        for name, bit, default in texts:
            value = held[name]
            if value != default or type(value) is not str:
                mask |= bit
                values.append(value)
        for name, bit in empties:
            value = held[name]
            if value is not None:
                mask |= bit
                values.append(value)
        given = 0
        for name in message.__pydantic_fields_set__:
            given |= bit_of(name, _OTHER)
        # What is given is nearly always what differs; the difference is nearly always 0.
        told = given ^ assumed ^ mask
        extra = message.__pydantic_extra__
        if extra or given & _OTHER:
            if not extra or message.__pydantic_fields_set__ - bits.keys() != extra.keys():
                raise KeyError
            told &= ~_OTHER
            mask |= _EXTRA
            values.append(extra)
        values[0] = mask | told << _GIVEN
        return Ext(code, pack(values))

    return write


Build: TypeAlias = Callable[[list[Any]], Any]
"""[mask, fields…] → a message. The list is not used again."""


class _Plan(NamedTuple):
    """What a mask means for one class."""

    size: int
    names: tuple[str, ...]
    dicts: tuple[str, ...]
    lists: tuple[str, ...]
    given: frozenset[str]
    extra: bool


def _plan(kind: Kind, mask: int) -> _Plan:
    required, others = _split(kind)
    every = (1 << len(kind.fields)) - 1
    if not isinstance(mask, int) or mask & ~(every | _EXTRA | every << _GIVEN):
        raise ValueError("the mask of a stored message is damaged")
    present = tuple(name for name, bit, _ in others if mask & bit)
    likely = {*required, *present}
    given = {name for i, name in enumerate(kind.fields) if (name in likely) != bool(mask >> _GIVEN + i & 1)}
    absent = {name: default for name, bit, default in others if not mask & bit}
    return _Plan(
        size=1 + len(required) + len(present) + bool(mask & _EXTRA),
        names=(*required, *present),
        dicts=tuple(name for name, default in absent.items() if default is dict),
        lists=tuple(name for name, default in absent.items() if default is list),
        given=frozenset(given),
        extra=bool(mask & _EXTRA),
    )


def reader(kind: Kind) -> Reader:
    """How messages of one class are made again. The class is looked up when the first one is read."""
    known: dict[int, tuple[int, Build]] = {}
    made: list[Callable[[_Plan], Build]] = []

    def learn(mask: int) -> tuple[int, Build]:
        plan = _plan(kind, mask)
        if not made:
            made.append(_builder(kind))
        if len(known) > _KEPT_PLANS:
            known.clear()
        known[mask] = (plan.size, made[0](plan))
        return known[mask]

    def read(data: bytes, unpack: Unpack) -> Any:
        values = unpack(data)
        size, build = known.get(values[0]) or learn(values[0])
        if len(values) != size:
            raise ValueError("a stored message has more or fewer fields than its mask says")
        return build(values)

    return read


def _builder(kind: Kind) -> Callable[[_Plan], Build]:
    """For a plan: how a message is made of what was stored of it."""
    cls = getattr(import_module(kind.module), kind.name)
    new, base = object.__new__, import_module("pydantic").BaseModel.__dict__
    set_fields, set_given = base["__dict__"].__set__, base["__pydantic_fields_set__"].__set__
    set_extra, set_private = base["__pydantic_extra__"].__set__, base["__pydantic_private__"].__set__
    blank, later = _blank(kind, cls.model_fields)
    foreign = frozenset(kind.fields) - cls.model_fields.keys()
    takes_extra = cls.model_config.get("extra") == "allow"

    def builder(plan: _Plan) -> Build:
        blank_of, given_of = blank.copy, set(plan.given).copy
        names, dicts, lists = plan.names, plan.dicts, plan.lists

        def build(values: list[Any]) -> Any:
            held = blank_of()
            for name in dicts:
                held[name] = {}
            for name in lists:
                held[name] = []
            place = 1
            for name in names:
                held[name] = values[place]
                place += 1
            message = new(cls)
            set_fields(message, held)
            set_given(message, given_of())
            set_extra(message, {} if takes_extra else None)
            set_private(message, None)
            return message

        def build_rarer(values: list[Any]) -> Any:
            extra = values.pop() if plan.extra else {}
            message = build(values)
            message.__pydantic_fields_set__.update(extra)
            held = message.__dict__
            extra |= {name: held.pop(name) for name in foreign & held.keys() if name in names}
            held |= {name: make() for name, make in later}  # of another langchain_core than this table was made for
            set_extra(message, extra if takes_extra else None)
            return message

        return build_rarer if plan.extra or later or foreign else build

    return builder


def _blank(kind: Kind, model_fields: Any) -> tuple[dict[str, Any], list[tuple[str, Callable[[], Any]]]]:
    """All fields at their defaults, in the order of the class; and what makes those that the table does not have."""
    blank: dict[str, Any] = {name: _default(kind, name) if name in kind.fields else None for name in model_fields}
    later: list[tuple[str, Callable[[], Any]]] = [
        (name, partial(field.get_default, call_default_factory=True))
        for name, field in model_fields.items()
        if name not in kind.fields
    ]
    return blank, later


def looker(kind: Kind) -> Reader:
    """How messages of one class are looked at without their library: an Unknown with the fields that differ."""

    known: dict[int, _Plan] = {}

    def look(data: bytes, unpack: Unpack) -> Unknown:
        values = unpack(data)
        mask = values[0]
        plan = known.get(mask) if type(mask) is int else None
        if plan is None:
            if len(known) > _KEPT_PLANS:
                known.clear()
            plan = known[mask] = _plan(kind, mask)
        fields = {"type": kind.type, **dict(zip(plan.names, values[1:], strict=False))}
        return unknown(f"{kind.module}.{kind.name}", fields, kind.code, data)

    return look


READERS: Final[dict[int, Reader]] = {kind.code: reader(kind) for kind in KINDS}
LOOKERS: Final[dict[int, Reader]] = {kind.code: looker(kind) for kind in KINDS}
