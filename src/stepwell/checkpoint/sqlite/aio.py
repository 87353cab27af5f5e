"""The SQLite saver under the name that async code knows. Both names serve sync and async callers alike."""

from stepwell.checkpoint.base import WRITES_IDX_MAP
from stepwell.checkpoint.sqlite.saver import SqliteSaver


class AsyncSqliteSaver(SqliteSaver):
    """SqliteSaver: `async with AsyncSqliteSaver.from_conn_string(path) as saver`."""


__all__ = ["AsyncSqliteSaver", "WRITES_IDX_MAP"]
