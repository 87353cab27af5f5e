"""Messages as a key of the state: `Annotated[list, add_messages]`. Imports LangChain only once messages appear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Annotated, Any, Final, Literal, TypedDict

from stepwell.channels.pure import pure
from stepwell.errors import InvalidUpdateError, OutsideRunError
from stepwell.scope import current_task

__all__ = ["REMOVE_ALL_MESSAGES", "MessagesState", "add_messages", "push_message"]

REMOVE_ALL_MESSAGES: Final = "__remove_all__"
"""`RemoveMessage(id=REMOVE_ALL_MESSAGES)` removes all messages before it."""

_id_of = attrgetter("id")


def with_ids(update: Any) -> list[Any]:
    """An update of messages (one, a list, dicts, tuples, texts) as a list of message objects, each with an id."""
    items = list(update) if isinstance(update, list | tuple) and not _is_pair(update) else [update]
    if not _are_messages(items):
        from langchain_core.messages import convert_to_messages

        items = convert_to_messages(items)
    for position, message in enumerate(items):
        if message.id is None:
            message.id = new_id()
        if type(message).__name__.endswith("MessageChunk"):
            items[position] = _whole(message)
    return items


@pure
def add_messages(
    left: Any = None, right: Any = None, *, format: Literal["langchain-openai"] | None = None
) -> list[Any] | Callable[[Any, Any], list[Any]]:
    """`left` with the messages of `right` put in: by id where `left` has it, at the end else. A new list.

    RemoveMessage(id) takes one out; RemoveMessage(REMOVE_ALL_MESSAGES) everything before it. Without `left` and
    `right`, a reducer with this `format` ("langchain-openai": contents as OpenAI's blocks).
    Raises InvalidUpdateError for the removal of an id that is not there.
    """
    if left is None and right is None:
        return _formatting(format)
    if left is None or right is None:
        raise InvalidUpdateError(
            f"add_messages was given only {'right' if left is None else 'left'}. It takes the messages so far and an "
            "update of them; either may be an empty list."
        )
    before = left if isinstance(left, list) and _are_messages(left) else with_ids(left)
    merged = _merged(before, with_ids(right))
    return merged if format is None else _formatted(merged, format)


add_messages.prepare_write = with_ids  # type: ignore[attr-defined]  # what nodes write is given ids when they write it


class MessagesState(TypedDict):
    """A state of one key, `messages`."""

    messages: Annotated[list[Any], add_messages]


def push_message(message: Any, *, state_key: str | None = "messages") -> Any:
    """Streams a message now, from inside a node, and adds it to the state when the node ends (`state_key=None`: not).

    Raises InvalidUpdateError when it has no id: the stream and the state must mean the same one.
    """
    task = current_task.get()
    if task is None:
        raise OutsideRunError("push_message() was called outside of a node: no run is there to stream to.")
    if not _has_id(message):
        raise InvalidUpdateError(
            "push_message() was given a message without an id. What is streamed now and added later must be the same "
            "message: give it one, for example AIMessage(..., id=str(uuid4()))."
        )
    (whole,) = with_ids([message])
    if task.run.ears is not None:
        task.run.ears.show(task, whole)
    if state_key is not None:
        task.push(state_key, [whole])
    return whole


def new_id() -> str:
    """A random id."""
    from uuid import uuid4  # as in ids.py

    return str(uuid4())


def _merged(left: list[Any], right: list[Any]) -> list[Any]:
    removes = [position for position, message in enumerate(right) if _is_removal(message)]
    for position in reversed(removes):
        if right[position].id == REMOVE_ALL_MESSAGES:
            left, right = [], right[position + 1 :]
            removes = [at - position - 1 for at in removes if at > position]
            break
    new = {None, *map(_id_of, right)}  # None: a message on the left that has no id yet
    if not removes and len(new) > len(right) and new.isdisjoint(map(_id_of, left)):
        return [*left, *right]
    return _placed(with_ids(left) if None in map(_id_of, left) else left, right)


def _placed(left: list[Any], right: list[Any]) -> list[Any]:
    """Every message of `right` at its place: an index is only built when one of them is not simply new."""
    merged: list[Any] = list(left)
    index = dict(zip(map(_id_of, merged), range(len(merged)), strict=True))
    gone: set[str] = set()
    for message in right:
        at = index.get(message.id)
        if _is_removal(message):
            if at is None:
                raise _unknown(message.id)
            gone.add(message.id)
        elif at is None:
            index[message.id] = len(merged)
            merged.append(message)
        else:
            gone.discard(message.id)
            merged[at] = message
    return [message for message in merged if message.id not in gone] if gone else merged


def _unknown(id: str) -> InvalidUpdateError:
    return InvalidUpdateError(
        f"a message with id {id!r} was to be removed, and there is none. "
        "RemoveMessage takes the id of a message in the state, or REMOVE_ALL_MESSAGES."
    )


def _are_messages(items: Sequence[Any]) -> bool:
    return all(map(_is_message_class, set(map(type, items))))


@lru_cache(maxsize=256)
def _is_message_class(cls: type) -> bool:
    """Told by name: nobody has a message before LangChain is imported, and this must not import it."""
    return any(base.__name__ == "BaseMessage" and base.__module__.startswith("langchain_core.") for base in cls.__mro__)


def _is_removal(message: Any) -> bool:
    return bool(message.type == "remove")


def _is_pair(update: Sequence[Any]) -> bool:
    """Whether this is one message written as ("user", "text")."""
    return isinstance(update, tuple) and len(update) == 2 and all(isinstance(part, str) for part in update)


def _has_id(message: Any) -> bool:
    return (message.get("id") if isinstance(message, dict) else getattr(message, "id", None)) is not None


def _whole(message: Any) -> Any:
    from langchain_core.messages import message_chunk_to_message

    return message_chunk_to_message(message)


def _formatting(format: Any) -> Callable[[Any, Any], list[Any]]:
    def reducer(left: Any, right: Any) -> list[Any]:
        merged = _merged(with_ids(left), with_ids(right))
        return merged if format is None else _formatted(merged, format)

    reducer.prepare_write = with_ids  # type: ignore[attr-defined]  # as add_messages
    return reducer


def _formatted(messages: list[Any], format: str) -> list[Any]:
    if format != "langchain-openai":
        raise InvalidUpdateError(f"format is {format!r}. The one format there is: 'langchain-openai'.")
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages

    return list(convert_to_messages(convert_to_openai_messages(messages, include_id=True)))
