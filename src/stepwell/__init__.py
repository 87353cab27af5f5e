"""Memory for agents: a state graph with a checkpoint after every step, and a way back down to each of them."""

from stepwell.version import __version__

__all__ = ["__version__"]
