"""blake2b as hashlib has it. hashlib brings OpenSSL along, 2 ms of an import, for nothing that is used here."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # a Python that keeps it elsewhere
    from hashlib import blake2b

__all__ = ["blake2b"]
