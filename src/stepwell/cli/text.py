"""Text for a terminal: what may be printed, how wide it is, how long ago it was."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import click

from stepwell.threads.moments import told_moment

CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that steer a terminal or turn its text round, which what somebody stored must not be able to; and halves
of characters, which cannot be printed."""
NAMED: Final = {"\n": "\\n", "\t": "\\t", "\\": "\\\\", "'": "\\'"}
"""What a shell's $'…' writes in another way than as bytes."""
NO_COLOURS: Final[Mapping[int, str | None]] = {}
SPANS: Final = ((60, "s", 1), (3600, "min", 60), (86_400, "h", 3600), (float("inf"), "d", 86_400))


def printable(text: str) -> str:
    """`text` with its control characters made visible; new lines and tabs stay, CRLF becomes a new line."""
    return CONTROL.sub(lambda found: _visible(found[0]), text.replace("\r\n", "\n"))


def name(text: str) -> str:
    """An id or a name as it is printed between other things: on one line, each control character visible."""
    return printable(text).replace("\n", "\u240a").replace("\t", "\u2409")


def quoted(text: str) -> str:
    """`text` as a word of a shell that can be printed, and copied: with control characters, in the form $'…'."""
    if not CONTROL.search(text) and not set(text) & {"\n", "\t"}:
        return shlex.quote(text)
    return "$'" + "".join(NAMED.get(each) or _escaped(each) for each in text) + "'"


def warn_person(text: str) -> None:
    """Prints a warning on stderr."""
    click.echo(f"{click.style('Warning:', fg='yellow')} {printable(text)}", err=True)


def one_line(text: str, width: int) -> str:
    """`text` on one line of at most `width` columns."""
    flat = " ".join(printable(text).split())
    if columns(flat) <= width:
        return flat
    kept, used = [], 1
    for character in flat:
        used += columns(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def columns(text: str) -> int:
    """How many columns of a terminal `text` takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def pad(text: str, width: int) -> str:
    """`text` filled up with spaces to `width` columns."""
    return text + " " * (width - columns(text))


def widest(texts: Iterable[str]) -> int:
    """The columns of the widest text; 0 of none."""
    return max(map(columns, texts), default=0)


def column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """How wide each column of a table is, but for the last one."""
    return [widest(column) for column in list(zip(*rows, strict=True))[:-1]]


def table_row(cells: Sequence[str], widths: Sequence[int], colours: Mapping[int, str | None] = NO_COLOURS) -> str:
    """A row of a table; its last cell keeps its own width. colours: of cells, by their place."""
    padded = [*map(pad, cells, widths), cells[-1]]
    for at, colour in colours.items():
        padded[at] = click.style(padded[at], fg=colour) if colour else padded[at]
    return "  ".join(padded).rstrip()


def folded(text: str, *, lines: int = 6, characters: int = 480) -> str:
    """`text`, or its beginning and how much was left out."""
    kept = "\n".join(text.split("\n")[:lines])[:characters]
    left = len(text) - len(kept)
    return text if left <= 0 else f"{kept.rstrip()} … ({left:,} more characters; --full shows them)"


def ago(moment: str, now: datetime | None = None) -> str:
    """How long ago a time in ISO 8601 was, in one word or two."""
    then = told_moment(moment)
    if then is None:
        return moment
    seconds = max(0.0, ((now or datetime.now(UTC)) - then).total_seconds())
    return next(f"{seconds // size:.0f} {unit} ago" for limit, unit, size in SPANS if seconds < limit)


def size_text(size_bytes: int) -> str:
    """A number of bytes, in two or three figures where there are a thousand or more."""
    if size_bytes < 1000:
        return count(size_bytes, "byte")
    size, unit = size_bytes / 1000, "kB"
    for larger in ("MB", "GB", "TB"):
        if size < 999.5:
            break
        size, unit = size / 1000, larger
    return f"{size:.1f} {unit}" if size < 9.95 else f"{size:.0f} {unit}"


def count(number: int, thing: str) -> str:
    """`number` and its thing, in the plural where it is not one."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def checked(text: str, source: str) -> str:
    """`text`; UsageError where bytes of it were no UTF-8, which Python may let in as surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _not_utf8(source) from None
    return text


def checked_of(read: Callable[[], str], source: str) -> str:
    """The text that `read` gives; UsageError where bytes of it are no UTF-8."""
    try:
        return checked(read(), source)
    except UnicodeDecodeError:
        raise _not_utf8(source) from None


def _not_utf8(source: str) -> click.UsageError:
    return click.UsageError(f"{source} is not UTF-8.")


def _visible(character: str) -> str:
    code = ord(character)
    return chr(0x2400 + code) if code < 0x20 else f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _escaped(character: str) -> str:
    """A character that a terminal would obey as its bytes, in octal: of these a shell reads three digits, no more."""
    if not CONTROL.match(character):
        return character
    halves = "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass"
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", halves))


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
