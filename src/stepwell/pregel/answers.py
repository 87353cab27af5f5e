"""Answers of people: whether one fits the schema its question asked for; and what tells two questions apart."""

from __future__ import annotations

from typing import Any

from stepwell.digests import blake2b
from stepwell.errors import InvalidResumeError, SerializationError, WrongTypeError, brief
from stepwell.types import Interrupt

_codec: list[Any] = []


def digest(value: Any) -> str:
    """A short text that equal values share, of the value's stored form where it has one."""
    if not _codec:
        from stepwell.serde.codec import Codec  # only graphs that ask need the types on disk

        _codec.append(Codec())
    try:
        form = _codec[0].encode(value)
    except SerializationError:
        form = repr(value).encode("utf-8", "surrogatepass")
    return blake2b(form, digest_size=8).hexdigest()


def describe(schema: Any) -> Any:
    """A response schema as it is shown and stored: a JSON schema; None for none."""
    if schema is None or isinstance(schema, dict):
        return schema
    return _adapter(schema).json_schema()


def check_answer(schema: Any, answer: Any, question: Interrupt) -> Any:
    """The answer as the schema reads it. InvalidResumeError when it does not fit; the question then stays open."""
    if schema is None or isinstance(schema, dict):
        return answer
    try:
        return _adapter(schema).validate_python(answer)
    except ValueError as error:
        raise InvalidResumeError(
            f"the answer {brief(answer)} does not fit what question {question.id} asked for: {error}. "
            "The question is still open: answer again with Command(resume=...)."
        ) from error


def _adapter(schema: Any) -> Any:
    from pydantic import PydanticUserError, TypeAdapter  # only graphs that ask for typed answers need it

    from stepwell.serde.registry import registry  # as in digest

    try:
        registry.declare_schema(schema)
        return TypeAdapter(schema)
    except PydanticUserError as error:
        raise WrongTypeError(
            f"response_schema is {brief(schema)}, which no answer can be checked against: {error.message} Give a type, "
            "a pydantic model, a dataclass, a TypedDict, or a JSON schema as a dict."
        ) from error
