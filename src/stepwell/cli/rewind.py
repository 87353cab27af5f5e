"""`stepwell rewind`: back to an earlier checkpoint."""

from __future__ import annotations

from typing import Final

import click

from stepwell.cli.arguments import checkpoint_argument, thread_argument
from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.completing import branches
from stepwell.cli.database import opened
from stepwell.cli.subcommands import example
from stepwell.cli.text import name, quoted
from stepwell.threads import Rewound, find_checkpoint, find_thread, rewind_thread, short_id, steps_back, turns_back
from stepwell.threads.chain import MAIN

ALREADY: Final = "{branch} is at {at} already. Nothing was changed."


@click.command(
    "rewind",
    epilog=example(
        "stepwell rewind 01a2", "stepwell rewind 01a2 --turns 3", "stepwell rewind 01a2 3f9c2ab --branch oslo"
    ),
)
@thread_argument
@checkpoint_argument
@click.option("--turns", type=click.IntRange(min=1), help="Back by so many turns. The default is one.")
@click.option("--steps", type=click.IntRange(min=1), help="Back by so many checkpoints.")
@click.option("--branch", shell_complete=branches, help="Which branch goes back, instead of main.")
@with_common_options
@click.pass_obj
def command(
    asked: Asked, thread: str, checkpoint: str | None, turns: int | None, steps: int | None, branch: str | None
) -> None:
    """Move a branch of THREAD back to a CHECKPOINT, or by turns or steps. Nothing is lost: how to undo it is printed.

    CHECKPOINT is an id, its beginning, the short form that `stepwell log` prints, a branch, or a tag.
    """
    if sum(each is not None for each in (checkpoint, turns, steps)) > 1:
        raise click.UsageError("CHECKPOINT, --turns and --steps each say how far: give one of them.")
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        if checkpoint:
            target = find_checkpoint(saver, thread_id, checkpoint)
        elif steps:
            target = steps_back(saver, thread_id, steps, branch=branch)
        else:
            target = turns_back(saver, thread_id, turns or 1, branch=branch)
        rewound = rewind_thread(saver, thread_id, target, branch=branch)
    undo = undo_of(rewound, asked.db_flag)
    if asked.json:
        print_json(
            {
                "thread": rewound.thread_id,
                "branch": rewound.branch,
                "before": rewound.before,
                "now": rewound.now,
                "undo": undo,
            }
        )
        return
    if rewound.now == rewound.before:
        click.echo(ALREADY.format(branch=name(rewound.branch), at=short_id(rewound.now)))
        return
    tell_undo(f"{name(rewound.branch)} is at {short_id(rewound.now)} now; it was at {short_id(rewound.before)}.", undo)


def tell_undo(what: str, undo: str) -> None:
    """Prints what was done, and the command that takes it back."""
    click.echo(f"{what} To undo:\n  {undo}")


def undo_of(rewound: Rewound, db_flag: str) -> str:
    """The command that takes a rewind back."""
    return rewind_command(rewound.thread_id, rewound.branch, rewound.before, db_flag)


def rewind_command(thread_id: str, branch: str, checkpoint_id: str, db_flag: str) -> str:
    """The command that moves a branch to a checkpoint."""
    flag = f" --branch {quoted(branch)}" if branch != MAIN else ""
    return f"stepwell rewind{db_flag} {quoted(thread_id)} {checkpoint_id}{flag}"
