"""Writes docs/reference from the docstrings of the code.

python docs/make_reference.py           # write the pages
python docs/make_reference.py --check   # say which are out of date; exit code 1 when any is
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "reference"
WIDTH = 100
MADE_BY_OTHERS = ("CompiledStateGraph",)
"""Classes that people get from a call, and do not make themselves."""
UNLISTED = frozenset(("viewed", "graph_at"))
"""Public for other rooms of the house, not for people."""
TWIN = re.compile(r"^Async twin of `|^As `\w+`\.$|^`\w+` (on the event loop|for async callers)")
"""How the docstring of a method begins that is another's async twin."""


@dataclass(frozen=True)
class Part:
    """Names of one module, as people import them. `own`: only methods that the class itself defines."""

    module: str
    names: tuple[str, ...]
    own: bool = False


@dataclass(frozen=True)
class Page:
    """One page: file name, title, what stands above, what is listed."""

    file: str
    title: str
    intro: str
    parts: tuple[Part, ...]


PAGES = (
    Page(
        "graph.md",
        "Graphs",
        "Declare with `StateGraph`, run what `compile()` gives. Concepts: [graph, node, step](../concepts.md).",
        (
            Part("stepwell.graph", ("StateGraph", "MessagesState", "add_messages")),
            Part("stepwell.graph.message", ("push_message",)),
            Part("stepwell.graph.state", ("CompiledStateGraph",)),
        ),
    ),
    Page(
        "types.md",
        "Types",
        "Data that nodes return, callers give, and snapshots hold.",
        (
            Part(
                "stepwell.types",
                (
                    *("Command", "Send", "interrupt", "Interrupt", "Overwrite", "StateSnapshot", "PregelTask"),
                    *("StateUpdate", "GraphOutput", "RetryPolicy", "default_retry_on", "TimeoutPolicy", "CachePolicy"),
                    *("TracePolicy", "omit_payload", "ThreadInfo", "BranchInfo", "TagInfo", "Provenance", "Unknown"),
                ),
            ),
        ),
    ),
    Page(
        "channels.md",
        "Channels",
        "How one key of the state takes the updates of a step. In a schema: `Annotated[list, Topic(str)]`; a plain "
        "type is a `LastValue`, a function of two arguments a `BinaryOperatorAggregate`.",
        (
            Part(
                "stepwell.channels",
                (
                    *("LastValue", "AnyValue", "EphemeralValue", "UntrackedValue", "BinaryOperatorAggregate"),
                    *("DeltaChannel", "Topic", "NamedBarrierValue", "pure"),
                ),
                own=True,
            ),
            Part("stepwell.channels", ("BaseChannel",)),
        ),
    ),
    Page(
        "checkpointers.md",
        "Checkpointers",
        "What every saver offers: the public interface, and what our savers add to it. Which to take: "
        "[choose a saver](../how-to/choose-a-saver.md). The two that ship: [InMemorySaver](in-memory-saver.md), "
        "[SqliteSaver](sqlite-saver.md). Your own: [write a saver](../how-to/write-a-saver.md).",
        (
            Part("stepwell.checkpoint.base", ("BaseCheckpointSaver", "CheckpointTuple", "Checkpoint")),
            Part("stepwell.checkpoint.base", ("CheckpointMetadata", "empty_checkpoint", "copy_checkpoint")),
            Part("stepwell.checkpoint.toolset", ("ThreadTools",)),
            Part("stepwell.checkpoint.base.conformance", ("run_checks",)),
        ),
    ),
    Page(
        "in-memory-saver.md",
        "InMemorySaver",
        "For tests, notebooks, and programs that may forget. **Not for production:** it is empty after a restart, and "
        "each worker has one of its own. All methods of [Checkpointers](checkpointers.md), and the same behaviour as "
        "[SqliteSaver](sqlite-saver.md). `MemorySaver` is the same class under its old name. Look with `get_tuple`, "
        "`list` and the graph's `get_state`, not into `storage`: that is for debugging, and may change.",
        (Part("stepwell.checkpoint.memory", ("InMemorySaver",), own=True),),
    ),
    Page(
        "sqlite-saver.md",
        "SqliteSaver",
        "Threads in one SQLite file, for as many processes of a machine as you like. All methods of "
        "[Checkpointers](checkpointers.md). One saver serves sync and async callers; `AsyncSqliteSaver`, from "
        "`stepwell.checkpoint.sqlite.aio`, is the same under the name that async code knows.",
        (Part("stepwell.checkpoint.sqlite", ("SqliteSaver",), own=True),),
    ),
    Page(
        "serializers.md",
        "Serializers",
        "Values ↔ bytes. What can be stored: [types](../how-to/types.md).",
        (
            Part("stepwell.checkpoint.serde", ("register",)),
            Part("stepwell.checkpoint.serde.jsonplus", ("JsonPlusSerializer",)),
            Part("stepwell.checkpoint.serde.encrypted", ("EncryptedSerializer", "AesGcmCipher")),
            Part("stepwell.checkpoint.serde.base", ("SerializerProtocol", "CipherProtocol")),
        ),
    ),
    Page(
        "store.md",
        "Stores",
        "Long-term memory, beside threads: [which of the two?](../concepts.md#which-of-the-two)",
        (
            Part("stepwell.store.base", ("BaseStore",)),
            Part("stepwell.store.memory", ("InMemoryStore",), own=True),
            Part("stepwell.store.sqlite", ("SqliteStore",), own=True),
            Part("stepwell.store.base", ("Item", "SearchItem", "IndexConfig", "TTLConfig", "GetOp", "PutOp")),
            Part("stepwell.store.base", ("SearchOp", "ListNamespacesOp", "MatchCondition")),
        ),
    ),
    Page(
        "cache.md",
        "Caches",
        "Results of nodes that are used again: [cache a node](../how-to/cache.md).",
        (
            Part("stepwell.cache.base", ("BaseCache",)),
            Part("stepwell.cache.memory", ("InMemoryCache",), own=True),
            Part("stepwell.cache.sqlite", ("SqliteCache",), own=True),
        ),
    ),
    Page(
        "runtime.md",
        "Runtime and config",
        "What a node is handed of its run, by parameters of these names: `config`, `runtime`, `store`, `writer`.",
        (
            Part("stepwell.runtime", ("Runtime", "get_runtime", "ExecutionInfo", "RunControl", "ServerInfo")),
            Part("stepwell.config", ("get_config", "get_store", "get_stream_writer")),
            Part("stepwell.managed", ("IsLastStep", "RemainingSteps")),
        ),
    ),
    Page(
        "func.md",
        "Functional API",
        "Workflows as plain functions. The result of `@entrypoint` has the methods of a [compiled graph](graph.md).",
        (Part("stepwell.func", ("entrypoint", "task")),),
    ),
    Page(
        "pregel.md",
        "Pregel",
        "The level below `StateGraph`: nodes that listen to channels.",
        (Part("stepwell.pregel", ("NodeBuilder",)), Part("stepwell.pregel", ("Pregel",), own=True)),
    ),
    Page(
        "threads.md",
        "Use cases of threads",
        "What the command line does, as functions of a saver: find, list, log, show, fork, rewind.",
        (Part("stepwell.threads", ("*",)),),
    ),
)


