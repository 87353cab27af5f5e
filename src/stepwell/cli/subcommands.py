"""Commands with commands of their own, words that are slips of one, and the examples that end a command's help."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from typing import Final

import click

LIST: Final = "list"


class ListedFirst(click.Group):
    """A group whose `list` is meant when the first word is none of its commands: `branch THREAD`, `tag THREAD`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts `list` in front of what names no command."""
        words = list(_words(args))
        if words and words[0] not in self.commands:
            if len(words) > 1 and not ctx.resilient_parsing:  # a THREAD would stand alone
                refuse_slip(ctx, words[0], self.commands)
            args = [LIST, *args]
        return super().parse_args(ctx, args)


def refuse_slip(ctx: click.Context, word: str, commands: Collection[str]) -> None:
    """UsageError where `word` is none of the commands, and close to some."""
    close = () if word in commands else get_close_matches(word.casefold(), list(commands))
    if close:
        ctx.fail(f"No such command {word!r}. Did you mean {' or '.join(close)}?")


def _words(args: Sequence[str]) -> Iterator[str]:
    """The arguments that are neither an option nor the value of --db."""
    left = iter(args)
    for arg in left:
        if arg == "--db":
            next(left, None)
        elif not arg.startswith("-"):
            yield arg


def example(*lines: str) -> str:
    """The end of a command's help: commands that may be typed as they stand."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
