"""`stepwell stats`: what takes the room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from stepwell.checkpoint.tools.measuring import ChannelBytes, ThreadBytes
from stepwell.cli.arguments import threads_argument
from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.database import opened
from stepwell.cli.removing import progress
from stepwell.cli.text import count, name, size_text
from stepwell.threads import find_thread, list_threads, measure_threads
from stepwell.threads.stats import Stats

CHANNELS = 20
"""Channels that are listed one by one."""


@click.command("stats")
@threads_argument
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="Show the N largest threads.")
@with_common_options
@click.pass_obj
def command(asked: Asked, threads: tuple[str, ...], top: int) -> None:
    """Show how many bytes threads (none named: all) take, and which channels take them. Nothing is decoded.

    \b
    Examples:
      stepwell stats --top 3
      stepwell stats my-talk --json
    """
    with opened(asked.path, way_out="There is nothing to measure.") as saver:
        if threads:
            ids = list(dict.fromkeys(find_thread(saver, text) for text in threads))
        else:
            ids = [info.thread_id for info in list_threads(saver)]
        with progress(ids, "measuring") as done:
            found = measure_threads(saver, ids, done=done)
    if asked.json:
        _print_json(found, top)
    else:
        _show(found, top)


def _print_json(found: Stats, top: int) -> None:
    print_json(
        {
            "file_bytes": found.space.file_bytes,
            "wal_bytes": found.space.wal_bytes,
            "free_bytes": found.space.free_bytes,
            "channels": _channels(found.channels),
            "threads": [_thread(each) for each in found.threads[:top]],
            "left_out": max(len(found.threads) - top, 0),
        }
    )


def _thread(each: ThreadBytes) -> dict[str, Any]:
    return {
        "thread": each.thread_id,
        "checkpoints": each.checkpoints,
        "branches": each.branches,
        "tags": each.tags,
        "records": each.records,
        "bytes": each.size_bytes,
        "bytes_a_checkpoint": each.bytes_a_checkpoint,
        "value_bytes": each.value_bytes,
        "shared_bytes": each.shared_bytes,
        "live_bytes": each.live_bytes,
        "history_bytes": each.history_bytes,
        "channels": _channels(each.channels),
    }


def _channels(channels: Sequence[ChannelBytes]) -> list[dict[str, Any]]:
    return [{"channel": each.channel, "bytes": each.size_bytes, "live_bytes": each.live_bytes} for each in channels]


def _show(found: Stats, top: int) -> None:
    space = found.space
    click.echo(
        f"The file: {size_text(space.file_bytes)}, {size_text(space.free_bytes)} of it free; "
        f"{size_text(space.wal_bytes)} in the log beside it."
    )
    for each in found.threads[:top]:
        _show_thread(each)
    if len(found.threads) > top:
        click.echo(f"… and {count(len(found.threads) - top, 'smaller thread')}; --top shows more.")
    for channel in found.channels[:CHANNELS]:
        whole, live = size_text(channel.size_bytes), size_text(channel.live_bytes)
        click.echo(f"channel {name(channel.channel)}: {whole}, {live} of it at heads")
    if len(found.channels) > CHANNELS:
        click.echo(f"… and {count(len(found.channels) - CHANNELS, 'smaller channel')}; --json has all.")


def _show_thread(each: ThreadBytes) -> None:
    click.echo(
        f"{name(each.thread_id)}: {size_text(each.size_bytes)}; {count(each.checkpoints, 'checkpoint')} of "
        f"{size_text(each.bytes_a_checkpoint)}; branches: {each.branches}, tags: {each.tags}, records: {each.records}"
    )
    click.echo(
        f"  values {size_text(each.value_bytes)}: {size_text(each.live_bytes)} at the head, "
        f"{size_text(each.history_bytes)} in history; {size_text(each.shared_bytes)} shared by several channels"
    )
