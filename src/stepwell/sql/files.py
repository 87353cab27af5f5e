"""Database files: private from the moment they are made."""

from __future__ import annotations

import os
from pathlib import Path

from stepwell.errors import DatabaseError


def make_private(path: str) -> None:
    """Make the file and its folders if they are missing, for this user only. SQLite gives side files the same mode."""
    file = Path(path)
    try:
        for folder in [folder for folder in file.parents if not folder.exists()][::-1]:
            folder.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise DatabaseError(f"{path}: {error}. Check that the folder exists and may be written.") from error
