"""Embeddings, whatever a user brings: a LangChain object, a function, an async function, or a model's name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol

from stepwell.store.base.text import get_text_at_path, tokenize_path

__all__ = ["Embeddings", "ensure_embeddings", "get_text_at_path", "tokenize_path"]


class Embeddings(Protocol):
    """What a store calls: the shape of LangChain's Embeddings."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]: ...

    def embed_query(self, text: str) -> list[float]: ...

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]: ...

    async def aembed_query(self, text: str) -> list[float]: ...


def ensure_embeddings(embed: Any) -> Embeddings:
    """`embed` as an object with LangChain's four methods.

    Raises TypeError for what cannot embed, ImportError for "provider:model" without the package `langchain`.
    """
    if isinstance(embed, str):
        return _named(embed)
    if hasattr(embed, "embed_documents"):
        return embed  # type: ignore[no-any-return]  # it has the methods
    if callable(embed):
        return _FromFunction(embed)
    raise TypeError(
        f"embed is a {type(embed).__name__}. Give LangChain Embeddings, a function from a list of texts to a list of "
        'vectors (sync or async), or "provider:model".'
    )


class _FromFunction:
    """Embeddings made of one function from texts to vectors."""

    def __init__(self, function: Callable[[list[str]], Any]) -> None:
        self._function = function
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004  # an object whose __call__ is async is wanted
        )

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if self._is_async:
            raise RuntimeError(
                "the store's embed function is async, and the store was called with a sync method. "
                "Call aput(), asearch() or abatch() instead, or give it a sync function."
            )
        return self._function(texts)  # type: ignore[no-any-return]  # the user's function

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        answer = self._function(texts)
        vectors: list[list[float]] = await answer if inspect.isawaitable(answer) else answer
        return vectors

    async def aembed_query(self, text: str) -> list[float]:
        return (await self.aembed_documents([text]))[0]


def _named(name: str) -> Embeddings:
    try:
        from langchain.embeddings import init_embeddings  # type: ignore[import-not-found]  # optional
    except ImportError:
        raise ImportError(
            f"embed={name!r} names a model, and models are made by the package langchain, which is not installed. "
            "Run `pip install langchain`, or give an Embeddings object or a function."
        ) from None
    return init_embeddings(name)  # type: ignore[no-any-return]  # langchain is untyped where it is not installed
