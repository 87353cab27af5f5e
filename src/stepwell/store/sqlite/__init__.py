"""Stores in an SQLite database."""

from __future__ import annotations

from stepwell.store.sqlite.aio import AsyncSqliteStore
from stepwell.store.sqlite.base import BaseSqliteStore, SqliteIndexConfig, SqliteStore

__all__ = ["AsyncSqliteStore", "BaseSqliteStore", "SqliteIndexConfig", "SqliteStore"]
