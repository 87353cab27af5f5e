"""A schema as a user declared it."""

import operator
from dataclasses import InitVar, dataclass, field
from typing import Annotated, ClassVar, Generic, NamedTuple, TypedDict, TypeVar

import pytest
from pydantic import BaseModel, Field

from stepwell.channels import BinaryOperatorAggregate, LastValue
from stepwell.errors import GraphError, InvalidUpdateError
from stepwell.managed import IsLastStep
from stepwell.managed.is_last_step import IsLastStepManager
from stepwell.plan.schema import ROOT, context_of, has_keys, schema_of, update_of

T = TypeVar("T")


class Chat(TypedDict):
    log: Annotated[list, operator.add]
    total: int
    last: IsLastStep


@dataclass
class Order:
    item: str
    count: int = 1
    note: str | None = None
    tags: list = field(default_factory=list)
    kind: ClassVar[str] = "order"
    hidden: int = field(default=0, init=False)


class Model(BaseModel):
    item: str = ""
    count: int = 1
    tags: list[str] = Field(default_factory=list)


class Point(NamedTuple):
    x: int
    y: int = 0


class DescribeATypedDict:
    def test_has_a_channel_for_each_key_and_its_managed_values_apart(self):
        schema = schema_of(Chat)

        assert schema.kind == "dict"
        assert schema.reads == ("log", "total")
        assert isinstance(schema.channels["log"], BinaryOperatorAggregate)
        assert isinstance(schema.channels["total"], LastValue)
        assert schema.managers == (("last", IsLastStepManager.get),)

    def test_hands_nodes_the_dict_itself(self):
        assert schema_of(Chat).build is None

    def test_may_be_generic(self):
        class Box(TypedDict, Generic[T]):
            held: T

        assert schema_of(Box[int]).reads == ("held",)

    def test_is_called_by_its_name(self):
        assert schema_of(Chat).name == "Chat"


class DescribeADataclass:
    def test_has_a_channel_for_each_field_it_is_made_of(self):
        assert schema_of(Order).reads == ("item", "count", "note", "tags")

    def test_hands_nodes_an_object_of_it(self):
        assert schema_of(Order).build({"item": "tea", "count": 2}) == Order("tea", 2)

    def test_says_which_keys_it_could_not_be_made_of(self):
        with pytest.raises(InvalidUpdateError, match=r"no Order could be made of the keys 'count'.*'item'"):
            schema_of(Order).build({"count": 2})

    def test_leaves_out_what_is_no_field(self):
        @dataclass
        class Made:
            a: int
            seed: InitVar[int] = 0

        assert schema_of(Made).reads == ("a",)


class DescribeAPydanticModel:
    def test_has_a_channel_for_each_field(self):
        schema = schema_of(Model)

        assert schema.kind == "model"
        assert schema.reads == ("item", "count", "tags")

    def test_hands_nodes_an_object_of_it(self):
        assert schema_of(Model).build({"count": "2"}) == Model(count=2)

    def test_is_built_by_field_names_where_fields_have_aliases(self):
        class Aliased(BaseModel):
            count: int = Field(alias="Count")

        assert schema_of(Aliased).build({"count": 2}).count == 2


class DescribeOtherSchemas:
    def test_take_a_named_tuple_as_an_object(self):
        assert schema_of(Point).build({"x": 1}) == Point(1, 0)

    def test_take_any_annotated_class_as_keys_of_a_dict(self):
        class Plain:
            a: int
            kind: ClassVar[str] = "plain"

        schema = schema_of(Plain)

        assert (schema.kind, schema.reads) == ("dict", ("a",))

    def test_take_a_bare_type_as_one_value(self):
        schema = schema_of(Annotated[list, operator.add])

        assert (schema.kind, schema.reads) == ("root", (ROOT,))
        assert schema.build({ROOT: [1]}) == [1]
        assert schema.build({}) is None

    def test_refuse_a_managed_value_as_the_whole_state(self):
        with pytest.raises(GraphError, match="A managed value is no state"):
            schema_of(IsLastStep)

    def test_say_which_annotation_cannot_be_read(self):
        class Broken(TypedDict):
            a: "Nowhere"  # noqa: F821  # what is tested

        with pytest.raises(GraphError, match=r"the annotations of Broken cannot be read.*'Nowhere'"):
            schema_of(Broken)

    @pytest.mark.parametrize("typ", [int, list, list[int], dict[str, int], "text", None])
    def test_know_bare_types_from_classes_with_keys(self, typ):
        assert not has_keys(typ)


class DescribeTheUpdateOfAnObject:
    def test_is_what_was_set_of_a_pydantic_object(self):
        assert update_of(Model(item="")) == [("item", "")]

    def test_is_also_what_differs_from_its_default(self):
        order = Model()
        order.tags.append("new")

        assert update_of(order) == [("tags", ["new"])]

    def test_counts_a_value_that_does_not_compare_as_different(self):
        class Odd:
            def __eq__(self, other):
                raise TypeError

            __hash__ = None

        class Holder(BaseModel, arbitrary_types_allowed=True):
            odd: Odd = Field(default_factory=Odd)

        assert [key for key, _ in update_of(Holder())] == ["odd"]

    def test_is_every_field_of_a_dataclass_but_those_that_are_none_by_default(self):
        assert update_of(Order("tea")) == [("item", "tea"), ("count", 1), ("tags", []), ("hidden", 0)]

    def test_is_every_field_of_a_named_tuple(self):
        assert update_of(Point(1)) == [("x", 1), ("y", 0)]

    @pytest.mark.parametrize("value", ["text", 1, (1, 2), [1]])
    def test_is_none_for_anything_else(self, value):
        assert update_of(value) is None


class DescribeTheContextOfARun:
    def test_becomes_an_object_of_its_schema(self):
        assert context_of(Order, {"item": "tea"}) == Order("tea")
        assert context_of(Model, {"count": 3}) == Model(count=3)

    def test_stays_a_dict_for_a_typed_dict(self):
        given = {"total": 1}

        assert context_of(Chat, given) is given

    def test_stays_what_it_is_where_it_is_no_dict_or_nothing_is_declared(self):
        order = Order("tea")

        assert context_of(Order, order) is order
        assert context_of(None, {"a": 1}) == {"a": 1}
        assert context_of(dict, {"a": 1}) == {"a": 1}

    @pytest.mark.parametrize("schema", [Order, Model])
    def test_says_what_does_not_fit(self, schema):
        with pytest.raises(InvalidUpdateError, match=f"does not fit {schema.__name__}"):
            context_of(schema, {"count": "many", "unknown": 1})
