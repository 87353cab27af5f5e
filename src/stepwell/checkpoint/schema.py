"""The tables of a checkpoint database, as numbered migrations (SQLite).

| table | a row is |
|---|---|
| threads | a thread: its integer `key`, its text id, the lease |
| namespaces | a checkpoint namespace of a thread, numbered; the root "" is 0 |
| names | a channel, node, trigger or path that rows of the thread speak of by number |
| run_rows | what all checkpoints of a run have in common: run id (16 bytes if it is a UUID), metadata (a name) |
| checkpoint_rows | a checkpoint; columns that hold bytes are described in pack.py |
| items | stored values: key = thread << 38 | log << 16 | index, `data` one or more items from there on (pack.py) |
| records | a task that ran from a checkpoint and is not part of one yet; is_public: filed by put_writes, and stays |
| heads | the head of a branch. No row for `main`: its head is the greatest id of the namespace |
| tags | a name for a checkpoint |
| notes | what people say of a thread: title, metadata, how long it is kept; encoded as threads.metadata is |
| search_marks | how far search has looked: at `count` checkpoints up to `last`; root: at all, at activity `turn` |
| search_places | that a message (`item` = log << 16 | index) came into a list with a checkpoint made `at` |
| search_debts | a thread whose words are still to be taken out of the index (sql_index.py) |

`main` is without a row for as long as its head is the newest checkpoint of the namespace: most threads for ever.
The views `checkpoints` and `runs` show checkpoint_rows and run_rows in text.
"""

from __future__ import annotations

from typing import Final

from stepwell.checkpoint.lease_rows import LEASE_COLUMNS, LEASE_TABLES

ROOM: Final = "checkpoints"
SOURCES: Final = ("input", "loop", "update", "fork")


def _uuid(column: str) -> str:
    """A 16-byte id as UUID text, in SQL; NULL stays NULL."""
    spans = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
    digits = f"nullif(hex({column}), '')"
    return "lower(" + " || '-' || ".join(f"substr({digits}, {start}, {size})" for start, size in spans) + ")"


_WHEN: Final = " ".join(f"WHEN {at} THEN '{name}'" for at, name in enumerate(SOURCES))
_SOURCE: Final = f"CASE c.source {_WHEN} END"
_METADATA: Final = "coalesce(c.metadata, r.metadata)"

_VERSION_1: Final = (
    f"""CREATE TABLE threads (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    metadata BLOB,
    next_log INTEGER NOT NULL DEFAULT 0,
    {LEASE_COLUMNS}
) STRICT""",
    """CREATE TABLE namespaces (
    thread_id INTEGER NOT NULL,
    ns TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (thread_id, ns)
) STRICT, WITHOUT ROWID""",
    "CREATE INDEX namespaces_by_number ON namespaces (thread_id, number)",
    """CREATE TABLE names (
    thread_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (thread_id, number)
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE run_rows (
    thread_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    run_id ANY NOT NULL,
    metadata INTEGER NOT NULL,
    PRIMARY KEY (thread_id, number)
) STRICT, WITHOUT ROWID""",
    f"""CREATE VIEW runs AS
SELECT thread_id, number,
    CASE typeof(run_id) WHEN 'blob' THEN {_uuid("run_id")} ELSE run_id END AS run_id,
    (SELECT name FROM names n WHERE n.thread_id = r.thread_id AND n.number = r.metadata) AS metadata
FROM run_rows r""",
    """CREATE TABLE checkpoint_rows (
    thread_id INTEGER NOT NULL,
    checkpoint_ns INTEGER NOT NULL,
    checkpoint_id BLOB NOT NULL,
    parent_checkpoint_id BLOB,
    step INTEGER NOT NULL,
    source INTEGER NOT NULL,
    run INTEGER NOT NULL,
    ts ANY NOT NULL,
    is_fork INTEGER NOT NULL DEFAULT 0,
    next BLOB,
    state BLOB NOT NULL,
    tasks BLOB,
    metadata ANY,
    children BLOB,
    cut INTEGER,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
) STRICT, WITHOUT ROWID""",
    """CREATE INDEX forks ON checkpoint_rows (thread_id, checkpoint_ns, parent_checkpoint_id) WHERE is_fork = 1""",
    """CREATE TABLE items (
    key INTEGER PRIMARY KEY,
    data BLOB NOT NULL
) STRICT""",
    """CREATE TABLE records (
    thread_id INTEGER NOT NULL,
    checkpoint_ns INTEGER NOT NULL,
    checkpoint_id BLOB NOT NULL,
    is_public INTEGER NOT NULL,
    task TEXT NOT NULL,
    asks INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, is_public, task)
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE heads (
    thread_id INTEGER NOT NULL,
    checkpoint_ns INTEGER NOT NULL,
    branch TEXT NOT NULL,
    checkpoint_id BLOB NOT NULL,
    is_auto INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (thread_id, checkpoint_ns, branch)
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE tags (
    thread_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    checkpoint_ns INTEGER NOT NULL,
    checkpoint_id BLOB NOT NULL,
    note TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (thread_id, name)
) STRICT, WITHOUT ROWID""",
    *LEASE_TABLES,
    f"""CREATE VIEW checkpoints AS
SELECT
    t.thread_id AS thread_id,
    n.ns AS checkpoint_ns,
    {_uuid("c.checkpoint_id")} AS checkpoint_id,
    {_uuid("c.parent_checkpoint_id")} AS parent_checkpoint_id,
    c.step AS step,
    {_SOURCE} AS source,
    CASE typeof(c.ts) WHEN 'integer'
        THEN strftime('%Y-%m-%dT%H:%M:%S', c.ts / 1000000, 'unixepoch') || printf('.%06d+00:00', c.ts % 1000000)
        ELSE c.ts END AS created_at,
    '{{"source":"' || {_SOURCE} || '","step":' || c.step ||
        CASE WHEN typeof(c.metadata) = 'blob' OR {_METADATA} IS NULL OR {_METADATA} = '{{}}' THEN '}}'
        ELSE ',' || substr({_METADATA}, 2) END AS metadata
FROM checkpoint_rows c
JOIN threads t ON t.key = c.thread_id
JOIN namespaces n ON n.thread_id = c.thread_id AND n.number = c.checkpoint_ns
LEFT JOIN runs r ON r.thread_id = c.thread_id AND r.number = c.run""",
)

_VERSION_2: Final = (
    """CREATE TABLE notes (
    thread_id INTEGER PRIMARY KEY,
    data BLOB NOT NULL
) STRICT""",
    """CREATE TABLE search_marks (
    thread_id INTEGER NOT NULL,
    checkpoint_ns INTEGER NOT NULL,
    last BLOB,
    count INTEGER NOT NULL,
    turn INTEGER,
    PRIMARY KEY (thread_id, checkpoint_ns)
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE search_places (
    thread_id INTEGER NOT NULL,
    item INTEGER NOT NULL,
    checkpoint_ns INTEGER NOT NULL,
    checkpoint_id BLOB NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (thread_id, item, checkpoint_ns, checkpoint_id)
) STRICT, WITHOUT ROWID""",
    "CREATE TABLE search_debts (thread_id INTEGER PRIMARY KEY) STRICT",
)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (_VERSION_1, _VERSION_2)
"""`MIGRATIONS[k]` are the statements that lead from version k to k + 1; see sql/migrate.py."""
