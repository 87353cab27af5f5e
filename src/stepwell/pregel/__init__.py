"""Graphs that run."""

from stepwell.pregel.pregel import Pregel

__all__ = ["Pregel"]
