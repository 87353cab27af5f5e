"""`stepwell`: the group of commands, each imported when it is asked for, and what becomes of errors."""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Final, TextIO

import click

from stepwell.cli.advice import tell_notes, told
from stepwell.cli.asjson import plain
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.exits import FAILED, STOPPED, UNWRITTEN, USAGE, exit_code
from stepwell.cli.output import guarded, width
from stepwell.cli.subcommands import refuse_slip
from stepwell.cli.text import printable, warn_person
from stepwell.errors import AmbiguousIdError, StepwellError, StoredTypeWarning
from stepwell.version import __version__
from stepwell.warnings import StepwellWarning

COMMANDS: Final = {
    "chat": "Talk to a graph in a thread that remembers.",
    "run": "Run one turn without a terminal: message in, answer out.",
    "threads": "List the threads, the most recently active first.",
    "search": "Find messages of all threads by words and phrases.",
    "log": "Show the chain of a thread as a tree.",
    "diff": "Show what two checkpoints hold differently.",
    "blame": "Show who wrote a value of the state.",
    "show": "Show one checkpoint: what was said, its state, who wrote it.",
    "branch": "List, create, rename, delete and switch branches.",
    "tag": "List, create, move and delete tags: names for checkpoints.",
    "fork": "Begin a second line at a checkpoint.",
    "rewind": "Move a branch back to an earlier checkpoint.",
    "edit": "Edit the state of a thread by hand.",
    "replay": "Run turns again from a checkpoint, as a branch, and compare.",
    "resume": "Go on with a thread that stopped, or that waits for an answer.",
    "ttl": "Say how long a thread is kept.",
    "sweep": "Delete the threads whose time is over.",
    "rename": "Give a thread a title.",
    "meta": "Show or set metadata of a thread.",
    "completion": "Print what makes a shell complete our commands, threads and branches.",
    "tui": "Browse the threads on the whole terminal.",
    "delete": "Delete threads with all that is stored of them.",
    "prune": "Take older checkpoints of threads away.",
    "export": "Write a thread into a file.",
    "import": "Bring the thread of a file in.",
    "check": "Look whether all that is stored can be read.",
    "stats": "Show what takes how many bytes.",
    "vacuum": "Make the database as small as what it holds.",
}
"""Each is the click command `command` of the module of its name; `--help` needs none of them. A name that Python keeps
for itself has an underscore behind it there."""
STANDS: Final = "What the command did is done; `stepwell threads` and `stepwell show THREAD` show it."
HELP_WIDTH: Final = 80
SHOW_WARNING: Final = warnings.showwarning
ALIASES: Final = {"history": "log", "list": "threads"}


class Commands(click.Group):
    """Imports a command's module when the command is run, not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, or None."""
        name = ALIASES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        module = f"stepwell.cli.{name}_" if iskeyword(name) else f"stepwell.cli.{name}"
        command: click.Command = import_module(module).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; UsageError where it may be a slip of another."""
        if args[0] not in ALIASES and not ctx.resilient_parsing:
            refuse_slip(ctx, args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="stepwell")
@with_common_options
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Memory for agents: threads, a checkpoint after every step, and a way back down to each of them.

    Alone, on a terminal, it opens a browser of threads.

    Exit codes: 0 done, 1 not found, 2 wrong usage, 3 busy, 4 damaged, 5 the graph failed, 6 output lost,
    130 stopped.
    """
    if ctx.invoked_subcommand is None:
        _without_a_command(ctx)


def _without_a_command(ctx: click.Context) -> None:
    tui = import_module("stepwell.cli.tui")
    if not tui.on_a_terminal() or ctx.obj.json:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(USAGE)
    tui.browse(ctx.obj)


def main(args: Sequence[str] | None = None) -> None:
    """Runs the command line and leaves with its exit code."""
    warnings.showwarning = _show_warning
    sys.exit(run(sys.argv[1:] if args is None else args))


def run(args: Sequence[str]) -> int:
    """The exit code of a command line; errors are reported on stderr."""
    asked = Asked()
    with guarded() as output:
        code = _run(args, asked)
        if output is not None:
            output.flush()
            if code == 0 and output.lost is not None and not isinstance(output.lost, BrokenPipeError):
                _report(asked, output.lost, f"the output could not be written: {output.lost.strerror}. {STANDS}")
                return UNWRITTEN
    return code


def _run(args: Sequence[str], asked: Asked) -> int:
    try:
        left = cli.main(
            list(args),
            prog_name="stepwell",
            standalone_mode=False,
            obj=asked,
            color=_color(),
            terminal_width=_help_width(),
        )
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.UsageError as error:
        asked.json = asked.json or "--json" in args  # click may stop before it comes to it
        if asked.json:
            _report(asked, error, error.format_message())
        else:
            error.show()
        return USAGE
    except click.ClickException as error:
        _report(asked, error, error.message)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _report_stop(asked)
        return STOPPED
    except Exception as error:
        code = exit_code(error)
        if code == FAILED and not isinstance(error, StepwellError) and not asked.json:
            tell_notes(error)
            traceback.print_exc()
        message = told(error)
        is_plain_failure = code == FAILED and message == str(error)  # otherwise the message says what to do
        _report(asked, error, message, go_on=asked.go_on if is_plain_failure else "")
        return code
    return left if isinstance(left, int) else 0  # click answers the code of ctx.exit()


def _help_width() -> int:
    return max(min(width(), HELP_WIDTH) - 2, 20)


def _color() -> bool | None:
    """False where NO_COLOR is set; None leaves it to click, which colours terminals only."""
    return False if os.environ.get("NO_COLOR") else None


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning of ours without the line of ours that gave it; any other as Python shows it."""
    if issubclass(category, StepwellWarning | StoredTypeWarning):
        warn_person(str(message))
    else:
        SHOW_WARNING(message, category, filename, lineno, file, line)


def _report(asked: Asked, error: Exception, message: str, *, go_on: str = "") -> None:
    if asked.json:
        report: dict[str, object] = {"error": type(error).__name__, "message": message}
        if isinstance(error, AmbiguousIdError):
            report["candidates"] = list(error.candidates)
        if asked.questions:
            report["questions"] = [plain(question) for question in asked.questions]
        if go_on:
            report["go_on"] = go_on
        click.echo(json.dumps(report, ensure_ascii=False), err=True)
        return
    click.echo(f"{click.style('Error:', fg='red')} {printable(message)}", err=True)
    if go_on:
        click.echo(f"Finished steps are kept. Go on with:\n  {go_on}", err=True)


def _report_stop(asked: Asked) -> None:
    """What Ctrl-C left unfinished, where there is such a thing."""
    if not asked.go_on:
        return
    if asked.json:
        message = "stopped; finished steps are kept"
        report = {"error": "KeyboardInterrupt", "message": message, "heard": asked.heard, "go_on": asked.go_on}
        click.echo(json.dumps(report, ensure_ascii=False), err=True)
    elif asked.heard:
        click.echo(f"Stopped. What was said and finished steps are kept. Go on with:\n  {asked.go_on}", err=True)
    else:
        click.echo(
            f"Stopped, and nothing was said: a turn before is not finished. To finish it:\n  {asked.go_on}", err=True
        )


if __name__ == "__main__":
    main()
