"""Annotations are read alike on every Python, also where a name in them is not known."""

import sys
from dataclasses import dataclass
from typing import Annotated, TypedDict

import pytest

from stepwell.annotations import own_annotations, text_of
from stepwell.nodes.signature import signature_of
from stepwell.plan.schema import has_keys

LATE = """
class Keyed:
    known: int
    unknown: "Nowhere"

def node(state: "Nowhere", config: "RunnableConfig", runtime: "Nothing") -> dict: ...
"""


@dataclass
class Base:
    a: int


@dataclass
class Derived(Base):
    b: "int"


class DescribeOwnAnnotations:
    def test_are_those_of_the_class_alone(self):
        assert list(own_annotations(Base)) == ["a"] and list(own_annotations(Derived)) == ["b"]
        assert own_annotations(object) == {} and own_annotations(int) == {}

    def test_that_name_what_is_not_known_stand_as_text(self):
        names: dict = {}
        exec(LATE, names)

        found = own_annotations(names["Keyed"])

        assert found["known"] is int and text_of(found["unknown"]) == "Nowhere"

    @pytest.mark.skipif(sys.version_info < (3, 14), reason="an unknown name is an error when the class is made")
    def test_without_quotation_marks_stand_as_text_too(self):
        names: dict = {}
        exec(LATE.replace('"', ""), names)

        assert text_of(own_annotations(names["Keyed"])["unknown"]) == "Nowhere"
        assert [name for name, _ in signature_of(names["node"]).extras] == ["config"]


class DescribeASchema:
    @pytest.mark.parametrize("cls", [Base, Derived, TypedDict("T", {"a": int}), type("Sub", (Base,), {})])
    def test_with_keys_is_told_from_a_bare_type(self, cls):
        assert has_keys(cls)
        assert not has_keys(int) and not has_keys(Annotated[list, sum])


class DescribeASignature:
    def test_with_a_name_for_type_checkers_only_is_read_all_the_same(self):
        names: dict = {}
        exec(LATE, names)

        assert [name for name, _ in signature_of(names["node"]).extras] == ["config"]
