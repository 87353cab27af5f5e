"""A conversation as a page for people: Markdown, or JSON for programs that want the words and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from stepwell.threads.chain import MAIN, ThreadSaver
from stepwell.threads.show import Shown, show_checkpoint
from stepwell.threads.transcript import Said


def markdown_transcript(saver: ThreadSaver, thread_id: str, *, branch: str | None = None) -> Iterator[str]:
    """What was said up to the head of a branch (none given: main) as Markdown, piece by piece.

    A heading for the thread, one for each message, and texts as they are; questions that wait stand at the end. Raises
    ThreadNotFoundError, BranchNotFoundError.
    """
    shown = show_checkpoint(saver, thread_id, branch=branch)
    return _markdown(shown, saver.notes(thread_id).title, branch or MAIN)


def json_transcript(saver: ThreadSaver, thread_id: str, *, branch: str | None = None) -> Iterator[str]:
    """What was said up to the head of a branch (none given: main) as one JSON object, piece by piece.

    Keys: thread, title, branch, checkpoint, created_at, questions (how many wait), messages; of each: role, text, id,
    name, calls. Raises ThreadNotFoundError, BranchNotFoundError.
    """
    shown = show_checkpoint(saver, thread_id, branch=branch)
    return _json(shown, saver.notes(thread_id).title, branch or MAIN)


def _markdown(shown: Shown, title: str | None, branch: str) -> Iterator[str]:
    yield f"# {_on_a_line(title or shown.thread_id)}\n\n"
    yield f"Thread {_code(shown.thread_id)}, branch {_code(branch)}, checkpoint {_code(shown.checkpoint_id)}, "
    yield f"{shown.created_at}.\n"
    for said in shown.said:
        yield f"\n## {_heading(said)}\n"
        if said.text.strip():
            yield f"\n{said.text.strip(chr(10))}\n"
        if said.calls:
            yield f"\n*Calls {', '.join(map(_code, said.calls))}.*\n"
    if not shown.said:
        yield "\nNothing was said.\n"
    for question in shown.questions:
        yield f"\n*Waits for an answer: {_on_a_line(str(question.value))}*\n"


def _json(shown: Shown, title: str | None, branch: str) -> Iterator[str]:
    about = {
        "thread": shown.thread_id,
        "title": title,
        "branch": branch,
        "checkpoint": shown.checkpoint_id,
        "created_at": shown.created_at,
        "questions": len(shown.questions),
    }
    yield _dumped(about)[:-1] + ', "messages": ['
    for number, said in enumerate(shown.said):
        fields = {"role": said.role, "text": said.text, "id": said.id, "name": said.name, "calls": list(said.calls)}
        yield (",\n" if number else "\n") + _dumped(fields)
    yield "\n]}\n"


def _dumped(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, default=str)


def _heading(said: Said) -> str:
    return _on_a_line(f"{said.role} ({said.name})" if said.name else said.role)


def _on_a_line(text: str) -> str:
    return " ".join(text.split())


def _code(text: str) -> str:
    """Text as code in Markdown, whatever it holds."""
    line = _on_a_line(text)
    ticks = "`" * next(size for size in range(1, len(line) + 2) if "`" * size not in line)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"
