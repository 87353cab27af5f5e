"""Build a graph: nodes that read and update one state, and the edges between them."""

from stepwell.graph.message import MessagesState, add_messages
from stepwell.graph.state import StateGraph
from stepwell.types import END, START

__all__ = ["END", "START", "MessagesState", "StateGraph", "add_messages"]
