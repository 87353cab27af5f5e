"""Values that a node can read like keys of the state, worked out for each task and never stored."""

from __future__ import annotations

import inspect
from typing import Any, TypeGuard


class ManagedValue:
    """Base of managed values: annotate a key with the class, as in `left: Annotated[int, RemainingStepsManager]`."""

    @staticmethod
    def get(task: Any) -> Any:
        """The value for one task (the engine's Task)."""
        raise NotImplementedError


def is_managed_value(value: Any) -> TypeGuard[type[ManagedValue]]:
    """Whether this annotation names a managed value."""
    return inspect.isclass(value) and issubclass(value, ManagedValue)
