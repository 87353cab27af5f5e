"""Configs: how the graph's own, the surrounding node's and the call's become one, and what a node is handed.

A config is the plain dict that LangChain calls RunnableConfig: tags, metadata, callbacks, recursion_limit,
max_concurrency, run_name, run_id, configurable. Nothing here imports LangChain; where it is loaded, runnables below a
node find the node's config through LangChain's own context variable (`offer`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import Token
from functools import partial
from typing import Any, Final, TypeAlias

from stepwell.constants import CONF
from stepwell.errors import ConfigError, OutsideRunError
from stepwell.plan.entries import check_config, valid_limit
from stepwell.scope import current_task

RunnableConfig: TypeAlias = dict[str, Any]

TASK_KEY: Final = "__stepwell_task"
"""Key of `configurable` under which a node's config carries the Task: how a nested graph that is called from another
thread, where no context came along, still finds whose child it is."""
CALLBACKS_SLOT: Final = "callbacks"
"""Key of `task.slots` under which the callback manager of a task lies, when callbacks are on."""

CONFIG_SLOT: Final = "config"
"""Key of `task.slots` under which its config lies once somebody asked for it."""
_LANGCHAIN_OPTIONS: Final = (
    *("tags", "metadata", "callbacks", "run_name", "run_id"),
    *("max_concurrency", "recursion_limit", CONF),
)
_OWN_OPTIONS: Final = ("on_busy", "busy_timeout", "on_interrupted", "stored_configurable")
_OPTIONS: Final = frozenset((*_LANGCHAIN_OPTIONS, *_OWN_OPTIONS))
"""Entries of a config that are not the user's own; any other key given at the top belongs into `configurable`."""
_ADDRESS: Final = ("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map", "branch")
"""Keys of `configurable` that say which checkpoint is meant: a call that names one leaves the surrounding thread."""
_TRACED: Final = ("thread_id", "run_id", "assistant_id", "graph_id")
"""Keys of `configurable` that tracers are shown, and that a checkpoint's metadata keeps."""
_CHAIN_LIMIT: Final = 25
"""What LangChain puts as recursion_limit into every config it completes."""
_PASSED_ON: Final = ("callbacks", "recursion_limit", "max_concurrency")
"""What a nested run takes over as it is; tags, metadata and configurable add up; names and ids of a run are its own."""


def _default_limit() -> int:
    text = os.environ.get("STEPWELL_DEFAULT_RECURSION_LIMIT", "10007")
    try:
        return valid_limit(int(text))
    except ValueError:
        raise ConfigError(
            f"the environment variable STEPWELL_DEFAULT_RECURSION_LIMIT is {text!r}. "
            "It is the number of steps a run may take; set it to a whole number of at least 1, or unset it."
        ) from None


DEFAULT_RECURSION_LIMIT: Final = _default_limit()


def run_config(own: Mapping[str, Any] | None, call: Mapping[str, Any] | None) -> RunnableConfig:
    """The complete config of a run: the graph's own, then what surrounds the call, then the call's; later wins.

    tags, metadata and callbacks accumulate. A call from inside a node takes over the node's `configurable`, unless it
    names an address (thread_id, checkpoint_*) of its own. Entries that are this run's only are fresh containers.
    Raises ConfigError when it is no mapping, or an entry cannot be meant.
    """
    if call is not None:
        check_config(call)
    task = current_task.get()
    given = call.get(CONF) if call else None
    if given and TASK_KEY in given:  # the config a node was handed, or one made from it: all that surrounds is in it
        return merge_configs(own, _without_address(call or {}, given))
    around = _around_node(task, call) if task is not None else _around_chain()
    if own is None and around is None:
        return ensure_config(call)
    return merge_configs(own, around, call)


def ensure_config(config: Mapping[str, Any] | None = None) -> RunnableConfig:
    """A complete config of its own: every entry that is read without asking is there."""
    full: RunnableConfig = {
        "tags": [],
        "metadata": {},
        "callbacks": None,
        "recursion_limit": DEFAULT_RECURSION_LIMIT,
        CONF: {},
    }
    if config:
        for key, value in config.items():
            if value is None:
                continue
            if key not in _OPTIONS:
                full[CONF].setdefault(key, value)
            elif key == CONF:
                full[CONF].update(value)
            else:
                full[key] = value.copy() if type(value) in (dict, list) else value
        if "recursion_limit" in config:
            valid_limit(full["recursion_limit"])
    return full


def merge_configs(*configs: Mapping[str, Any] | None) -> RunnableConfig:
    """One complete config of several, later ones winning; tags, metadata and callbacks accumulate. None is skipped."""
    merged = ensure_config()
    for config in configs:
        if config:
            _merge_into(merged, config)
    return merged


