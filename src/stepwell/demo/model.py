"""A chat model without a model: it answers from the conversation it is handed, always the same way, word by word."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from stepwell.demo.answers import answer

WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\s\u3400-\u9fff]+\s*|\s+")
"""What is streamed at a time: a word with the space behind it, or one Chinese character."""


class OfflineModel(BaseChatModel):
    """Answers without a key or a network, from the messages it is given and nothing else.

    It keeps no memory of its own: what it knows of you is what the thread remembered. `pause`: seconds between words.
    """

    pause: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "stepwell-offline"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        text = answer(_said_by_the_user(messages))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        words = WORD.findall(answer(_said_by_the_user(messages)))
        for index, word in enumerate(words):
            if index and self.pause:
                time.sleep(self.pause)
            is_last = index == len(words) - 1
            chunk = ChatGenerationChunk(
                message=AIMessageChunk(content=word, chunk_position="last" if is_last else None)
            )
            if run_manager is not None:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk


def _said_by_the_user(messages: Sequence[BaseMessage]) -> list[str]:
    return [str(message.text) for message in messages if isinstance(message, HumanMessage)]
