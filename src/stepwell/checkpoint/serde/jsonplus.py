"""The default serializer."""

from stepwell.errors import InvalidModuleError
from stepwell.serde.jsonplus import JsonPlusSerializer

__all__ = ["JsonPlusSerializer", "InvalidModuleError"]
