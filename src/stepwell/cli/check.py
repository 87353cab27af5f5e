"""`stepwell check`: whether all that is stored can be read."""

from __future__ import annotations

import click

from stepwell.checkpoint.tools.checking import Finding
from stepwell.cli.arguments import threads_argument
from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.database import opened
from stepwell.cli.exits import DAMAGED
from stepwell.cli.removing import progress
from stepwell.cli.text import count, name, printable, quoted, size_text
from stepwell.threads import check_threads, find_thread
from stepwell.threads.check import Check

FEW = 50
"""Findings that are listed one by one."""


@click.command("check")
@threads_argument
@with_common_options
@click.pass_obj
def command(asked: Asked, threads: tuple[str, ...]) -> None:
    """Look at everything that is stored of threads (none named: all), and say what is damaged. Nothing is changed.

    Exit code 0 when all is sound, 4 when something is damaged. Other programs can run threads meanwhile.

    \b
    Examples:
      stepwell check
      stepwell check my-talk --json
    """
    with opened(asked.path, way_out="There is nothing to check.") as saver:
        storage = saver.check_storage()
        ids = list(storage.threads)
        if threads and not storage.pages:  # a whole id needs no list, which damage may be in the way of
            ids = [text if text in storage.threads else find_thread(saver, text) for text in threads]
        with progress(ids, "checking") as done:
            found = check_threads(saver, ids, storage=storage, done=done)
    if asked.json:
        _print_json(found)
    else:
        _show(found, asked)
    if not found.is_sound:
        raise click.exceptions.Exit(DAMAGED)


def _print_json(found: Check) -> None:
    print_json(
        {
            "sound": found.is_sound,
            "pages": list(found.pages),
            "strays": list(found.strays),
            "threads": [
                {
                    "thread": each.thread_id,
                    "checkpoints": each.checkpoints,
                    "records": each.records,
                    "items": each.items,
                    "unused_bytes": each.unused_bytes,
                }
                for each in found.threads
            ],
            "findings": [
                {
                    "thread": each.thread,
                    "namespace": each.namespace,
                    "checkpoint": each.checkpoint,
                    "channel": each.channel,
                    "what": each.what,
                }
                for each in found.findings
            ],
        }
    )


def _show(found: Check, asked: Asked) -> None:
    if found.pages:
        for text in found.pages[:FEW]:
            click.echo(printable(text))
        path = quoted(str(asked.path))
        click.echo(
            "The file itself is damaged, so no thread was looked at. Keep a copy of it, and save what can be read:\n"
            f"  sqlite3 {path} .recover | sqlite3 recovered.db"
        )
        return
    for finding in found.findings[:FEW]:
        click.echo(_line(finding))
    if len(found.findings) > FEW:
        click.echo(f"… and {len(found.findings) - FEW:,} more; --json has all.")
    for text in found.strays:
        click.echo(printable(text))
    checkpoints = sum(each.checkpoints for each in found.threads)
    unused = sum(each.unused_bytes for each in found.threads)
    bad = sum(1 for each in found.threads if each.findings)
    said = "sound" if found.is_sound else f"damaged: {count(bad, 'thread')}, {count(len(found.findings), 'finding')}"
    click.echo(f"{count(len(found.threads), 'thread')}, {count(checkpoints, 'checkpoint')}: {said}.")
    if unused:
        click.echo(f"{size_text(unused)} of stored values are not in use, which is no damage.")


def _line(finding: Finding) -> str:
    parts = [name(finding.thread)]
    if finding.namespace:
        parts.append(name(finding.namespace))
    if finding.checkpoint is not None:
        parts.append(finding.checkpoint)
    if finding.channel is not None:
        parts.append(name(finding.channel))
    return f"{' '.join(parts)}: {printable(finding.what)}"
