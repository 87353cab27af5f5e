"""The input of a run → the writes that set it off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepwell.errors import EmptyInputError, ErrorCode, InvalidUpdateError, brief, create_error_message
from stepwell.nodes.writing import StateKeys
from stepwell.plan.plan import Writes
from stepwell.plan.schema import ROOT, update_of
from stepwell.types import START, Send


def entering(keys: StateKeys) -> Callable[[Any], Writes]:
    """The `enter` of a plan: input → one write to the input cell, with what messages lack put in.

    A warning names keys that are no input; EmptyInputError for None, InvalidUpdateError for what is no input at all.
    """
    told: set[Any] = set()

    def enter(input: Any) -> Writes:
        if input is None:
            raise EmptyInputError(
                "the run was given no input. Pass the keys to begin with, as in invoke({'messages': […]}, config). "
                "None continues a thread that was interrupted."
            )
        if isinstance(input, Send):
            raise InvalidUpdateError(
                f"the input is a Send to node {input.node!r}. A Send is what a route or a Command's goto answers: "
                "pass Command(goto=Send(...)) to begin with it."
            )
        if keys.is_root:
            return [(START, keys.finish([(ROOT, input)], "the input")[0][1])]
        pairs = list(input.items()) if isinstance(input, dict) else update_of(input)
        if pairs is None:
            raise InvalidUpdateError(
                create_error_message(
                    message=(
                        f"the input is {brief(input)}, a {type(input).__name__}: Expected dict of state keys, or an "
                        f"object of the schema. Keys are {', '.join(map(repr, sorted(keys.names)))}."
                    ),
                    error_code=ErrorCode.INVALID_GRAPH_NODE_RETURN_VALUE,
                )
            )
        return [(START, dict(keys.finish(keys.known(pairs, "the input", told), "the input")))]

    return enter
