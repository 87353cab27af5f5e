"""Where a run takes place: the working directory, and the git branch there, read without running git."""

from __future__ import annotations

import os
from pathlib import Path

from stepwell.threads.list import CWD, GIT_BRANCH

HEADS = "ref: refs/heads/"
SHORT_SHA = 7


def surroundings() -> dict[str, str]:
    """The metadata that a run of the command line gets; without a key for what is not known."""
    try:
        folder = Path.cwd()
    except OSError:  # it was deleted
        return {}
    found = {CWD: _text(str(folder)), GIT_BRANCH: _text(git_branch(folder))}
    return {key: text for key, text in found.items() if text}


def git_branch(folder: Path) -> str:
    """The branch that is checked out where `folder` is; a short id where none is; "" outside a repository."""
    for place in (folder, *folder.parents):
        head = _head(place / ".git")
        if head is not None:
            return head.removeprefix(HEADS) if head.startswith("ref:") else head[:SHORT_SHA]
    return ""


def _head(git: Path) -> str | None:
    """What HEAD says in a repository, or in a worktree whose `.git` is a file; None where there is none."""
    try:
        if git.is_file():
            named = git.read_text(encoding="utf-8", errors="surrogateescape").strip()
            git = git.parent / named.removeprefix("gitdir:").strip()
        return (git / "HEAD").read_text(encoding="utf-8", errors="surrogateescape").strip()
    except (OSError, ValueError):  # ValueError: what is named there is no path
        return None


def _text(path: str) -> str:
    """A path as text that can be stored: bytes that are no UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")
