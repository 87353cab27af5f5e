"""Text as words, and what people search for as phrases of words. Nothing here knows a database.

SQLite's own splitting finds no Chinese word of two characters, and none in scripts that put no spaces between words.
Here every ideograph, kana, hangul syllable, and every character of Thai, Lao, Burmese and Khmer is a word of its own,
and a run of them in a query is a phrase. So is every symbol, emoji among them. Everything else is split where letters,
digits and marks end, in NFKC and without regard to case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple
from unicodedata import combining, normalize

LONGEST: Final = 200
"""Characters of a word that count: the rest of a longer one (an encoded image, say) is passed over."""
_ALONE: Final = (
    "\u0e01-\u0e3a\u0e40-\u0eff\u1000-\u1049\u1050-\u109f\u1100-\u11ff\u1780-\u17d3\u17dc-\u17ff\u19e0-\u19ff"
    "\u2190-\u2bff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f"
    "\uac00-\ud7ff\uf900-\ufaff\U0001f000-\U0001f3fa\U0001f400-\U0001faff\U00020000-\U0003ffff"
)
_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0963\u0966-\u096f\u0971-\u0df3\u0f18-\u0f39\u0f71-\u0fbc"
    "\u1ab0-\u1aff\u1dc0-\u1dff"
)
_WORD: Final = re.compile(f"[{_ALONE}]|(?:[^\\W_{_ALONE}]|[{_MARKS}])+")
_PART: Final = re.compile(r'["“”„«»]([^"“”„«»]*)(?:["“”„«»]|$)|([^\s"“”„«»]+)')


class Word(NamedTuple):
    """A word and where it stands in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that must stand side by side. is_open: the last one may go on (`pay*`)."""

    words: tuple[str, ...]
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody searches for: all phrases must occur."""

    phrases: tuple[Phrase, ...]

    @property
    def match(self) -> str:
        """The query in the language of FTS5. Words hold letters, digits and symbols only, so nothing needs escaping."""
        return " AND ".join(f'"{" ".join(each.words)}"' + (" *" if each.is_open else "") for each in self.phrases)

    def score(self, text: str) -> float:
        """How well words (as `split` joins them) fit: more the oftener each phrase occurs, less the longer; 0: not."""
        padded, total = f" {text} ".replace(" ", "  "), 0.0  # so that neighbours share no space
        for phrase in self.phrases:
            found = padded.count(_sought(phrase))
            if not found:
                return 0.0
            total += found / (found + 1.2)
        return total / (1 + padded.count(" ") / 800)


def split(text: str) -> str:
    """The words of a text with a space between them."""
    return " ".join(word[:LONGEST] for word in _WORD.findall(_folded(text)))


def parse(text: str) -> Query:
    """A query as people type it: words, "exact phrases", and `begin*` for what begins so. Nothing in it is an error."""
    phrases = []
    for quoted, word in _PART.findall(text):
        words = tuple(split(quoted or word).split())
        if words:
            phrases.append(Phrase(words, not quoted and word.endswith("*")))
    return Query(tuple(dict.fromkeys(phrases)))


def marks(text: str, query: Query) -> list[tuple[int, int]]:
    """Where the phrases of a query occur in a text: (start, end) in order, those that touch as one."""
    words = list(words_of(text))
    found = set()
    for phrase in query.phrases:
        size = len(phrase.words)
        for at in range(len(words) - size + 1):
            if _fits(phrase, words[at : at + size]):
                found.add((words[at].start, words[at + size - 1].end))
    joined: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def words_of(text: str) -> Iterator[Word]:
    """The words of a text, and where in the text as it is written each stands."""
    if text.isascii():
        for found in _WORD.finditer(text.lower()):
            yield Word(found[0][:LONGEST], found.start(), found.end())
        return
    pieces, places = [], []
    for start, end in _clusters(text):
        folded = _folded(text[start:end])
        pieces.append(folded)
        places += [(start, end)] * len(folded)
    for found in _WORD.finditer("".join(pieces)):
        yield Word(found[0][:LONGEST], places[found.start()][0], places[found.end() - 1][1])


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else normalize("NFKC", normalize("NFKC", text).casefold())


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Characters with the marks that join them: what NFKC can put together."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not _joins(text[at]):
            yield start, at
            start = at


def _joins(character: str) -> bool:
    is_jamo = "\u1160" <= character <= "\u11ff" or character in "\uff9e\uff9f"
    return is_jamo or combining(character) != 0


def _fits(phrase: Phrase, words: list[Word]) -> bool:
    for want, word in zip(phrase.words[:-1], words, strict=False):
        if word.text != want:
            return False
    last = words[-1].text
    return last == phrase.words[-1] or (phrase.is_open and last.startswith(phrase.words[-1]))


def _sought(phrase: Phrase) -> str:
    return f" {'  '.join(phrase.words)}" + ("" if phrase.is_open else " ")