def _merge_into(merged: RunnableConfig, config: Mapping[str, Any]) -> None:
    for key, value in config.items():
        if value is None:
            continue
        if key == "tags":
            merged["tags"] += [tag for tag in value if tag not in merged["tags"]]
        elif key in ("metadata", CONF):
            merged[key].update(value)
        elif key == "callbacks":
            merged[key] = merge_callbacks(merged[key], value)
        elif key == "recursion_limit":
            merged[key] = valid_limit(value)
        elif key in _OPTIONS:
            merged[key] = value
        else:
            merged[CONF][key] = value


def merge_callbacks(first: Any, second: Any) -> Any:
    """Both sets of callbacks as one; each is None, a list of handlers or a callback manager of LangChain's.

    A handler in both is there once. A manager stays one: it knows the run that its children belong to.
    """
    if first is None or first is second:
        return second
    if isinstance(first, Sequence) and isinstance(second, Sequence):
        return [*first, *(handler for handler in second if not any(handler is other for other in first))]
    # With two managers the second wins as the parent of what runs: the call's is closer than what surrounds it.
    manager, others = (first, second) if isinstance(second, Sequence) else (second, first)
    merged = manager.copy()
    kept = others if isinstance(others, Sequence) else others.inheritable_handlers
    for handler in kept:
        if not any(handler is other for other in merged.handlers):
            merged.add_handler(handler, inherit=True)
    return merged


def parent_of(call: Mapping[str, Any] | None) -> Any:
    """The Task that a run started with this config is a part of; None for a run of its own.

    It is of its own outside of any node, and where the call names a thread or checkpoint that is not its node's.
    """
    given = (call.get(CONF) if call else None) or {}
    task = given.get(TASK_KEY)
    if task is None:
        return current_task.get() if not _names_address(given) else None
    return task if _is_address_of(task, given) and not _is_over(task) else None


def _is_over(task: Any) -> bool:
    """Whether the body of `task` ended: its config was kept, and is used as that of any earlier call."""
    return task.done or task.error is not None


def _names_address(given: Mapping[str, Any]) -> bool:
    return any(given.get(key) is not None for key in _ADDRESS)


def _is_address_of(task: Any, given: Mapping[str, Any]) -> bool:
    """Whether a config that was made from the config of `task` still addresses the task's own thread and namespace."""
    handed = config_of(task)[CONF]
    return all(given.get(key) in (None, handed.get(key)) for key in _ADDRESS)


def _without_address(call: Mapping[str, Any], given: Mapping[str, Any]) -> RunnableConfig:
    """A node's config as the call of a nested run: without the address of the node itself."""
    handed = config_of(given[TASK_KEY])[CONF]
    kept = {key: value for key, value in given.items() if key != TASK_KEY and not _is_handed(key, value, handed)}
    return {**call, "metadata": _without_node(call.get("metadata")), CONF: kept}


def _is_handed(key: str, value: Any, handed: Mapping[str, Any]) -> bool:
    return key in _ADDRESS and key != "thread_id" and value == handed.get(key)


