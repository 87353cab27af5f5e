"""Who listens to a run from outside: LangChain's callbacks and tracers, and whoever reads the `messages` stream.

Where nobody does, nothing is built. Nothing here imports LangChain unless somebody listens.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from stepwell.config import offer, withdraw

if TYPE_CHECKING:
    from stepwell.engine.run import Run
    from stepwell.engine.task import Task

W = TypeVar("W")
_TRACING: Final = ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING")
"""Environment variables that turn LangSmith's tracing on."""


class Ears:
    """Goes around the bodies of a run's nodes, and is told how the run begins and ends.

    This one listens to nothing: it lets LangChain runnables below a node find the node's config.
    """

    __slots__ = ()

    @staticmethod
    def of(run: Run) -> Ears | None:
        """What listens to `run`: None where nobody does and LangChain is not loaded."""
        if run.config.get("callbacks") or "messages" in run.heard or _is_traced():
            from stepwell.pregel.callbacks import Callbacks

            return Callbacks(run)
        return _OFFERING if "langchain_core.runnables.config" in sys.modules else None

    def around(self, task: Task, body: Callable[[], W]) -> W:
        """Carries out the body of a node."""
        token = offer(task)
        try:
            return body()
        finally:
            withdraw(token)

    async def aaround(self, task: Task, body: Callable[[], Awaitable[W]]) -> W:
        """As `around`."""
        token = offer(task)
        try:
            return await body()
        finally:
            withdraw(token)

    def started(self, input: Any) -> None:
        """The run begins."""

    def ended(self, output: Any) -> None:
        """The run ended, or stopped to ask."""

    def failed(self, error: BaseException) -> None:
        """The run ended with an error."""

    def interrupted(self, interrupts: Sequence[Any], status: str = "pending") -> None:
        """The run stopped to ask."""

    def resumed(self, status: str = "pending") -> None:
        """The run goes on from where one stopped."""

    async def astarted(self, input: Any) -> None:
        """As `started`, in an event loop."""

    async def aended(self, output: Any) -> None:
        """As `ended`, in an event loop."""

    async def afailed(self, error: BaseException) -> None:
        """As `failed`, in an event loop."""

    async def ainterrupted(self, interrupts: Sequence[Any], status: str = "pending") -> None:
        """As `interrupted`, in an event loop."""

    async def aresumed(self, status: str = "pending") -> None:
        """As `resumed`, in an event loop."""


_OFFERING: Final = Ears()


def _is_traced() -> bool:
    """Whether the environment, or a context that LangChain opened, asks for tracing."""
    if any(os.environ.get(name, "").lower() == "true" for name in _TRACING):
        return True
    tracing = sys.modules.get("langchain_core.tracers.context")
    if tracing is not None and tracing.tracing_v2_callback_var.get() is not None:
        return True
    settings = sys.modules.get("langchain_core.globals")
    return settings is not None and bool(settings.get_debug())
