"""Writing trusts, reading does not: which classes come back as objects, and what is said of the others."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import typing
import warnings
from collections import defaultdict
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import pytest
from pydantic import BaseModel, PrivateAttr

from stepwell.errors import StoredTypeWarning, UnknownTypeError, UnstorableTypeError
from stepwell.serde import Codec, Registry, find_unknown, require_known
from stepwell.types import Send, Unknown


@dataclass
class Job:
    name: str
    prio: int = 1


@dataclass
class Inner:
    a: int


class Failure(Exception):
    pass


class Phase(Enum):
    ON = 1


class Slot(NamedTuple):
    inner: Inner


class Base(BaseModel):
    x: int = 0


class Derived(Base):
    y: int = 0


class Leaf(BaseModel):
    z: int = 0


Alias = typing.NewType("Alias", Leaf)


class State(TypedDict, total=False):
    jobs: Annotated[list[Job], lambda a, b: a + b]
    slot: Slot | None
    phase: Literal[Phase.ON]
    base: dict[str, Base]
    leaf: Alias
    again: State | None


def forget() -> Codec:
    """A codec as a process has it that never met the classes of this file."""
    return Codec(Registry())


def written(value: Any) -> bytes:
    codec = Codec(Registry())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoredTypeWarning)
        return codec.encode(value)


def twice(codec: Codec) -> None:
    codec.encode([Job("a"), Job("b")])
    Codec(codec.registry).encode(Job("c"))


class DescribeWriting:
    def test_warns_once_that_another_process_will_not_know_the_class(self, codec):
        with pytest.warns(StoredTypeWarning, match=r"checkpoint\.serde\.register\(Job\)") as told:
            twice(codec)

        assert len(told) == 1

    def test_makes_the_class_known_to_this_process(self, codec):
        with pytest.warns(StoredTypeWarning):
            data = codec.encode(Job("a"))

        assert codec.decode(data) == Job("a")

    def test_is_an_error_under_strict_types(self):
        codec = Codec(Registry(), strict_types=True)

        with pytest.raises(UnstorableTypeError, match="Job is not stored under strict_types=True"):
            codec.encode([Job("a")], "jobs")

    def test_says_nothing_of_registered_and_declared_classes(self, codec):
        codec.registry.register(Job)
        codec.registry.declare(Inner)

        assert codec.decode(codec.encode([Job("a"), Inner(1)])) == [Job("a"), Inner(1)]

    def test_takes_a_class_defined_in_a_function(self, codec):
        @dataclass
        class Local:
            x: int

        codec.registry.declare(Local)

        assert codec.decode(codec.encode(Local(1))) == Local(1)

    def test_takes_the_newest_of_two_classes_of_one_name(self, codec):
        def define() -> Any:
            @dataclass
            class Cell:
                x: int

            codec.registry.declare(Cell)
            return Cell

        first, second = define(), define()

        assert type(codec.decode(codec.encode(first(1)))) is second

    def test_warns_once_whatever_saver_meets_the_class(self):
        process = Registry()
        with pytest.warns(StoredTypeWarning) as told:
            [Codec(Registry(parent=process)).encode(Job("a")) for _ in range(2)]

        assert len(told) == 1


class DescribeASchema:
    @pytest.fixture
    def known(self):
        registry = Registry()
        registry.declare_schema(State)
        return Codec(registry, strict_types=True)

    @pytest.mark.parametrize(
        "value", [Job("a"), Slot(Inner(1)), Phase.ON, Base(x=1), Derived(x=1, y=2), Leaf(z=1), Inner], ids=repr
    )
    def test_makes_all_it_reaches_known(self, known, value):
        assert known.decode(known.encode(value)) == value

    def test_lets_another_process_read_a_subclass_it_has_not_declared(self, known):
        assert known.decode(written(Derived(y=2))) == Derived(y=2)

    def test_of_a_dataclass_or_a_model_is_walked_too(self):
        @dataclass
        class Outer:
            job: Job
            bad: Missing  # type: ignore[name-defined] # noqa: F821 # one bad name must not hide the others

        class Model(BaseModel):
            slots: list[Slot]

        registry = Registry()
        registry.declare_schema(Outer)
        registry.declare_schema(Model)

        assert registry.trusts(Job) and registry.trusts(Slot) and registry.trusts(Inner)

    def test_that_names_the_base_of_all_models_does_not_trust_them_all(self):
        class Loose(TypedDict):
            any_model: BaseModel
            any_choice: Enum
            error: Exception

        registry = Registry()
        registry.declare_schema(Loose)

        assert not registry.trusts(Leaf) and not registry.trusts(Phase)

    def test_of_a_type_alias_that_names_itself_ends(self):
        Tree = list["Tree"] | Job  # as recursive aliases are written

        registry = Registry()
        registry.declare_schema(Tree)

        assert registry.trusts(Job)

    def test_that_is_no_class_reaches_nothing(self):
        registry = Registry()

        for schema in (dict, Any, list[int], None, "text", dict[str, Any], typing.TypeVar("T", bound=int)):
            registry.declare_schema(schema)

        assert not registry.trusts(Job)


class DescribeReadingAnUnknownClass:
    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            (Job("a"), {"name": "a", "prio": 1}),
            (Base(x=1), {"x": 1}),
            (Phase.ON, 1),
            (Slot(Inner(1)), {"inner": Unknown(f"{__name__}.Inner", {"a": 1}, b"")}),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_shows_its_name_and_its_data(self, value, shown):
        unknown = forget().decode(written(value))

        assert unknown.type_name == f"{__name__}.{type(value).__name__}"
        assert repr(unknown.data) == repr(shown)

    def test_keeps_its_bytes_when_it_is_written_back(self):
        value = {"a": [Job("a"), (Base(x=1), {Phase.ON: Slot(Inner(1))})], "b": {Phase.ON}}
        data = written(value)
        stranger = forget()

        again = stranger.encode(stranger.decode(data))

        assert again == data
        registry = Registry()
        registry.declare(Job, Base, Phase, Slot, Inner)
        assert Codec(registry).decode(again) == value

    @pytest.mark.parametrize(
        "wrap",
        [
            lambda cls: defaultdict(cls, a=1),
            lambda cls: ExceptionGroup("g", [ValueError(1), Failure("x")]),
            lambda cls: {cls},
        ],
        ids=["factory", "group", "set"],
    )
    def test_makes_what_cannot_be_without_it_unknown_too(self, wrap):
        stranger, data = forget(), written({"it": wrap(Job), "other": 1})

        again = stranger.decode(data)

        assert again["other"] == 1 and find_unknown(again["it"]).type_name in (f"{__name__}.Job", f"{__name__}.Failure")
        assert stranger.encode(again) == data

    def test_nested_in_a_known_one_keeps_the_known_one(self):
        registry = Registry()
        registry.declare(Slot)

        slot = Codec(registry).decode(written(Slot(Inner(1))))

        assert type(slot) is Slot and type(slot.inner) is Unknown

    def test_of_a_generic_form_spells_it(self):
        assert forget().decode(written(list[Job])).type_name == f"builtins.list[{__name__}.Job]"


class DescribeFindingTheUnknown:
    @pytest.mark.parametrize(
        "wrap",
        [
            lambda job: job,
            lambda job: [1, [job]],
            lambda job: {"a": (job,)},
            lambda job: {Phase.ON: job},
            lambda job: Send("n", {"job": job}),
            lambda job: Slot(job),
            lambda job: Base.model_construct(x=job),
            lambda job: Job(job),
        ],
    )
    def test_finds_it_at_any_depth(self, wrap):
        unknown = forget().decode(written(Inner(1)))

        assert find_unknown(wrap(unknown)) is unknown

    def test_finds_nothing_where_all_is_known(self):
        ring: list[Any] = [{"a": 1}, (2,), Job("a")]
        ring.append(ring)

        assert find_unknown(ring) is None

    def test_raises_an_error_that_names_key_class_and_call(self):
        unknown = forget().decode(written([Job("a")]))

        with pytest.raises(UnknownTypeError, match=rf"'job' holds a {__name__}\.Job.*register\(Job\).*aliases="):
            require_known(unknown, "job")

    def test_hands_on_what_is_known(self):
        value = [Job("a")]

        assert require_known(value, "job") is value


class DescribeRegister:
    def test_reads_values_stored_under_an_earlier_name(self, codec):
        @dataclass
        class Task:
            name: str
            prio: int

        codec.registry.register(Task, aliases=[f"{__name__}.Job"])

        assert codec.decode(written(Job("a", 3))) == Task("a", 3)

    def test_works_as_a_decorator_with_and_without_arguments(self, codec):
        @codec.registry.register
        @dataclass
        class A:
            x: int

        @codec.registry.register(aliases=["old.B"])
        @dataclass
        class B:
            x: int

        assert codec.decode(codec.encode([A(1), B(2)])) == [A(1), B(2)]
        assert codec.registry.find("old.B") is B

    def test_takes_classes_only(self, codec):
        with pytest.raises(TypeError, match="takes a class"):
            codec.registry.register("app.Job")

    def test_is_found_where_people_look_for_it(self):
        import stepwell.checkpoint.serde as public
        from stepwell.serde.registry import registry

        assert public.register.__self__ is registry


class DescribeAClassThatChanged:
    def reading(self, cls: type) -> Codec:
        registry = Registry()
        registry.register(cls, aliases=[f"{__name__}.Job", f"{__name__}.Base"])
        return Codec(registry)

    def test_fills_gained_fields_with_their_defaults(self):
        @dataclass
        class More:
            name: str
            prio: int
            owner: str = "nobody"
            tags: Any = None

        assert self.reading(More).decode(written(Job("a", 2))) == More("a", 2)

    def test_leaves_out_lost_fields_and_says_so(self):
        @dataclass
        class Fewer:
            name: str

        with pytest.warns(StoredTypeWarning, match="has a field 'prio' that the class no longer has"):
            assert self.reading(Fewer).decode(written(Job("a"))) == Fewer("a")

    def test_of_pydantic_does_the_same(self):
        class Other(BaseModel):
            y: list[int] = [7]

        with pytest.warns(StoredTypeWarning, match="'x'"):
            again = self.reading(Other).decode(written(Base(x=1)))

        assert again == Other() and again.model_fields_set == set()

    def test_may_turn_from_a_dataclass_into_a_model(self):
        class Modern(BaseModel):
            name: str
            prio: int

        assert self.reading(Modern).decode(written(Job("a", 2))) == Modern(name="a", prio=2)

    def test_that_gained_a_field_without_default_is_shown_as_unknown_and_named(self):
        @dataclass
        class Needy:
            name: str
            prio: int
            owner: str

        codec = self.reading(Needy)
        with pytest.warns(StoredTypeWarning, match="lacks owner, which has no default"):
            unknown = codec.decode(written(Job("a")))

        assert type(unknown) is Unknown and codec.encode(unknown) == written(Job("a"))

    def test_of_an_enum_is_found_by_value_when_the_name_is_gone(self):
        class Renamed(Enum):
            ENABLED = 1

        registry = Registry()
        registry.register(Renamed, aliases=[f"{__name__}.Phase"])

        assert Codec(registry).decode(written(Phase.ON)) is Renamed.ENABLED

    def test_of_an_enum_without_that_member_is_unknown(self):
        class Other(Enum):
            A = 5

        registry = Registry()
        registry.register(Other, aliases=[f"{__name__}.Phase"])

        with pytest.warns(StoredTypeWarning, match="ON"):
            assert type(Codec(registry).decode(written(Phase.ON))) is Unknown


class DescribeAClassThatBecameAnotherKind:
    def test_is_unknown(self):
        registry = Registry()
        registry.register(Phase, aliases=[f"{__name__}.Job"])

        unknown = Codec(registry).decode(written(Job("a")))

        assert type(unknown) is Unknown and unknown.data == {"name": "a", "prio": 1}

    def test_whose_base_changed_is_unknown_and_named(self):
        number = type("Amount", (int,), {})
        text = type("Amount", (str,), {})
        registry = Registry()
        registry.register(text)

        with pytest.warns(StoredTypeWarning, match="a value of its base str"):
            unknown = Codec(registry).decode(written(number(5)))

        assert type(unknown) is Unknown and unknown.data == 5


class DescribeAModelThatGainedAPrivateAttribute:
    def test_gets_its_default(self):
        class Now(BaseModel):
            x: int = 0
            _tries: int = PrivateAttr(default=3)

        registry = Registry()
        registry.register(Now, aliases=[f"{__name__}.Base"])

        assert Codec(registry).decode(written(Base(x=1)))._tries == 3


class DescribeAnotherProcess:
    CODE = """
        import sys
        from stepwell.serde import Codec, registry
        value = Codec().decode(bytes.fromhex(sys.argv[1]))
        print(type(value).__name__, "tests" in sys.modules, "langchain_core" in sys.modules, "numpy" in sys.modules)
    """

    def test_does_not_import_the_module_that_the_bytes_name(self):
        asked = [sys.executable, "-c", textwrap.dedent(self.CODE), written(Job("a")).hex()]

        answer = subprocess.run(asked, capture_output=True, text=True, check=True)

        assert answer.stdout.split() == ["Unknown", "False", "False", "False"]
