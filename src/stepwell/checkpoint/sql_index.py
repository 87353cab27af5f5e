"""The index of words, in SQLite's FTS5: made, filled, asked, and emptied. Only SQLite's SQL is spoken here.

`search_words` is a table of FTS5 without contents: its row ids are the keys of items, and it keeps words, not text. It
is made by the first search. SQLite deletes from such a table since 3.43; an older one makes a table with contents,
which every SQLite can use. What an older one finds it cannot use (a table without contents, or no FTS5 at all) it
leaves alone: it searches by reading everything, and notes as a debt of which threads the words must go.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Generator, Sequence
from typing import Any, Final, NamedTuple

from stepwell.checkpoint.ledger import INDEX_BITS, LOG_BITS
from stepwell.checkpoint.pack import pack_id
from stepwell.checkpoint.refs import Place
from stepwell.checkpoint.tools.search import Wanted
from stepwell.errors import DatabaseError, LockedDatabaseError
from stepwell.sql.query import Many, Query, Savepoint

Op = Generator[Any, Any, Any]
THREAD_BITS: Final = LOG_BITS + INDEX_BITS
_ITEMS: Final = (1 << THREAD_BITS) - 1
_INDEXES: Final = (1 << INDEX_BITS) - 1
_DELETES: Final = (3, 43)
"""The first SQLite that deletes from a table without contents."""
_BEST: Final = """SELECT rowid, -rank, 0 FROM search_words
WHERE search_words MATCH ? AND rank MATCH 'bm25(0.0, 1.0)' {within} ORDER BY rank LIMIT ? OFFSET ?"""
_DATED: Final = f"""SELECT key, -score, at FROM (
    SELECT rowid AS key, rank AS score,
        (SELECT min(at) FROM search_places
         WHERE thread_id = search_words.rowid >> {THREAD_BITS} AND item = search_words.rowid & {_ITEMS}) AS at
    FROM search_words WHERE search_words MATCH ? AND rank MATCH 'bm25(0.0, 1.0)' {{within}}
) WHERE at >= ? ORDER BY {{order}} LIMIT ? OFFSET ?"""


class Entry(NamedTuple):
    """An item that came into a list with a checkpoint, and the words to index it by: () where that is done already."""

    place: Place
    checkpoint: str
    at: int
    words: tuple[str, str] | None


def role_word(role: str) -> str:
    """A role as one word of the index, whatever it is."""
    return "r" + role.encode("utf-8", "surrogatepass").hex()


def item_of(place: Place) -> int:
    """An item's number in its thread."""
    return place[0] << INDEX_BITS | place[1]


def place_of(item: int) -> Place:
    """The inverse of `item_of`."""
    return item >> INDEX_BITS, item & _INDEXES


def make_index(may_write: bool) -> Op:
    """Make the table where there is none; whether there is one now that this SQLite can use."""
    if (yield from Query("SELECT 1 FROM sqlite_master WHERE name = 'search_words'")):
        return (yield from _succeeds("SELECT rowid FROM search_words LIMIT 0"))
    if not may_write:
        return False
    [(version,)] = yield from Query("SELECT sqlite_version()")
    is_new = tuple(map(int, version.split(".")[:2])) >= _DELETES
    contents = "content='', contentless_delete=1, " if is_new else ""
    sql = f"CREATE VIRTUAL TABLE search_words USING fts5(role, words, {contents}tokenize='ascii')"
    return (yield from _succeeds(sql))


def _succeeds(sql: str) -> Op:
    try:
        yield from Savepoint(iter(Query(sql)))
    except LockedDatabaseError:
        raise
    except DatabaseError:
        return False
    return True


def forget(key: int) -> Op:
    """Take everything that search knows of a thread away: what stays of it is indexed anew by the next search."""
    if not (yield from Query("SELECT 1 FROM search_marks WHERE thread_id = ? LIMIT 1", (key,))):
        return
    yield from Query("DELETE FROM search_marks WHERE thread_id = ?", (key,))
    yield from Query("DELETE FROM search_places WHERE thread_id = ?", (key,))
    try:
        yield from Savepoint(_take_out(key))
    except LockedDatabaseError:
        raise
    except DatabaseError:  # this SQLite cannot use the table
        yield from Query("INSERT OR IGNORE INTO search_debts (thread_id) VALUES (?)", (key,))


def _take_out(key: int) -> Op:
    yield from Query(
        "DELETE FROM search_words WHERE rowid >= ? AND rowid < ?", (key << THREAD_BITS, (key + 1) << THREAD_BITS)
    )


def pay_debts() -> Op:
    """Take out the words of threads that an older SQLite could not take out."""
    for (key,) in (yield from Query("SELECT thread_id FROM search_debts")):
        yield from _take_out(key)
        yield from Query("DELETE FROM search_debts WHERE thread_id = ?", (key,))


def known_items(key: int, items: Collection[int]) -> Op:
    """Those of some items that are indexed."""
    rows = yield from Query(
        "SELECT DISTINCT item FROM search_places WHERE thread_id = ? AND item IN (SELECT value FROM json_each(?))",
        (key, json.dumps(sorted(items))),
    )
    return {item for (item,) in rows}


def insert(key: int, ns: int, entries: Sequence[Entry]) -> Op:
    """Index some items of a thread; those that are indexed already only get their further places."""
    known = yield from known_items(key, {item_of(each.place) for each in entries})
    words: dict[int, tuple[int, str, str]] = {}
    for each in entries:
        item = item_of(each.place)
        if each.words is not None and item not in known:
            words[item] = (key << THREAD_BITS | item, *each.words)
    if words:
        yield from Many("INSERT INTO search_words (rowid, role, words) VALUES (?, ?, ?)", list(words.values()))
    places = [(key, item_of(each.place), ns, pack_id(each.checkpoint), each.at) for each in entries]
    yield from Many("INSERT OR IGNORE INTO search_places VALUES (?, ?, ?, ?, ?)", places)


def ask(wanted: Wanted, keys: Sequence[int] | None, start: int, count: int) -> Op:
    """(key of the item, score, when it came) of messages that fit, in order. keys: of threads; None: all."""
    within: str = ""
    args: list[Any] = [_expression(wanted)]
    if keys is not None and len(keys) == 1:
        within = "AND rowid >= ? AND rowid < ?"
        args += [keys[0] << THREAD_BITS, (keys[0] + 1) << THREAD_BITS]
    elif keys is not None:
        within = f"AND rowid >> {THREAD_BITS} IN (SELECT value FROM json_each(?))"
        args.append(json.dumps(list(keys)))
    if wanted.since is None and not wanted.newest:
        return (yield from Query(_BEST.format(within=within), (*args, count, start)))
    since = -(1 << 62) if wanted.since is None else wanted.since
    sql = _DATED.format(within=within, order="at DESC, key DESC" if wanted.newest else "score, at DESC, key DESC")
    return (yield from Query(sql, (*args, since, count, start)))


def _expression(wanted: Wanted) -> str:
    words = f"words : ({wanted.match})"
    if not wanted.roles:
        return words
    return f"role : ({' OR '.join(map(role_word, wanted.roles))}) AND {words}"
