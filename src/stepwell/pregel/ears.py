"""Who listens to a run from outside its graph: LangChain callbacks, tracers, token streams. Nobody, as a rule."""

from __future__ import annotations

import os
import sys

from stepwell.engine.run import Run
from stepwell.pregel.offering import aoffering, offering

TRACING = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING")


def attach_ears(run: Run, modes: frozenset[str]) -> None:
    """Lets those who listen hear of this run's tasks. Without any, and without LangChain loaded, tasks run bare."""
    if run.config.get("callbacks") or "messages" in modes or "tools" in modes or _is_traced():
        from stepwell.pregel.callbacks import listening  # brings in LangChain, which only these need

        run.ears = listening(run, modes)
    if run.ears is not None:
        run.around, run.aaround = run.ears.around, run.ears.aaround
    elif "langchain_core.runnables.config" in sys.modules:
        run.around, run.aaround = offering, aoffering


def _is_traced() -> bool:
    environ = os.environ
    return any(environ.get(name, "").lower() == "true" for name in TRACING)
