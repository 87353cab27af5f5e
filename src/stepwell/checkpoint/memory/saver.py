"""The saver for tests, notebooks and programs that may forget: everything in this process's memory."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from stepwell.checkpoint.chained import ChainedSaver
from stepwell.checkpoint.memory.chain import MemoryChain
from stepwell.checkpoint.memory.views import blobs_of, storage_of, writes_of
from stepwell.checkpoint.serializers import codec_of
from stepwell.serde.jsonplus import JsonPlusSerializer
from stepwell.serde.protocol import maybe_add_typed_methods

S = TypeVar("S", bound="InMemorySaver")


class InMemorySaver(ChainedSaver):
    """Keeps threads in memory; they are gone when the process ends, and no other process sees them.

    Every step is encoded as it would be for a database, so what works here works there. `storage`, `blobs` and
    `writes` show what is held, for debugging only.
    """

    chain: MemoryChain

    def __init__(self, *, serde: Any = None, factory: Callable[..., Any] | None = None) -> None:
        """`factory` is taken for the sake of code that passes one; nothing is kept in what it makes."""
        del factory
        serde = JsonPlusSerializer() if serde is None else maybe_add_typed_methods(serde)
        super().__init__(MemoryChain(codec_of(serde)), serde=serde)

    @property
    def storage(self) -> dict[str, dict[str, dict[str, tuple[Any, Any, str | None]]]]:
        """thread → namespace → checkpoint id → (body without values, metadata, id of the parent); a fresh dict."""
        return storage_of(self.chain.threads)

    @property
    def blobs(self) -> dict[tuple[str, str, str, Any], Any]:
        """(thread, namespace, channel, version) → value; a fresh dict."""
        return blobs_of(self.chain.threads, self.chain.codec)

    @property
    def writes(self) -> dict[tuple[str, str, str], dict[tuple[str, int], Any]]:
        """(thread, namespace, checkpoint id) → (task id, number) → (task id, channel, value); a fresh dict."""
        return writes_of(self.chain.threads, self.chain.codec)

    def __enter__(self: S) -> S:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to close."""

    async def __aenter__(self: S) -> S:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to close."""
