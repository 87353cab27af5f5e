"""Dataclasses, models, NamedTuples, enums and subclasses of builtins come back as themselves, with all their data."""

from __future__ import annotations

import dataclasses
import enum
import typing
from collections import OrderedDict
from datetime import datetime
from functools import cached_property
from random import Random as ExtensionBase  # its state lies in C
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import pytest
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, HttpUrl, PrivateAttr, RootModel, SecretStr
from pydantic.dataclasses import dataclass as pydantic_dataclass

from stepwell.errors import UnstorableTypeError
from stepwell.serde import Codec, Registry
from stepwell.types import Command, Interrupt, Overwrite, RetryPolicy, Send, TimeoutPolicy
from tests.serde.exact import same

T = TypeVar("T")


class Color(enum.Enum):
    RED = "red"
    CRIMSON = "red"  # noqa: PIE796 # two names for one member
    ODD = object()


class Level(enum.IntEnum):
    LOW = 1


class Mood(enum.StrEnum):
    GOOD = "good"


class Right(enum.Flag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    y: Any = 0


@dataclasses.dataclass
class Area:
    w: int
    cm: int = dataclasses.field(init=False, default=0)
    tags: list[str] = dataclasses.field(default_factory=list)
    unit: ClassVar[str] = "m"

    def __post_init__(self) -> None:
        self.cm = self.w * 100
        self.note = "made"

    @cached_property
    def mm(self) -> int:
        return self.cm * 10


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: Any


@dataclasses.dataclass(slots=True)
class Slotted:
    x: Any
    y: int = 1


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenSlotted(Generic[T]):
    x: T


class Shape(BaseModel):
    x: int


class Circle(Shape):
    r: int


class Canvas(BaseModel):
    shapes: list[Shape]
    best: Shape | None = None


class Acct(BaseModel):
    a: int
    _tries: int = PrivateAttr(default=0)


class Login(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)
    user: str
    pin: str = Field(default="none", exclude=True, alias="PIN")


class Box(BaseModel, Generic[T]):
    inner: T


class Tags(RootModel[list[str]]):
    pass


class Outer(BaseModel):
    class Phase(enum.Enum):
        READY = "ready"

    phase: Phase
    secret: SecretStr = SecretStr("s")
    url: HttpUrl = HttpUrl("https://a.b/c")


class UserId(str):
    __slots__ = ()

    def __str__(self) -> str:
        return f"user {super().__str__()}"


class Bag(dict[str, Any]):
    def __init__(self) -> None:
        super().__init__()
        self.owner = "me"

    def __setitem__(self, key: str, value: Any) -> None:
        raise AssertionError("reading must not run the methods of a class")


class Stack(list[Any]):
    pass


class Pair(tuple[Any, ...]):
    pass


class Names(set[str]):
    pass


class Money(float):
    __slots__ = ("currency",)


def _acct() -> Acct:
    account = Acct(a=1)
    account._tries = 7
    return account


def _area() -> Area:
    area = Area(2, tags=["a"])
    assert area.mm
    return area


def _bag() -> Bag:
    bag = Bag()
    dict.update(bag, {"a": 1})
    return bag


def _money() -> Money:
    money = Money(1.5)
    money.currency = "EUR"  # type: ignore[misc] # a slot
    return money


OBJECTS: list[Any] = [
    Color.RED, Color.CRIMSON, Color.ODD, Level.LOW, Mood.GOOD, Right.READ | Right.WRITE, Right(0), {Color.RED: 1},
    Outer.Phase.READY, Point(1, (2,)), Frozen((1,)), Frozen({Frozen(1): Frozen([])}), Slotted([1]), FrozenSlotted({1}),
    {Frozen(1): 2}, {Frozen(1)}, Shape(x=1), Circle(x=1, r=2), Canvas(shapes=[Circle(x=1, r=9)], best=Circle(x=2, r=1)),
    _acct(), Login(user="u", PIN="77", more=(1,)), Login(user="u"), Box[Shape](inner=Circle(x=1, r=2)), Box(inner=(1,)),
    Box[Box[int]](inner=Box[int](inner=1)), Box[list[int]](inner=[1]), Tags(["a"]), Outer(phase=Outer.Phase.READY),
    AnyUrl("x://y"), UserId("7"), _bag(), Stack([1]), Pair((1, 2)), Names({"a"}), Shape, Box[int],
    Send("n", {"a": (1,)}), Send("n", 1, timeout=TimeoutPolicy(run_timeout=1)), Command(goto=["a", Send("b", 1)]),
    Command(resume=None), Command(update={"a": 1}, graph=Command.PARENT), Interrupt("q?", "id1"), Overwrite([1]),
    Interrupt("q?", "id1", response_schema=Shape), RetryPolicy(max_attempts=5),
    Interrupt({"a": (1,)}, "i", response_schema={}),
    typing.Literal["a", "b"], typing.Optional[int], Any,  # noqa: UP045 # another object than int | None
]  # fmt: skip


@pytest.fixture
def codec(codec):
    codec.registry.declare(
        Color, Level, Mood, Right, Point, Area, Frozen, Slotted, FrozenSlotted, Shape, Canvas, Acct, Login, Box, Tags,
        Outer, Outer.Phase, UserId, Bag, Stack, Pair, Names, Money,
    )  # fmt: skip
    return codec


@pytest.mark.parametrize("value", OBJECTS, ids=lambda value: f"{type(value).__name__}-{value!r:.30}")
class DescribeAnObject:
    def test_comes_back_equal_and_of_its_class(self, codec, value):
        again = codec.decode(codec.encode(value))

        assert same(again, value)
        assert repr(again) == repr(value)

    def test_gives_the_same_bytes_again_wherever_it_lies(self, codec, value):
        data = codec.encode([value, {"k": (value, bytearray())}])

        assert codec.encode(codec.decode(data)) == data


class DescribeADataclass:
    def test_keeps_fields_that_init_does_not_take_and_attributes_set_later(self, codec):
        area = _area()

        again = codec.decode(codec.encode(area))

        assert again == area and again.note == "made"
        assert "mm" not in vars(again) and again.mm == 2000

    def test_of_frozen_slots_comes_back(self, codec):
        assert codec.decode(codec.encode(FrozenSlotted((1,)))) == FrozenSlotted((1,))

    def test_without_one_of_its_slots_comes_back_without_it(self, codec):
        slotted = Slotted(1)
        del slotted.y

        assert not hasattr(codec.decode(codec.encode(slotted)), "y")


class DescribeAModel:
    def test_keeps_private_excluded_and_extra_data(self, codec):
        account = codec.decode(codec.encode(_acct()))
        login = codec.decode(codec.encode(Login(user="u", PIN="77", more=1)))

        assert account._tries == 7
        assert login.pin == "77" and login.more == 1 and login.model_fields_set == {"user", "pin", "more"}

    def test_keeps_the_subclass_in_a_list_of_the_base(self, codec):
        canvas = codec.decode(codec.encode(Canvas(shapes=[Circle(x=1, r=9)])))

        assert type(canvas.shapes[0]) is Circle and canvas.shapes[0].r == 9

    def test_tells_given_fields_from_defaults(self, codec):
        given, default = Canvas(shapes=[], best=None), Canvas(shapes=[])

        assert codec.decode(codec.encode(given)).model_fields_set == {"shapes", "best"}
        assert codec.decode(codec.encode(default)).model_fields_set == {"shapes"}

    def test_is_read_without_validation(self, codec):
        wrong = Shape.model_construct(x="not a number")

        assert codec.decode(codec.encode(wrong)).x == "not a number"

    def test_made_without_a_field_comes_back_without_it(self, codec):
        again = codec.decode(codec.encode(Circle.model_construct(x=1)))

        assert not hasattr(again, "r")

    def test_is_its_generic_form_again(self, codec):
        assert type(codec.decode(codec.encode(Box[Shape](inner=Shape(x=1))))) is Box[Shape]


class DescribeASubclassOfABuiltin:
    def test_keeps_its_attributes(self, codec):
        assert codec.decode(codec.encode(_bag())).owner == "me"
        assert codec.decode(codec.encode(_money())).currency == "EUR"

    def test_is_stored_by_its_value_and_not_by_its_str(self, codec):
        again = codec.decode(codec.encode(UserId("7")))

        assert str.__str__(again) == "7" and str(again) == "user 7"

    def test_of_a_class_with_inner_state_is_refused(self, codec):
        class Ordered(OrderedDict[str, int]):
            pass

        with pytest.raises(UnstorableTypeError):
            codec.encode(Ordered(a=1))


class DescribeAClassThatIsAValue:
    @pytest.mark.parametrize("form", [int | Shape, typing.Literal["a"], list[Shape]], ids=str)
    def test_that_is_not_known_is_spelled_as_people_write_it(self, codec, form):
        unknown = Codec(Registry()).decode(codec.encode(form))

        if form == typing.Literal["a"]:
            assert unknown == form
        else:
            assert unknown.type_name == str(form).replace("int |", "builtins.int |").replace("list[", "builtins.list[")


class DescribeAnOutstandingAnswer:
    def test_of_none_is_told_from_no_answer(self, codec):
        assert codec.decode(codec.encode(Command(resume=None))).answers
        assert not codec.decode(codec.encode(Command(goto="a"))).answers


class DescribeAModelOfPydanticV1:
    def test_comes_back_with_private_and_extra_data(self, codec):
        old = pytest.importorskip("pydantic.v1")

        class Old(old.BaseModel):  # type: ignore[misc,name-defined] # imported above
            class Config:
                extra = "allow"
                underscore_attrs_are_private = True

            x: int
            y: Any = (1,)
            _seen: int = 0

        codec.registry.declare(Old)
        model = Old(x=1, more=[2])
        model._seen = 5

        again = codec.decode(codec.encode([model]))[0]

        assert again == model and again._seen == 5 and again.__fields_set__ == {"x", "more"}
        assert again.y == (1,) and codec.encode([again]) == codec.encode([model])

    def test_takes_defaults_for_what_it_gained(self, codec):
        old = pytest.importorskip("pydantic.v1")

        class Now(old.BaseModel):  # type: ignore[misc,name-defined] # imported above
            x: int
            y: tuple[int, ...] = (7,)

        data = codec.encode(Shape(x=1)).replace(b"Shape", b"Shapo")
        codec.registry.register(Now, aliases=[f"{__name__}.Shapo"])
        assert codec.decode(data) == Now(x=1)


class DescribeAnAttrsClass:
    def test_comes_back_with_and_without_slots(self, codec):
        attr = pytest.importorskip("attr")

        @attr.s(auto_attribs=True, slots=True, frozen=True)
        class WithSlots:
            x: int
            y: Any = attr.Factory(list)

        @attr.s(auto_attribs=True)
        class WithDict:
            x: int
            z: int = 5

        codec.registry.register(WithSlots, aliases=["a.Old"])
        codec.registry.register(WithDict)

        assert codec.decode(codec.encode([WithSlots(1, (2,)), WithDict(3)])) == [WithSlots(1, (2,)), WithDict(3)]


class DescribeADataclassOfPydantic:
    def test_comes_back_as_one(self, codec):
        @pydantic_dataclass
        class Checked:
            x: int
            y: tuple[int, ...] = ()

        codec.registry.declare(Checked)

        assert codec.decode(codec.encode(Checked(x=1, y=(2,)))) == Checked(x=1, y=(2,))


class DescribeATimeOfPydantic:
    def test_keeps_its_zone(self, codec):
        class Meeting(BaseModel):
            at: datetime

        codec.registry.declare(Meeting)
        meeting = Meeting.model_validate({"at": "2020-01-01T00:00:00-05:30"})

        again = codec.decode(codec.encode(meeting))

        assert again == meeting and type(again.at.tzinfo) is type(meeting.at.tzinfo)
        assert again.at.utcoffset() == meeting.at.utcoffset()


class DescribeAClassOnSomethingElse:
    def test_whose_inner_state_cannot_be_seen_is_refused(self, codec):
        @dataclasses.dataclass
        class Listener(ExtensionBase):
            x: int = 0

        with pytest.raises(UnstorableTypeError, match=r"built on _random\.Random, whose inner state"):
            codec.encode(Listener())

    def test_with_a_form_that_has_no_name_is_refused(self, codec):
        with pytest.raises(UnstorableTypeError, match="has no name to store it by"):
            codec.encode([T])


def test_a_secret_keeps_its_secret(codec):
    again = codec.decode(codec.encode(Outer(phase=Outer.Phase.READY, secret=SecretStr("pw"))))

    assert again.secret.get_secret_value() == "pw" and str(again.url) == "https://a.b/c"


def test_reading_runs_no_code_of_the_class(codec):
    ran = []

    @dataclasses.dataclass
    class Noisy:
        x: int

        def __post_init__(self) -> None:
            ran.append(self.x)

    codec.registry.declare(Noisy)
    data = codec.encode(Noisy(1))
    ran.clear()

    assert codec.decode(data) == Noisy(1)
    assert ran == [1]  # of the comparison above
