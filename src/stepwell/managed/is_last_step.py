"""How many steps the run has left, for nodes that want to end in order before the limit ends them."""

from __future__ import annotations

from typing import Annotated, Any

from stepwell.managed.base import ManagedValue


class IsLastStepManager(ManagedValue):
    """Whether this step is the last one that the limit allows."""

    @staticmethod
    def get(task: Any) -> bool:
        """True in the last step that recursion_limit allows."""
        return bool(task.remaining <= 1)


class RemainingStepsManager(ManagedValue):
    """How many steps are left, this one included."""

    @staticmethod
    def get(task: Any) -> int:
        """Steps left, this one included: 1 in the last."""
        return int(task.remaining)


IsLastStep = Annotated[bool, IsLastStepManager]
RemainingSteps = Annotated[int, RemainingStepsManager]
