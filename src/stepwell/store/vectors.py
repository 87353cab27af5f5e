"""Finding items by meaning: which texts of an item are embedded, and how near it is to a query.

Plain Python, cosine similarity over all candidates: fine for thousands of items, not meant for millions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from stepwell.store.base.embed import ensure_embeddings
from stepwell.store.base.ops import IndexConfig, Op, PutOp, SearchOp
from stepwell.store.base.text import get_text_at_path

Vector = tuple[float, ...]


class Index:
    """What embeds and compares, made of an IndexConfig."""

    def __init__(self, config: IndexConfig) -> None:
        self.dims = config.get("dims")
        self.embeddings = ensure_embeddings(config.get("embed"))
        self.fields = list(config.get("fields") or ["$"])

    def texts(self, ops: Iterable[Op]) -> list[str]:
        """Every text that carrying out `ops` needs a vector of, each once."""
        found: dict[str, None] = {}
        for op in ops:
            if isinstance(op, PutOp):
                found.update(dict.fromkeys(self.texts_of(op)))
            elif isinstance(op, SearchOp) and op.query:
                found[op.query] = None
        return list(found)

    def texts_of(self, op: PutOp) -> list[str]:
        """The texts of an item by which it is to be found."""
        if op.value is None or op.index is False:
            return []
        paths = self.fields if op.index is None else op.index
        return [text for path in paths for text in get_text_at_path(op.value, path)]

    def embed(self, ops: Sequence[Op]) -> dict[str, Vector]:
        """A vector for each text that `ops` need."""
        texts = self.texts(ops)
        return self._vectors(texts, self.embeddings.embed_documents(texts)) if texts else {}

    async def aembed(self, ops: Sequence[Op]) -> dict[str, Vector]:
        """As `embed`."""
        texts = self.texts(ops)
        return self._vectors(texts, await self.embeddings.aembed_documents(texts)) if texts else {}

    def _vectors(self, texts: list[str], vectors: Sequence[Sequence[float]]) -> dict[str, Vector]:
        made = {text: tuple(map(float, vector)) for text, vector in zip(texts, vectors, strict=True)}
        for vector in made.values():
            if self.dims is not None and len(vector) != self.dims:
                raise ValueError(
                    f"the embed function gave vectors of {len(vector)} numbers, and the index has dims={self.dims}. "
                    "Set dims to what the model gives."
                )
        return made


def best_score(query: Vector, vectors: Iterable[Vector]) -> float | None:
    """The cosine similarity of the nearest vector; None when there is none to compare."""
    return max((_cosine(query, vector) for vector in vectors), default=None)


def _cosine(a: Vector, b: Vector) -> float:
    if len(a) != len(b):
        return 0.0
    lengths = math.sqrt(math.fsum(x * x for x in a) * math.fsum(y * y for y in b))
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def ranked(candidates: Iterable[tuple[Any, float | None]]) -> list[tuple[Any, float | None]]:
    """Candidates with a score, best first, then those without, each group in its given order."""
    found = list(candidates)
    scored = sorted((pair for pair in found if pair[1] is not None), key=lambda pair: -(pair[1] or 0.0))
    return scored + [pair for pair in found if pair[1] is None]