def _without_node(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Metadata without what tells about the node: a nested run's nodes tell about themselves."""
    return {key: value for key, value in (metadata or {}).items() if not key.startswith("langgraph_")}


def _around_node(task: Any, call: Mapping[str, Any] | None) -> RunnableConfig:
    """What a call inside the body of `task` takes over: from the innermost runnable around it, or the node."""
    handed = config_of(task)
    inner = _outer_config() or {}
    source = inner if (inner.get(CONF) or {}).get(TASK_KEY) is task else handed
    around = {key: source[key] for key in _PASSED_ON if source.get(key) is not None}
    # LangChain replaces tags and metadata on the way down, instead of adding to them.
    around["tags"] = list(dict.fromkeys((*handed["tags"], *(source.get("tags") or ()))))
    around["metadata"] = _without_node({**handed["metadata"], **(source.get("metadata") or {})})
    if not _names_address((call.get(CONF) if call else None) or {}):
        dropped = (TASK_KEY, *_ADDRESS[1:])
        around[CONF] = {key: value for key, value in (source.get(CONF) or {}).items() if key not in dropped}
    return around


def _around_chain() -> Mapping[str, Any] | None:
    """What a call from inside a LangChain runnable takes over; the step limit of chains is not one of graphs."""
    outer = _outer_config()
    return {k: v for k, v in outer.items() if k != "recursion_limit" or v != _CHAIN_LIMIT} if outer else None


def _outer_config() -> Mapping[str, Any] | None:
    """The config of the LangChain runnable that runs here, when LangChain is loaded and there is one."""
    variable = _langchain_variable()
    return variable.get() or None if variable is not None else None


def _langchain_variable() -> Any:
    module = sys.modules.get("langchain_core.runnables.config")
    return getattr(module, "var_child_runnable_config", None) if module is not None else None


def config_of(task: Any) -> RunnableConfig:
    """The config that the node of `task` is handed; the same dict each time it is asked for."""
    slots: dict[str, Any] = task.slots
    config: RunnableConfig | None = slots.get(CONFIG_SLOT)
    if config is None:
        config = slots[CONFIG_SLOT] = _config_of(task)
    return config


def _config_of(task: Any) -> RunnableConfig:
    run = task.run
    base: Mapping[str, Any] = run.config
    node = task.node
    given = base.get(CONF) or {}
    configurable = {key: value for key, value in given.items() if key not in _ADDRESS}
    if run.thread_id is not None:
        configurable["thread_id"] = run.thread_id
    configurable.update({"checkpoint_ns": task.ns, "checkpoint_id": run.checkpoint_id, TASK_KEY: task})
    metadata = {key: configurable[key] for key in _TRACED if configurable.get(key) is not None}
    metadata.update(base.get("metadata") or {})
    tags = list(base.get("tags") or ())
    tags += [tag for tag in node.tags if tag not in tags]
    metadata.update(
        node.metadata,
        langgraph_step=task.step,
        langgraph_node=task.name,
        langgraph_triggers=task.triggers,
        langgraph_path=task.path,
        langgraph_checkpoint_ns=task.ns,
    )
    config = {key: base[key] for key in ("recursion_limit", "max_concurrency") if base.get(key) is not None}
    callbacks = task.slots.get(CALLBACKS_SLOT, base.get("callbacks"))
    return {**config, "tags": tags, "metadata": metadata, "callbacks": callbacks, CONF: configurable}


class _Offered(Mapping[str, Any]):
    """The config of a task, built when a runnable below the node reads it: most nodes have none."""

    __slots__ = ("_task",)

    def __init__(self, task: Any) -> None:
        self._task = task

    def __getitem__(self, key: str) -> Any:
        return config_of(self._task)[key]

    def __iter__(self) -> Iterator[str]:
        return iter(config_of(self._task))

    def __len__(self) -> int:
        return len(config_of(self._task))

    def __bool__(self) -> bool:
        return True


def offer(task: Any) -> Token[Any] | None:
    """Lets LangChain runnables in this context find the config of `task`; None when LangChain is not loaded.

    For whoever sets `current_task`: where the context is not thrown away afterwards, pass the answer to `withdraw`.
    """
    variable = _langchain_variable()
    token: Token[Any] | None = variable.set(_Offered(task)) if variable is not None else None
    return token


def withdraw(token: Token[Any] | None) -> None:
    """Undoes an `offer`."""
    if token is not None:
        token.var.reset(token)


def get_config() -> RunnableConfig:
    """The config of the node, or of the LangChain runnable below it, that runs here.

    Raises OutsideRunError where neither runs.
    """
    task = current_task.get()
    inner = _outer_config()
    if task is None:
        if inner is None:
            raise _outside("get_config()")
        return inner if isinstance(inner, dict) else dict(inner)
    if isinstance(inner, dict) and (inner.get(CONF) or {}).get(TASK_KEY) is task:
        return inner
    return config_of(task)


def get_store() -> Any:
    """The store that the running graph was compiled with, or None. Raises OutsideRunError outside of a node."""
    task = current_task.get()
    if task is None:
        raise _outside("get_store()")
    return task.run.store


def get_stream_writer() -> Callable[[Any], None]:
    """A function that sends a chunk to `stream_mode="custom"`. Raises OutsideRunError outside of a node."""
    task = current_task.get()
    if task is None:
        raise _outside("get_stream_writer()")
    return partial(task.emit, "custom")


def _outside(name: str) -> OutsideRunError:
    return OutsideRunError(
        f"{name} was called outside of a node: no run is known here. Call it inside a node, a @task or a tool that a "
        "graph runs; in a thread you started yourself, pass what you need as an argument."
    )


def stored_metadata(config: Mapping[str, Any], stored_configurable: Sequence[str] = ()) -> dict[str, Any]:
    """The entries of a config that a checkpoint's metadata keeps.

    Scalars of `config["metadata"]`; of `configurable` only thread_id, run_id, assistant_id, graph_id and what
    `stored_configurable` names, because people keep API keys there.
    """
    kept: dict[str, Any] = {}
    for key, value in (config.get("metadata") or {}).items():
        if isinstance(value, str | int | float) and not _is_private(key):
            kept[key] = value
    given = config.get(CONF) or {}
    for key in (*_TRACED, *stored_configurable):
        if isinstance(given.get(key), str | int | float):
            kept[key] = given[key]
    if config.get("run_id") is not None:
        kept["run_id"] = str(config["run_id"])
    return kept


def _is_private(key: Any) -> bool:
    if not isinstance(key, str):
        return True
    return key.startswith(("__", "langgraph_", "checkpoint_")) or key in ("ls_integration", "thread_id", "branch")
