"""What the fields of a pydantic model accept, one at a time."""

from typing import Optional

import pytest
from pydantic import BaseModel, Field, RootModel, ValidationError, field_validator, model_validator

from stepwell.errors import InvalidUpdateError
from stepwell.plan.pydantic_ import checks_of, is_model
from stepwell.types import Overwrite


class Child(BaseModel):
    age: int


class State(BaseModel):
    count: int = Field(0, ge=0)
    items: list[str] = []
    child: Child | None = None
    parent: Optional["State"] = None

    @field_validator("count")
    @classmethod
    def no_sevens(cls, count):
        if count == 7:
            raise ValueError("no sevens")
        return count


class DescribeAFieldThatIsWritten:
    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("count", 3),
            ("count", "3"),
            ("items", ["a"]),
            ("child", {"age": 1}),
            ("child", None),
            ("parent", {"count": 1}),
        ],
    )
    def test_accepts_what_the_model_accepts(self, key, value):
        checks_of(State)[key](value)

    @pytest.mark.parametrize(
        ("key", "value", "said"),
        [
            ("count", "many", "valid integer.*got 'many'"),
            ("count", -1, "greater than or equal to 0"),
            ("count", 7, "no sevens"),
            ("items", [1], "0: Input should be a valid string"),
            ("child", {"age": "x"}, "age: Input"),
            ("parent", {"count": "x"}, "count: Input"),
        ],
    )
    def test_refuses_what_the_model_forbids_and_says_why(self, key, value, said):
        with pytest.raises(
            InvalidUpdateError, match=f"'{key}' cannot hold this value, because State forbids it.*{said}"
        ):
            checks_of(State)[key](value)

    def test_keeps_pydantics_error_as_the_cause(self):
        with pytest.raises(InvalidUpdateError) as caught:
            checks_of(State)["count"]("many")

        assert isinstance(caught.value.__cause__, ValidationError)

    def test_is_checked_inside_an_overwrite(self):
        with pytest.raises(InvalidUpdateError):
            checks_of(State)["count"](Overwrite("many"))

    def test_shows_only_the_beginning_of_a_long_value(self):
        with pytest.raises(InvalidUpdateError, match=r"got 'xxx+\.\.\."):
            checks_of(State)["count"]("x" * 500)

    def test_is_judged_whatever_the_whole_model_asks_for(self):
        class Pair(BaseModel):
            low: int
            high: int

            @model_validator(mode="after")
            def in_order(self):
                if self.low > self.high:
                    raise ValueError("out of order")
                return self

        checks_of(Pair)["low"](5)
        with pytest.raises(InvalidUpdateError):
            checks_of(Pair)["low"]("x")

    def test_is_not_judged_by_a_validator_that_looks_at_other_fields(self):
        class Pair(BaseModel):
            low: int
            high: int

            @field_validator("high")
            @classmethod
            def above(cls, high, info):
                return high if high > info.data["low"] else 1 / 0

        checks_of(Pair)["high"](5)

    def test_of_a_model_with_one_type_inside_is_judged_as_well(self):
        class Frozen(BaseModel, frozen=True, strict=True):
            count: int

        with pytest.raises(InvalidUpdateError):
            checks_of(Frozen)["count"]("3")

    def test_of_a_model_of_one_value_is_judged_as_well(self):
        with pytest.raises(InvalidUpdateError):
            checks_of(RootModel[int])["root"]("x")

    def test_of_a_model_with_a_validator_around_it_is_judged_as_well(self):
        class Wrapped(BaseModel):
            count: int

            @model_validator(mode="before")
            @classmethod
            def any_shape(cls, given):
                return given

        with pytest.raises(InvalidUpdateError):
            checks_of(Wrapped)["count"]("x")


class DescribeWhatAModelIs:
    def test_is_a_class_of_pydantics(self):
        assert is_model(State)

    @pytest.mark.parametrize("other", [int, dict, "State", State()])
    def test_is_nothing_else(self, other):
        assert not is_model(other)
