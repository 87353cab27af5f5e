"""State as JSON: everything gets a form, nothing raises."""

from __future__ import annotations

import json
from collections import namedtuple
from dataclasses import dataclass

import pytest
from langchain_core.messages import HumanMessage

from stepwell.cli.asjson import as_json
from stepwell.types import Unknown

Point = namedtuple("Point", "x y")


@dataclass
class Basket:
    items: list


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ({"a": 1, 2: None}, {"a": 1, "2": None}),
        ((1, [True, 1.5]), [1, [True, 1.5]]),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (b"\xff", "/w=="),
        ("小明", "小明"),
        ("\ud800", "?"),
        (Point(1, 2), {"x": 1, "y": 2}),
        (Basket([1]), {"items": [1]}),
        (Unknown("app.Old", {"a": 1}), {"type": "app.Old", "data": {"a": 1}}),
        (HumanMessage("hi", id="1"), {"role": "you", "text": "hi", "id": "1", "name": None, "calls": []}),
        (3 + 4j, "(3+4j)"),
    ],
)
def test_every_value_has_a_form_in_json(value, form):
    assert json.loads(as_json(value)) == form


def test_a_set_becomes_a_list():
    assert sorted(json.loads(as_json({1, 2}))) == [1, 2]
