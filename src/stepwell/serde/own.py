"""Our own values that states and task records hold ↔ bytes: Send, Command, Interrupt, Overwrite."""

from __future__ import annotations

from typing import Any, Final

from ormsgpack import Ext

from stepwell.serde import codes
from stepwell.serde.codes import Pack, Reader, Refusal, Unpack, Writer
from stepwell.types import MISSING, Command, Interrupt, Overwrite, Send


def _write_send(value: Send, pack: Pack) -> Ext:
    if value.timeout is None:
        return Ext(codes.SEND, pack([value.node, value.arg]))
    return Ext(codes.SEND, pack([value.node, value.arg, value.timeout]))


def _read_send(data: bytes, unpack: Unpack) -> Send:
    node, arg, *timeout = unpack(data)
    return Send(node, arg, timeout=timeout[0] if timeout else None)


def _write_command(value: Command[Any], pack: Pack) -> Ext:
    parts: list[Any] = [value.graph, value.update, value.goto]
    if value.answers:
        parts.append(value.resume)
    return Ext(codes.COMMAND, pack(parts))


def _read_command(data: bytes, unpack: Unpack) -> Command[Any]:
    graph, update, goto, *answer = unpack(data)
    if answer:
        return Command(graph=graph, update=update, goto=goto, resume=answer[0])
    return Command(graph=graph, update=update, goto=goto)


def _write_interrupt(value: Interrupt, pack: Pack) -> Ext:
    if value.response_schema is None:
        return Ext(codes.INTERRUPT, pack([value.value, value.id]))
    return Ext(codes.INTERRUPT, pack([value.value, value.id, value.response_schema]))


def _read_interrupt(data: bytes, unpack: Unpack) -> Interrupt:
    value, ident, *schema = unpack(data)
    return Interrupt(value, ident, response_schema=schema[0] if schema else None)


def _write_missing(_value: Any, _pack: Pack) -> Ext:
    raise Refusal("MISSING says that a channel holds no value; it is no value itself")


WRITERS: Final[dict[type, Writer]] = {
    Send: _write_send,
    Command: _write_command,
    Interrupt: _write_interrupt,
    Overwrite: lambda value, pack: Ext(codes.OVERWRITE, pack([value.value])),
    type(MISSING): _write_missing,
}

READERS: Final[dict[int, Reader]] = {
    codes.SEND: _read_send,
    codes.COMMAND: _read_command,
    codes.INTERRUPT: _read_interrupt,
    codes.OVERWRITE: lambda data, unpack: Overwrite(*unpack(data)),
}
