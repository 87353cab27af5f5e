"""What a node returned → the writes it stands for: keys of the state, then routing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, NoReturn

from stepwell.errors import (
    ErrorCode,
    InvalidUpdateError,
    ParentCommand,
    UnknownKeyError,
    brief,
    create_error_message,
)
from stepwell.plan.branches import Branch, Exits
from stepwell.plan.plan import Writes
from stepwell.plan.pydantic_ import Check
from stepwell.plan.schema import ROOT, update_of
from stepwell.plan.spelling import meant
from stepwell.types import Command, Send
from stepwell.warnings import StepwellWarning, warn

Prepare = Callable[[Any], Any]

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class StateKeys(NamedTuple):
    """The keys that updates may name.

    silent: keys that are dropped without a word (managed values); held: all keys of the state, where these are a part.
    """

    names: frozenset[str]
    prepares: Mapping[str, Prepare] = _NONE
    checks: Mapping[str, Check] = _NONE
    silent: frozenset[str] = frozenset()
    strict: bool = False
    held: frozenset[str] = frozenset()

    @property
    def is_root(self) -> bool:
        """Whether the state is one bare value."""
        return self.names == {ROOT}

    def known(self, pairs: Iterable[tuple[Any, Any]], who: str, told: set[Any]) -> Writes:
        """The pairs whose key the state has; the first time, a warning for each other key, or an error if strict."""
        writes: Writes = []
        for key, value in pairs:
            if key in self.names:
                writes.append((key, value))
            elif key not in self.silent:
                self._tell(key, who, told)
        return writes

    def _tell(self, key: Any, who: str, told: set[Any]) -> None:
        said = f"{who} names {brief(key)}, which is no key of the state.{meant(key, self.names)}"
        if self.strict:
            raise UnknownKeyError(f"{said} Keys are {', '.join(map(repr, sorted(self.names)))}.")
        if key not in told:
            told.add(key)
            warn(
                f"{said} It was ignored. Add it to the schema or leave it out; StateGraph(strict=True) raises.",
                StepwellWarning,
            )

    def finish(self, writes: Writes, who: str) -> Writes:
        """State writes as they will be recorded: prepared, and accepted by the schema."""
        prepares = self.prepares
        if prepares:
            writes = [(key, prepares[key](value)) if key in prepares else (key, value) for key, value in writes]
        if self.checks:
            self.check(writes, who)
        return writes

    def check(self, writes: Iterable[tuple[str, Any]], who: str) -> None:
        """Raises InvalidUpdateError for a write that the schema of its key forbids."""
        checks = self.checks
        for key, value in writes:
            if key in checks:
                try:
                    checks[key](value)
                except InvalidUpdateError as error:
                    raise type(error)(f"{who}: {error}") from error.__cause__


class Outlet:
    """The second half of one node's body: its return → writes.

    fixed: the writes of its static edges, the same every time.
    """

    __slots__ = ("branches", "exits", "fixed", "keys", "name", "seeing_all", "told", "who", "writes_of")

    def __init__(
        self,
        name: str,
        keys: StateKeys,
        nodes: Collection[str],
        fixed: Iterable[tuple[str, Any]] = (),
        branches: tuple[Branch, ...] = (),
        *,
        who: str | None = None,
    ) -> None:
        self.name, self.keys, self.branches = name, keys, branches
        self.who = who or f"node {name!r}"
        self.seeing_all = [branch for branch in branches if branch.schema.channels.keys() == (keys.held or keys.names)]
        self.fixed: list[tuple[str, Any]] = list(fixed)
        self.exits = Exits(self.who, nodes)
        self.told: set[Any] = set()
        self.writes_of: Callable[[Any, Any], Writes] = self._routed() if branches else self._plain()

    @property
    def is_async(self) -> bool:
        """Whether one of its routes can only be awaited."""
        return any(branch.call is None for branch in self.branches)

    def _plain(self) -> Callable[[Any, Any], Writes]:
        """`writes_of` without conditional edges, for what nearly every node returns: a dict of known keys."""
        names, fixed, update = self.keys.names, self.fixed, self.update
        finish = self.keys.finish if self.keys.prepares or self.keys.checks else None
        who = self.who

        def writes_of(output: Any, task: Any) -> Writes:
            if type(output) is dict and output.keys() <= names:
                writes = list(output.items()) if finish is None else finish(list(output.items()), who)
            else:
                writes = update(output)
            writes += fixed
            return writes

        return writes_of

    def _routed(self) -> Callable[[Any, Any], Writes]:
        def writes_of(output: Any, task: Any) -> Writes:
            writes = self.update(output)
            values = task.read(writes)
            writes += self.fixed
            for branch in self.branches:
                if branch.call is None:
                    self.refuse_sync(output, task)
                handed = branch.handed(values, task, all_keys=branch in self.seeing_all)
                writes += self.exits.answer(branch, branch.call(handed, task))
            return writes

        return writes_of

    def refuse_sync(self, input: Any, task: Any) -> NoReturn:
        """What a node with an async route is for a sync call."""
        route = next(branch.name for branch in self.branches if branch.call is None)
        raise TypeError(
            f"route {route!r} of {self.who} is async, and the graph was called with a sync method. "
            "Call the async one (ainvoke, astream, aupdate_state), or make the route a plain def."
        )

    async def awrites_of(self, output: Any, task: Any) -> Writes:
        """`writes_of` where routes may be async."""
        writes = self.update(output)
        values = task.read(writes) if self.branches else {}
        writes += self.fixed
        for branch in self.branches:
            handed = branch.handed(values, task, all_keys=branch in self.seeing_all)
            if branch.acall is not None:
                answer = await branch.acall(handed, task)
            else:
                assert branch.call is not None
                answer = branch.call(handed, task)
            writes += self.exits.answer(branch, answer)
        return writes

    def update(self, output: Any) -> Writes:
        """The writes of what was returned, without the node's own edges."""
        if output is None:
            return []
        if isinstance(output, Command):
            return self._command(output)
        if isinstance(output, Send):
            return self.exits.follow(output)
        if self._is_several(output):
            return [write for part in output for write in self.update(part)]
        if self.keys.is_root:
            return self._state([(ROOT, output)])
        return self._state(self._pairs(output))

    def _is_several(self, output: Any) -> bool:
        """Whether this is a list of returns, not one."""
        if not isinstance(output, list | tuple) or hasattr(output, "_fields"):
            return False
        if self.keys.is_root:
            return any(isinstance(part, Command | Send) for part in output)
        return bool(output) and all(self._is_one(part) for part in output)

    def _is_one(self, part: Any) -> bool:
        return part is None or isinstance(part, dict | Command | Send) or update_of(part) is not None

    def _command(self, command: Command[Any]) -> Writes:
        if command.graph is not None:
            raise ParentCommand(command)
        update = command.update
        if update is None:
            writes: Writes = []
        elif self.keys.is_root:
            writes = self._state([(ROOT, update)])
        elif isinstance(update, list | tuple) and not hasattr(update, "_fields"):
            writes = self._state(self._listed(update))
        else:
            writes = self._state(self._pairs(update))
        return writes + self.exits.follow(command.goto)

    def _listed(self, update: Any) -> list[tuple[Any, Any]]:
        """`Command(update=[("key", value), …])`: the same key may stand there more than once."""
        if all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in update):
            return list(update)
        if all(isinstance(part, dict) for part in update):
            return [pair for part in update for pair in part.items()]
        raise self._no_update(update)

    def _pairs(self, output: Any) -> list[tuple[Any, Any]]:
        if isinstance(output, dict):
            return list(output.items())
        pairs = update_of(output)
        if pairs is None:
            raise self._no_update(output)
        known = [(key, value) for key, value in pairs if key in self.keys.names]
        if pairs and not known:
            raise self._no_update(output)
        return known

    def _state(self, pairs: list[tuple[Any, Any]]) -> Writes:
        known = self.keys.known(pairs, f"the update of {self.who}", self.told)
        return self.keys.finish(known, self.who)

    def _no_update(self, output: Any) -> InvalidUpdateError:
        return InvalidUpdateError(
            create_error_message(
                message=(
                    f"{self.who} returned {brief(output)}, a {type(output).__name__}: Expected dict of state keys, "
                    "an object of the state's schema, a Command, a list of those, or None. "
                    f"Return for example {{{next(iter(sorted(self.keys.names)), 'key')!r}: …}}."
                ),
                error_code=ErrorCode.INVALID_GRAPH_NODE_RETURN_VALUE,
            )
        )
