"""The help of every command ends with commands that may be typed."""

from __future__ import annotations

import shlex

import click
import pytest

from stepwell.cli.main import COMMANDS, cli


def every_command():
    """Each command, and those of groups, with the words that call it."""
    root = click.Context(cli, info_name="stepwell")
    for name in COMMANDS:
        command = cli.get_command(root, name)
        context = click.Context(command, info_name=name, parent=root)
        yield (name,), context
        for inner in command.commands if isinstance(command, click.Group) else ():
            yield (name, inner), click.Context(command.get_command(context, inner), info_name=inner, parent=context)


def examples_in(context):
    """The words of each example."""
    help = context.command.get_help(context)
    lines = help.partition("Examples:\n")[2].partition("\n\n")[0].splitlines()
    calls = [line.strip().partition("  ")[0] for line in lines]
    return [shlex.split(call) for call in calls if "stepwell" in call]


@pytest.mark.parametrize("words", [words for words, _ in every_command()], ids=" ".join)
def test_the_help_of_a_command_has_examples(words):
    context = dict(every_command())[words]

    found = examples_in(context)

    assert found, f"{' '.join(words)} --help has no examples"
    assert any(set(words) <= set(call) or words[0] in " ".join(call) for call in found)