def page_text(page: Page) -> str:
    """A page as Markdown."""
    lines = [f"# {page.title}", "", page.intro, ""]
    for part in page.parts:
        module = importlib.import_module(part.module)
        for name in module.__all__ if part.names == ("*",) else part.names:
            lines += [*_entry(part, name, getattr(module, name)), ""]
    return "\n".join(lines).rstrip() + "\n"


def errors_text() -> str:
    """The page of errors: the tree, then each class."""
    module = importlib.import_module("stepwell.errors")
    tree = (module.__doc__ or "").partition("\n\n")[2].strip("\n")
    lines = ["# Errors", "", "All in `stepwell.errors`. A message says what happened, why, and what to do.", ""]
    lines += ["```text", tree, "```", ""]
    for name, found in vars(module).items():
        if inspect.isclass(found) and found.__module__ == module.__name__ and not name.startswith("_"):
            doc = " ".join(_doc(found).split())
            lines.append(f"- `{name}`: {doc}")
    return "\n".join(lines) + "\n"


def index_text() -> str:
    """The page that lists the others."""
    lines = [
        "# Reference",
        "",
        "Made from the docstrings by `python docs/make_reference.py`; commands and files by hand.",
        "",
    ]
    for page in PAGES:
        names = [name for part in page.parts for name in part.names if name != "*"]
        shown = ", ".join(f"`{name}`" for name in names[:6]) + (", …" if len(names) > 6 else "")
        lines.append(f"- [{page.title}]({page.file})" + (f": {shown}" if shown else ""))
    lines += [
        "- [Errors](errors.md)",
        "- [The command line](command-line.md)",
        "- [The file of a thread](thread-file.md)",
    ]
    return "\n".join(lines) + "\n"


