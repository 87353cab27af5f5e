"""What consumers of a stream get: chunks in the shape they asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any, get_args

from stepwell.errors import GraphError, brief
from stepwell.types import INTERRUPT, StreamMode

MODES = frozenset(get_args(StreamMode))


@dataclass(frozen=True, slots=True)
class Shape:
    """How chunks are handed out: which modes, whether with mode and namespace, and in which version."""

    wanted: frozenset[str]
    printed: frozenset[str]
    many: bool
    subgraphs: bool
    version: str
    coerce: Callable[[Any], Any] | None

    @property
    def modes(self) -> frozenset[str]:
        """All modes the run must make chunks for."""
        return self.wanted | self.printed

    def chunk(self, ns: tuple[str, ...], mode: str, payload: Any) -> Any:
        """One chunk as the consumer gets it."""
        if self.version == "v2":
            return self._part(ns, mode, payload)
        if self.many:
            return (ns, mode, payload) if self.subgraphs else (mode, payload)
        return (ns, payload) if self.subgraphs else payload

    def _part(self, ns: tuple[str, ...], mode: str, payload: Any) -> dict[str, Any]:
        if mode != "values":
            return {"type": mode, "ns": ns, "data": payload}
        questions: tuple[Any, ...] = ()
        if isinstance(payload, dict) and INTERRUPT in payload:
            questions = payload[INTERRUPT]
            payload = {key: value for key, value in payload.items() if key != INTERRUPT}
        data = self.coerce(payload) if self.coerce is not None and not ns else payload
        return {"type": mode, "ns": ns, "data": data, "interrupts": questions}

    def print(self, ns: tuple[str, ...], mode: str, payload: Any) -> None:
        """Shows a chunk on the terminal, for debugging."""
        where = f"{'|'.join(ns)} " if ns else ""
        print(f"[{where}{mode}] {payload!r}")


def shape_of(mode: Any, subgraphs: bool, version: str, printed: Any, coerce: Callable[[Any], Any] | None) -> Shape:
    """The shape that a call asks for. GraphError for a mode or version there is none of."""
    wanted = _named(mode)
    check_version(version)
    return Shape(wanted, _named(printed), not isinstance(mode, str), subgraphs, version, coerce)


def check_version(version: Any) -> None:
    """GraphError for a version there is none of."""
    if version not in ("v1", "v2"):
        raise GraphError(f'version is {version!r}; results and streams come in "v1" and "v2".')


def _named(mode: Any) -> frozenset[str]:
    if not isinstance(mode, str | Sequence | Set) or isinstance(mode, bytes):
        raise GraphError(f"stream_mode is {brief(mode)}; it is one or a list of {', '.join(sorted(MODES))}.")
    names = frozenset((mode,) if isinstance(mode, str) else mode)
    unknown = names - MODES
    if unknown:
        raise GraphError(f"stream_mode {', '.join(sorted(map(brief, unknown)))}: there are {', '.join(sorted(MODES))}.")
    return names
