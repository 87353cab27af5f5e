"""Serializers of savers, and `register` for the classes of your state."""

from stepwell.serde import find_unknown, register, registry, require_known

__all__ = ["register", "registry", "find_unknown", "require_known"]
