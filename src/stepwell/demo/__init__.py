"""A graph that works without keys and without a network: `stepwell chat` runs it when no other is named."""

from stepwell.demo.graph import conversation
from stepwell.demo.model import OfflineModel

__all__ = ["OfflineModel", "conversation"]
