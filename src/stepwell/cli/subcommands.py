"""Commands with commands of their own, and the examples that end a command's help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

LIST: Final = "list"


class ListedFirst(click.Group):
    """A group whose `list` is meant when the first word is none of its commands: `branch THREAD`, `tag THREAD`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts `list` in front of what names no command."""
        word = _first_word(args)
        if word is not None and word not in self.commands:
            args = [LIST, *args]
        return super().parse_args(ctx, args)


def _first_word(args: Sequence[str]) -> str | None:
    """The first argument that is neither an option nor the value of --db."""
    left = iter(args)
    for arg in left:
        if arg == "--db":
            next(left, None)
        elif not arg.startswith("-"):
            return arg
    return None


def example(*lines: str) -> str:
    """The end of a command's help: commands that may be typed as they stand."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
