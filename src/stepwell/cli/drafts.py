"""A document as text in a file, and back: YAML where PyYAML is installed, else JSON."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click

from stepwell.threads.document import is_same

try:
    yaml: Any = import_module("yaml")
except ImportError:
    yaml = None

YAML: Final = ".yaml"
JSON: Final = ".json"
NOTE: Final = """\
# {what}
# What you change here becomes one new checkpoint; nothing is written where nothing is changed.
# {{__kept__: …}} stands for a value that cannot be edited as text: leave it, move it, or take its place.
"""
WIDE: Final = 1000
EDITORS: Final = ("VISUAL", "EDITOR")


class DraftError(click.ClickException):
    """A draft that cannot be read as the document it shall be."""

    exit_code = 2


def written(content: Any, what: str = "") -> tuple[str, str]:
    """(the text of a document, the suffix of its file). It reads back as exactly this document."""
    if yaml is not None:
        text: str = yaml.dump(content, Dumper=_dumper(), allow_unicode=True, sort_keys=False, width=WIDE)
        with suppress(yaml.YAMLError):
            if is_same(yaml.safe_load(text), content):
                return (NOTE.format(what=what) if what else "") + text, YAML
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n", JSON


def read(text: str, suffix: str, where: str) -> dict[str, Any]:
    """The document of a text; DraftError says where it stops being one. JSON is read as such whatever the suffix."""
    found = _read_yaml(text, where) if yaml is not None and suffix != JSON else _read_json(text, where)
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise DraftError(f"{where}: it is not a mapping of keys of the state to their values.")
    return found


def _read_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        at = f" line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DraftError(f"{where}{at}: it is not JSON: {getattr(error, 'msg', error)}.") from None


def _read_yaml(text: str, where: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = f" line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise DraftError(f"{where}{at}: it is not YAML: {getattr(error, 'problem', None) or error}.") from None


def _dumper() -> Any:
    """A dumper that writes text of several lines as a block."""

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]  # yaml is Any: it may not be there
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def text(dumper: Any, data: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", data, style="|" if "\n" in data else None)

    Dumper.add_representer(str, text)
    return Dumper


def new_draft(text: str, suffix: str) -> Path:
    """A file of one's own that holds this text."""
    descriptor, path = tempfile.mkstemp(suffix=suffix, prefix="stepwell-")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return Path(path)


def named_editor() -> str:
    """What $VISUAL says, else $EDITOR; "" where neither says anything."""
    return next((value for each in EDITORS if (value := os.environ.get(each, "").strip())), "")


def open_editor(path: Path) -> None:
    """Lets a person edit a file: $VISUAL, else $EDITOR, each with arguments if need be, else vi.

    DraftError when the editor cannot be started, or ends with an error: that is how one leaves without saving.
    """
    named = named_editor() or "vi"
    try:
        command = [*shlex.split(named, posix=os.name != "nt"), str(path)]
    except ValueError as error:
        raise click.UsageError(f"VISUAL or EDITOR is {named!r}, which is no command: {error}.") from None
    try:
        done = subprocess.run(command, check=False, stdout=sys.__stderr__)
    except OSError as error:
        raise click.UsageError(
            f"the editor {command[0]!r} cannot be started: {error.strerror}. Name another in VISUAL or EDITOR, or "
            "change values with --set or --from."
        ) from None
    if done.returncode:
        raise DraftError(f"the editor {named!r} ended with exit code {done.returncode}. Nothing was written.")
