"""Carrying out effects: the only rooms with threads or an event loop."""
