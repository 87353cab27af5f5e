"""The entries of a config: what each may be, and what is said of one that cannot be meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Final

from stepwell.constants import CONF
from stepwell.errors import ConfigError, GraphError, brief

_EXAMPLE: Final = 'Pass for example config={"configurable": {"thread_id": "order-7"}}.'


def check_config(config: Any) -> None:
    """ConfigError for a config that is none (a thread id is given for one now and then), or an entry that cannot be."""
    if not isinstance(config, Mapping):
        raise ConfigError(f"the config is {_named(config)}; it is a dict. {_EXAMPLE}")
    for key, value in config.items():
        refuse_wrong = _CHECKS.get(key)
        if refuse_wrong is not None and value is not None:
            refuse_wrong(key, value)


def valid_limit(limit: Any) -> int:
    """How many steps a run may take. Raises ConfigError."""
    if _counts(limit):
        return int(limit)
    raise ConfigError(
        f"recursion_limit is {brief(limit)}. It is the number of steps a run may take, a whole number of at least 1. "
        'Leave it out for the default, or pass for example config={"recursion_limit": 50}.'
    )


def on_busy(given: Any) -> None:
    """What a run does when another holds its thread."""
    if given not in ("wait", "reject"):
        raise GraphError(f'on_busy is {brief(given)}; it is "wait" or "reject".')


def busy_timeout(given: Any) -> None:
    """For how long it waits."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not given >= 0:
        raise GraphError(f"busy_timeout is {brief(given)}; it is how many seconds to wait for a busy thread, from 0.")


def on_interrupted(given: Any) -> None:
    """What new input does to an open question."""
    if given not in ("raise", "drop", "keep"):
        raise GraphError(f'on_interrupted is {brief(given)}; it is "raise", "drop" or "keep".')


def stored_configurable(given: Any) -> tuple[str, ...]:
    """Which keys of `configurable` checkpoints keep."""
    if isinstance(given, str) or not isinstance(given, Sequence | Set):
        raise GraphError(f"stored_configurable is {brief(given)}; it is a list of keys of `configurable`.")
    return tuple(given)


def _max_concurrency(key: str, limit: Any) -> None:
    if not _counts(limit):
        raise ConfigError(
            f"max_concurrency is {brief(limit)}. It is how many tasks may run at once, a whole number of at least 1. "
            "Leave it out for as many as there are."
        )


def _counts(limit: Any) -> bool:
    return isinstance(limit, int) and not isinstance(limit, bool) and limit >= 1


def _named(value: Any) -> str:
    return f"{brief(value)}, of type {type(value).__name__}"


def _mapping(key: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise ConfigError(f"config[{key!r}] is {_named(value)}; it is a dict. {_EXAMPLE}")


def _tags(key: str, value: Any) -> None:
    if not isinstance(value, Sequence | Set) or isinstance(value, str | bytes):
        raise ConfigError(f"config['tags'] is {_named(value)}; it is a list of texts, like [\"nightly\"].")
    for tag in value:
        if not isinstance(tag, str):
            raise ConfigError(f"config['tags'] holds {_named(tag)}; a tag is text. Write str(...) around it.")


def _callbacks(key: str, value: Any) -> None:
    """A list of handlers, or a manager of LangChain's; told by what they have, because nothing here imports it."""
    if isinstance(value, type) or not (_is_list(value) or hasattr(value, "inheritable_handlers")):
        raise ConfigError(
            f"config['callbacks'] is {_named(value)}; it is a list of handlers, or a callback manager of LangChain's. "
            "Put a handler into a list: [handler]."
        )
    for handler in value if _is_list(value) else ():
        if isinstance(handler, type):
            raise ConfigError(f"config['callbacks'] holds the class {handler.__name__}; call it: {handler.__name__}().")
        if not hasattr(handler, "ignore_chain"):
            raise ConfigError(
                f"config['callbacks'] holds {_named(handler)}, which is no handler. Derive it from BaseCallbackHandler "
                "of langchain_core.callbacks, or leave it out."
            )


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _run_name(key: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ConfigError(f"config['run_name'] is {_named(value)}; it is the text that tracers show for the run.")


def _run_id(key: str, value: Any) -> None:
    from uuid import UUID  # as in ids.py

    if isinstance(value, bool) or not isinstance(value, str | int | UUID):
        raise ConfigError(
            f"config['run_id'] is {_named(value)}; it is a UUID, or its text. Leave it out for a new one."
        )


_CHECKS: Final[Mapping[str, Callable[[str, Any], object]]] = {
    CONF: _mapping,
    "metadata": _mapping,
    "tags": _tags,
    "callbacks": _callbacks,
    "run_name": _run_name,
    "run_id": _run_id,
    "recursion_limit": lambda _, limit: valid_limit(limit),
    "max_concurrency": _max_concurrency,
    "on_busy": lambda _, given: on_busy(given),
    "busy_timeout": lambda _, given: busy_timeout(given),
    "on_interrupted": lambda _, given: on_interrupted(given),
    "stored_configurable": lambda _, given: stored_configurable(given),
}
