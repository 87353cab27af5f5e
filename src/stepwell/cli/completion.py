"""`stepwell completion`: the script that makes a shell complete our command lines."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

VARIABLE: Final = "_STEPWELL_COMPLETE"


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print what makes SHELL complete commands, options, ids of threads, branches and tags behind Tab.

    \b
    Examples:
      eval "$(stepwell completion bash)"       for this shell; for all of them, put it into ~/.bashrc
      eval "$(stepwell completion zsh)"        as above, in ~/.zshrc
      stepwell completion fish > ~/.config/fish/completions/stepwell.fish
    """
    made = get_completion_class(shell)
    assert made is not None, "click has the shells that the argument may be"
    click.echo(made(ctx.find_root().command, {}, "stepwell", VARIABLE).source())
