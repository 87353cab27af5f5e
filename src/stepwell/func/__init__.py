"""Workflows as plain functions: `@entrypoint` and `@task`."""

from stepwell.func.entrypoint import entrypoint
from stepwell.func.task import task

__all__ = ["entrypoint", "task"]
