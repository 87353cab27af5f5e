"""Which classes this process can read back, by the name they are stored under.

Writing trusts: a class met on write becomes known. Reading does not: a name in bytes is looked up here, and nothing is
ever imported because bytes name it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, Final, TypeVar, overload
from weakref import WeakSet

from stepwell.errors import StoredTypeWarning, UnstorableTypeError
from stepwell.serde.schemas import reachable
from stepwell.warnings import warn

C = TypeVar("C", bound=type)

_MODULES: Final = ("builtins", "stepwell.types", "stepwell.errors")
_LANGCHAIN: Final = {
    "langchain_core.messages.base.TextAccessor",
    "langchain_core.messages.base.BaseMessage",
    "langchain_core.messages.base.BaseMessageChunk",
    "langchain_core.messages.ai.AIMessage",
    "langchain_core.messages.ai.AIMessageChunk",
    "langchain_core.messages.human.HumanMessage",
    "langchain_core.messages.human.HumanMessageChunk",
    "langchain_core.messages.system.SystemMessage",
    "langchain_core.messages.system.SystemMessageChunk",
    "langchain_core.messages.tool.ToolMessage",
    "langchain_core.messages.tool.ToolMessageChunk",
    "langchain_core.messages.chat.ChatMessage",
    "langchain_core.messages.chat.ChatMessageChunk",
    "langchain_core.messages.function.FunctionMessage",
    "langchain_core.messages.function.FunctionMessageChunk",
    "langchain_core.messages.modifier.RemoveMessage",
    "langchain_core.documents.base.Document",
    "langchain_core.documents.base.Blob",
    "langchain_core.agents.AgentAction",
    "langchain_core.agents.AgentActionMessageLog",
    "langchain_core.agents.AgentStep",
    "langchain_core.agents.AgentFinish",
    "langchain_core.prompt_values.StringPromptValue",
    "langchain_core.prompt_values.ChatPromptValue",
    "langchain_core.prompt_values.ChatPromptValueConcrete",
    "langchain_core.prompt_values.ImagePromptValue",
    "langchain_core.outputs.generation.Generation",
    "langchain_core.outputs.generation.GenerationChunk",
    "langchain_core.outputs.chat_generation.ChatGeneration",
    "langchain_core.outputs.chat_generation.ChatGenerationChunk",
    "langchain_core.outputs.llm_result.LLMResult",
    "langchain_core.runnables.utils.AddableDict",
}
_STANDARD: Final = {
    "collections": ("deque", "OrderedDict", "defaultdict", "Counter"),
    "datetime": ("datetime", "date", "time", "timedelta"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "uuid": ("UUID", "SafeUUID"),
    "http": ("HTTPStatus", "HTTPMethod"),
    "enum": ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"),
    "json.decoder": ("JSONDecodeError",),
    "asyncio.exceptions": ("CancelledError", "InvalidStateError", "IncompleteReadError", "LimitOverrunError"),
    "concurrent.futures._base": ("CancelledError", "InvalidStateError"),
    "pathlib": ("PurePosixPath", "PosixPath", "PureWindowsPath", "WindowsPath", "Path", "PurePath"),
}


_declaring: Final = threading.Lock()


def stored_name(cls: type) -> str:
    """The name a class is stored under."""
    return f"{cls.__module__}.{cls.__qualname__}"


class Registry:
    """Names ↔ classes. What it lacks its `parent` may have."""

    __slots__ = ("_expected", "_names", "_trusted", "_walked", "_warned", "parent")

    def __init__(self, parent: Registry | None = None) -> None:
        self.parent = parent
        self._names: dict[str, type] = {}
        self._trusted: WeakSet[type] = WeakSet()
        self._walked: WeakSet[type] = WeakSet()
        self._warned: WeakSet[type] = WeakSet()
        self._expected: dict[str, tuple[str, str]] = {}

    @overload
    def register(self, cls: C, *, aliases: Iterable[str] = ()) -> C: ...

    @overload
    def register(self, cls: None = None, *, aliases: Iterable[str] = ()) -> Callable[[C], C]: ...

    def register(self, cls: C | None = None, *, aliases: Iterable[str] = ()) -> C | Callable[[C], C]:
        """Makes stored values of `cls` readable in this process; also under the names it had before (`aliases`).

        An alias is "module.QualName". Works as a decorator, with or without arguments.
        """
        names = tuple(aliases)
        if cls is None:
            return lambda found: self.register(found, aliases=names)
        if not isinstance(cls, type):
            raise TypeError(f"register() takes a class, not {cls!r}; names of earlier days go into aliases=[...]")
        for alias in names:
            self._names[alias] = cls
        self.declare(cls)
        return cls

    def declare(self, *classes: type) -> None:
        """Trusts `classes` and their subclasses: another process that builds the same graph knows them too."""
        for cls in classes:
            self._names[stored_name(cls)] = cls
            with _declaring:
                self._trusted.add(cls)

    def declare_schema(self, schema: Any) -> None:
        """Trusts every class that the annotations of `schema` (TypedDict, dataclass, model, …) reach."""
        for cls in reachable(schema, walked=self._walked):
            self.declare(cls)

    def expect(self, module: str, name: str) -> None:
        """Trusts "module.name"; it is imported when a stored value first asks for it, because *you* named it."""
        self._expected[f"{module}.{name}"] = (module, name)

    def trusts(self, cls: type) -> bool:
        """Whether other processes can be expected to know `cls`."""
        if built_in(stored_name(cls)) is cls or stored_name(cls) in self._expected:
            return True
        if any(base in self._trusted for base in cls.__mro__):
            return True
        return self.parent is not None and self.parent.trusts(cls)

    def meet(self, cls: type, *, strict: bool = False) -> None:
        """Takes note that a value of `cls` is written; warns once when other processes will not know it.

        Raises UnstorableTypeError instead with `strict`.
        """
        if not self.trusts(cls):
            self._report(cls, strict)
        if built_in(stored_name(cls)) is not cls:
            self._learn(stored_name(cls), cls)

    def _learn(self, name: str, cls: type) -> None:
        # What one saver met, the whole process knows; but a class of a schema is not replaced by one in passing.
        root = self._root()
        if root._names.get(name) not in root._trusted:
            root._names[name] = cls

    def find(self, name: str) -> type | None:
        """The class stored under `name`; None when this process does not know it."""
        found = self._names.get(name)
        if found is None and self.parent is not None:
            found = self.parent.find(name)
        return found or built_in(name) or self._fulfil(name) or self._subclass(name)

    def _report(self, cls: type, strict: bool) -> None:
        name = stored_name(cls)
        call = f"stepwell.checkpoint.serde.register({cls.__qualname__})"
        why = "It is neither part of the graph's schemas nor registered, so another process could not read it back."
        if strict:
            raise UnstorableTypeError(f"{name} is not stored under strict_types=True. {why} Call {call} at import.")
        if cls not in self._root()._warned:
            warn(f"a {name} was stored. {why} Call {call} where the class is defined.", StoredTypeWarning)
            self._root()._warned.add(cls)

    def _root(self) -> Registry:
        return self if self.parent is None else self.parent._root()

    def _fulfil(self, name: str) -> type | None:
        if name not in self._expected:
            return None
        module, attribute = self._expected[name]
        found = getattr(import_module(module), attribute, None)
        return found if isinstance(found, type) else None

    def _subclass(self, name: str) -> type | None:
        # A schema says list[Shape]; the list holds a Circle. Whoever imports the graph has that class too.
        with _declaring:
            bases = tuple(self._trusted)
        return next((cls for base in bases for cls in _below(base) if stored_name(cls) == name), None)


def _below(cls: type) -> Iterator[type]:
    subs: list[type] = type.__subclasses__(cls)
    for sub in subs:
        yield sub
        yield from _below(sub)


def built_in(name: str) -> type | None:
    """The class of a name that every process knows, from a fixed list."""
    module, _, attribute = name.rpartition(".")
    known = module in _MODULES or attribute in _STANDARD.get(module, ()) or name in _LANGCHAIN
    if not known:
        return None
    found = getattr(import_module(module), attribute, None)
    return found if isinstance(found, type) else None


registry: Final = Registry()
"""The registry of this process."""

register = registry.register
