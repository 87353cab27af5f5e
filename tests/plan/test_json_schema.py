"""JSON schemas of what goes into a graph and comes out of it."""

import operator
import socket
from dataclasses import dataclass, field
from typing import Annotated, NotRequired, TypedDict

from pydantic import BaseModel, Field

from stepwell.func import entrypoint
from stepwell.graph import START, StateGraph
from stepwell.managed import IsLastStep
from stepwell.plan.json_schema import json_schema_of


class State(TypedDict):
    log: Annotated[list[str], operator.add]
    note: NotRequired[str]
    last: IsLastStep


class DescribeAJsonSchema:
    def test_of_a_typed_dict_names_its_keys_without_reducers_and_managed_values(self):
        schema = json_schema_of(State)

        assert schema["title"] == "State"
        assert schema["properties"]["log"] == {"title": "Log", "type": "array", "items": {"type": "string"}}
        assert schema["properties"]["note"] == {"title": "Note", "type": "string"}
        assert schema["required"] == ["log"]
        assert "last" not in schema["properties"]

    def test_of_a_dataclass_knows_its_defaults(self):
        @dataclass
        class Order:
            item: str
            count: int = 1
            tags: list[str] = field(default_factory=list)

        schema = json_schema_of(Order)

        assert schema["required"] == ["item"]
        assert schema["properties"]["count"] == {"title": "Count", "type": "integer", "default": 1}

    def test_of_a_pydantic_model_is_the_models_own(self):
        class Model(BaseModel):
            count: int = Field(1, ge=0)

        assert json_schema_of(Model) == Model.model_json_schema()

    def test_of_a_pydantic_model_leaves_managed_values_out(self):
        class Model(BaseModel):
            item: str
            count: int = Field(1, ge=0)
            last: IsLastStep = False

        schema = json_schema_of(Model)

        assert list(schema["properties"]) == ["item", "count"]
        assert schema["required"] == ["item"]
        assert schema["properties"]["count"]["minimum"] == 0

    def test_of_an_annotated_class_requires_what_has_no_value(self):
        class Plain:
            a: int
            b: int = 3

        assert json_schema_of(Plain)["required"] == ["a"]

    def test_of_a_bare_type_is_that_types(self):
        assert json_schema_of(Annotated[list[int], operator.add])["type"] == "array"
        assert json_schema_of(int) == {"title": "int", "type": "integer"}

    def test_allows_anything_where_json_has_no_word_for_a_type(self):
        class Holder(TypedDict):
            line: socket.socket

        assert json_schema_of(Holder)["properties"]["line"] == {"title": "Line"}

    def test_allows_anything_where_pydantic_cannot_read_a_type(self):
        class Inner(TypedDict):
            a: int

        class Outer(TypedDict):
            inner: Inner

        assert "inner" in json_schema_of(Outer)["properties"]

    def test_of_nothing_is_empty(self):
        assert json_schema_of(None) == {}

    def test_of_a_workflow_is_what_its_function_takes_and_returns(self):
        @entrypoint()
        def flow(number: int) -> list[str]:
            return []

        assert flow.get_input_jsonschema()["type"] == "integer"
        assert flow.get_output_jsonschema()["items"] == {"type": "string"}

    def test_is_what_a_graph_gives_of_itself(self):
        class Question(TypedDict):
            log: list[str]

        graph = (
            StateGraph(State, input_schema=Question).add_node("a", lambda state: None).add_edge(START, "a").compile()
        )

        assert graph.get_input_jsonschema()["title"] == "Question"
        assert graph.get_output_jsonschema()["title"] == "State"
