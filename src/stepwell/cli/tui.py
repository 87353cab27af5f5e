"""`stepwell tui`: a browser of threads on the whole terminal."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

import click

from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.database import opened

GET_IT = "The browser of threads is an extra: pip install 'stepwell[tui]'"


@click.command("tui")
@with_common_options
@click.pass_obj
def command(asked: Asked) -> None:
    """Browse the threads: their tree on the left, what was said, the state and what changed on the right.

    The same opens with `stepwell` alone. Press ? for the keys.

    \b
    Examples:
      stepwell tui
      stepwell tui --db ./agent.db
    """
    if asked.json:
        raise click.UsageError("the browser is for people. For programs there is `stepwell threads --json`.")
    if not on_a_terminal():
        raise click.UsageError("the browser needs a terminal. `stepwell threads` prints the list.")
    browse(asked)


def browse(asked: Asked) -> None:
    """Opens the browser; without the extra, prints the list of threads and says how to get it."""
    if find_spec("textual") is None:
        click.get_current_context().invoke(import_module("stepwell.cli.threads").command)
        click.echo(GET_IT, err=True)
        return
    from stepwell.cli.browser.app import Browser  # textual is an extra

    with opened(asked.path, create=True) as saver:
        Browser(saver, lambda args: _carry_on(asked, args)).run()


def on_a_terminal() -> bool:
    """Whether a person sits on both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _carry_on(asked: Asked, args: Sequence[str]) -> None:
    """Runs another command of ours on the same database, in a process of its own: Ctrl-C is for that one."""
    database = ["--db", str(asked.db)] if asked.db is not None else []
    before = signal.signal(signal.SIGINT, lambda *_: None)  # a handler, since a child would inherit SIG_IGN
    try:
        subprocess.run([sys.executable, "-m", "stepwell.cli.main", *database, *args], check=False)
    finally:
        signal.signal(signal.SIGINT, before)
