"""Graphs that run, and graphs declared channel by channel."""

from stepwell.pregel.builder import ChannelWriteEntry, NodeBuilder
from stepwell.pregel.pregel import Pregel

__all__ = ["ChannelWriteEntry", "NodeBuilder", "Pregel"]