def _entry(part: Part, name: str, found: Any) -> Iterator[str]:
    yield f"## {name}"
    yield ""
    yield f"`from {part.module} import {name}`"
    yield ""
    if inspect.isclass(found):
        yield from _class(found, part.own)
    elif typing.get_origin(found) is typing.Annotated:  # its docstring is that of typing, another on each Python
        value, told_by = typing.get_args(found)
        yield from ("```text", f"{name}: {_annotation(value)}", "```", "", _doc(told_by))
    elif callable(found):
        yield from _signature(name, found)
        yield _doc(found)
    else:
        yield f"`{found!r}`"


def _class(cls: type, own: bool) -> Iterator[str]:
    if issubclass(cls, enum.Enum) or typing.is_typeddict(cls) or getattr(cls, "_is_protocol", False):
        fields = [f"{name}: {_annotation(kind)}" for name, kind in getattr(cls, "__annotations__", {}).items()]
        yield from ("```text", f"class {cls.__name__}", *(f"    {field}" for field in fields), "```", "")
    elif cls.__name__ not in MADE_BY_OTHERS:
        yield from _signature(cls.__name__, cls)
    yield _doc(cls)
    for base in () if own else cls.__mro__[1:]:
        if base.__module__.startswith("stepwell.") and _doc(base):
            yield f"\n{_doc(base)}"
    made = cls.__dict__.get("__init__")
    if made is not None and _doc(made):
        yield ""
        yield _doc(made)
    twins = []
    for name, member in _members(cls, own):
        doc = _doc(member)
        if TWIN.match(doc):
            twins.append(name)
            continue
        yield ""
        yield f"### {cls.__name__}.{name}"
        yield ""
        if not isinstance(member, property):
            yield from _signature(name, member)
        yield doc
    if twins:
        yield ""
        yield "Async twins: " + ", ".join(f"`{name}`" for name in twins) + "."


def _members(cls: type, own: bool) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that have a docstring, in the order they are written in."""
    seen: set[str] = set()
    bases = [cls] if own else [base for base in cls.__mro__ if base.__module__.startswith("stepwell.")]
    for base in bases:
        for name, raw in vars(base).items():
            member = raw.__func__ if isinstance(raw, staticmethod | classmethod) else raw
            is_shown = inspect.isfunction(member) or isinstance(member, property)
            if name.startswith("_") or name in seen | UNLISTED or not is_shown or not _doc(member):
                continue
            seen.add(name)
            yield name, member


def _signature(name: str, found: Callable[..., Any]) -> Iterator[str]:
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return
    parameters = list(_parameters(signature))
    returned = "" if inspect.isclass(found) else f" -> {_annotation(signature.return_annotation)}"
    text = f"{name}({', '.join(parameters)}){returned}"
    if len(text) > WIDTH:
        text = "\n".join([f"{name}(", *(f"    {item}," for item in parameters), f"){returned}"])
    yield from ("```text", text, "```", "")


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    """Parameters as they are written, with the star before those that are given by name."""
    starred = False
    for item in signature.parameters.values():
        if item.name in ("self", "cls"):
            continue
        if item.kind is item.KEYWORD_ONLY and not starred:
            yield "*"
        starred = starred or item.kind in (item.KEYWORD_ONLY, item.VAR_POSITIONAL)
        mark = {item.VAR_POSITIONAL: "*", item.VAR_KEYWORD: "**"}.get(item.kind, "")
        kind = "" if item.annotation is item.empty else f": {_annotation(item.annotation)}"
        default = "" if item.default is item.empty else f" = {_default(item.default)}"
        yield f"{mark}{item.name}{kind}{default}"


def _default(value: Any) -> str:
    """A default as it is written; "…" for objects that cannot be written."""
    return "…" if "<" in repr(value) else repr(value)


def _annotation(found: Any) -> str:
    """An annotation as it is written, in any version of Python."""
    if found is inspect.Signature.empty:
        return "Any"
    if isinstance(found, typing.ForwardRef):
        found = found.__forward_arg__
    return found if isinstance(found, str) else inspect.formatannotation(found)


def _doc(found: Any) -> str:
    doc = found.__dict__.get("__doc__") if inspect.isclass(found) else found.__doc__  # never that of a base
    return inspect.cleandoc(doc) if isinstance(doc, str) else ""


def all_pages() -> dict[str, str]:
    """File name → text of every page this script writes."""
    made = {page.file: page_text(page) for page in PAGES}
    return {**made, "errors.md": errors_text(), "README.md": index_text()}


def main(arguments: list[str]) -> int:
    stale = []
    for file, text in all_pages().items():
        path = HERE / file
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(file)
            if "--check" not in arguments:
                path.write_text(text, encoding="utf-8")
    print("out of date:" if "--check" in arguments else "written:", ", ".join(stale) or "nothing")
    return int("--check" in arguments and bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
