"""Guesses what a misspelt name was meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: object, names: Iterable[str]) -> str:
    """ " Did you mean 'x'?", with a blank before it; "" when no name is close."""
    close = get_close_matches(str(name), [known for known in names if not known.startswith("__")], n=1, cutoff=0.6)
    return f" Did you mean {close[0]!r}?" if close else ""
