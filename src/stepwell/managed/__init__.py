"""Managed values: what a node can read that is no key of the state."""

from stepwell.managed.is_last_step import IsLastStep, RemainingSteps

__all__ = ["IsLastStep", "RemainingSteps"]
