"""`stream_mode="messages"`: tokens as the models below a node make them, and the messages that nodes return."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult

from stepwell.config import config_of
from stepwell.scope import current_task
from stepwell.types import TAG_NOSTREAM, Overwrite

if TYPE_CHECKING:
    from stepwell.engine.task import Task

Chunk = tuple[BaseMessage, dict[str, Any]]


class MessagesHandler(BaseCallbackHandler):
    """Hands each token, and each whole message that was not streamed, to the task it comes from.

    One handler serves a run and all runs inside it: a message that was shown once is not shown again when the node,
    or the node around its graph, returns it.
    """

    run_inline = True  # in order, and in the context of the call, also below async runs

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}  # namespace → task that runs
        self._calls: dict[UUID, tuple[Task, dict[str, Any]]] = {}  # call of a model → where its tokens go
        self._seen: set[str] = set()

    # A model asks its handlers whether one of them wants tokens, by whether it has these two methods.

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """The same iterator: nothing is read here."""
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:
        """The same iterator: nothing is read here."""
        return output

    # ------------------------------------------------------------------ nodes

    def enter(self, task: Task, given: Any) -> None:
        """A node begins; what it was given is not news when it returns it."""
        self._tasks[task.ns] = task
        if task.listens("messages"):
            self._seen.update(message.id for message in messages_in(given) if message.id is not None)

    def leave(self, task: Task) -> None:
        """A node ended."""
        self._tasks.pop(task.ns, None)

    def take(self, task: Task, writes: Any) -> None:
        """Shows the messages that a node returns and that were not streamed."""
        if not task.listens("messages"):
            return
        metadata = config_of(task)["metadata"]
        for channel, value in writes:
            if channel in task.run.plan.keys:
                for message in messages_in(value):
                    self._show(task, message, metadata)

    def show(self, task: Task, message: BaseMessage) -> None:
        """Shows a message that a node hands over before it ends."""
        if task.listens("messages"):
            self._show(task, message, config_of(task)["metadata"])

    # ------------------------------------------------------------------ models

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A model is called: its tokens go to the task in whose body that happens, unless its tags forbid it."""
        if tags and TAG_NOSTREAM in tags:
            return
        task = current_task.get() or self._tasks.get((metadata or {}).get("langgraph_checkpoint_ns", ""))
        if task is None or not task.listens("messages"):
            return
        told = dict(metadata or {})
        if shown := [tag for tag in tags or () if not tag.startswith("seq:step:")]:
            told["tags"] = shown
        self._calls[run_id] = task, told

    def on_llm_new_token(
        self,
        token: str | list[str | dict[str, Any]],
        *,
        chunk: Any = None,
        run_id: UUID,
        **kwargs: Any,
    ) -> None:
        """A token came."""
        call = self._calls.get(run_id)
        if call is not None and isinstance(chunk, ChatGenerationChunk):
            task, metadata = call
            if chunk.message.id is not None:
                self._seen.add(chunk.message.id)
            task.emit("messages", (chunk.message, metadata))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """A model is done: what it did not stream is shown as a whole."""
        call = self._calls.pop(run_id, None)
        if call is not None and response.generations and response.generations[0]:
            generation = response.generations[0][0]
            if isinstance(generation, ChatGeneration):
                self._show(call[0], generation.message, call[1])

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A model failed."""
        self._calls.pop(run_id, None)

    def _show(self, task: Task, message: BaseMessage, metadata: dict[str, Any]) -> None:
        if message.id is None:
            message.id = str(uuid4())  # the state keeps this id, so that a client can tell the two are one
        elif message.id in self._seen:
            return
        self._seen.add(message.id)
        task.emit("messages", (message, metadata))


def messages_in(value: Any) -> Iterator[BaseMessage]:
    """The messages that a value is or directly holds: in a list, in values of a dict, in fields of an object."""
    if isinstance(value, Overwrite):
        value = value.value
    if isinstance(value, BaseMessage):
        yield value
    elif isinstance(value, Mapping):
        yield from _held(value.values())
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        yield from _held(value)
    elif hasattr(value, "__dict__"):
        yield from _held(vars(value).values())


def _held(values: Any) -> Iterator[BaseMessage]:
    for value in values:
        if isinstance(value, BaseMessage):
            yield value
        elif isinstance(value, list | tuple):
            yield from (item for item in value if isinstance(item, BaseMessage))
