"""What a shell offers behind Tab: ids of threads, branches and tags. A database that cannot be read offers nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import click
from click.shell_completion import CompletionItem

from stepwell.cli.asked import Asked
from stepwell.cli.database import holds_something, opened
from stepwell.cli.text import one_line
from stepwell.errors import StepwellError
from stepwell.threads import ThreadSaver, find_thread, short_id

OFFERED = 200
"""Threads that are offered, the most recently active first."""
HELP_WIDTH = 40


def thread_ids(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Ids of threads, with what each is about."""
    return _offers(ctx, _threads, begun)


def branches(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Branches of the thread that the command line names."""
    return _offers(ctx, lambda saver: _branches(saver, _thread_in(ctx, saver)), begun)


def tags(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Tags of the thread that the command line names."""
    return _offers(ctx, lambda saver: _tags(saver, _thread_in(ctx, saver)), begun)


def checkpoints(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Branches, tags and leaves of the thread that the command line names: all of them stand for a checkpoint."""
    return _offers(ctx, lambda saver: _checkpoints(saver, _thread_in(ctx, saver)), begun)


def _offers(ctx: click.Context, ask: Any, begun: str) -> list[CompletionItem]:
    asked = ctx.find_object(Asked) or Asked()
    offers: list[CompletionItem] = []
    with suppress(StepwellError, click.ClickException, OSError):
        if holds_something(asked.path):
            with opened(asked.path, wait=0) as saver:
                offers = [item for item in ask(saver) if item.value.startswith(begun) and item.value.isprintable()]
    return offers


def _thread_in(ctx: click.Context, saver: ThreadSaver) -> str:
    # Where an option has no value yet, click leaves the arguments before it in ctx.args.
    return find_thread(saver, str(ctx.params.get("thread") or next(iter(ctx.args), "")))


def _threads(saver: ThreadSaver) -> Iterator[CompletionItem]:
    for info in saver.list_threads(limit=OFFERED):
        yield CompletionItem(info.thread_id, help=one_line(str(info.metadata.get("title", "")), HELP_WIDTH) or None)


def _branches(saver: ThreadSaver, thread_id: str) -> Iterator[CompletionItem]:
    for head in saver.branches(thread_id):
        yield CompletionItem(head.name, help=f"at {short_id(head.checkpoint_id)}")


def _tags(saver: ThreadSaver, thread_id: str) -> Iterator[CompletionItem]:
    for tag in saver.tags(thread_id):
        yield CompletionItem(tag.name, help=one_line(tag.note, HELP_WIDTH) or f"tag of {short_id(tag.checkpoint_id)}")


def _checkpoints(saver: ThreadSaver, thread_id: str) -> Iterator[CompletionItem]:
    yield from _branches(saver, thread_id)
    yield from _tags(saver, thread_id)
