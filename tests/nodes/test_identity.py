"""Which callable this is, exactly."""

import os
import subprocess
import sys
from functools import partial
from types import CodeType

from stepwell.graph import START, StateGraph
from stepwell.nodes.identity import identity_of
from stepwell.types import CachePolicy

SETTING = 1


def one(state):
    return 1


def two(state):
    return 2


class Shout:
    def __init__(self, mark="!"):
        self.mark = mark

    def __call__(self, state):
        return state + self.mark

    def method(self, state):
        return state


class Whisper(Shout):
    pass


def adder(amount):
    return lambda state: state + amount


class DescribeAnIdentity:
    def test_is_the_same_each_time(self):
        assert identity_of(one) == identity_of(one)
        assert identity_of(Shout()) == identity_of(Shout())
        assert identity_of(partial(one, a=1, b=2)) == identity_of(partial(one, b=2, a=1))

    def test_differs_between_functions(self):
        assert identity_of(one) != identity_of(two)

    def test_differs_between_lambdas_of_one_line(self):
        first, second = (lambda s: 1), (lambda s: 2)

        assert identity_of(first) != identity_of(second)

    def test_differs_between_classes_of_objects(self):
        assert identity_of(Shout()) != identity_of(Whisper())

    def test_differs_between_settings_of_objects(self):
        assert identity_of(Shout("!")) != identity_of(Shout("?"))
        assert identity_of(Shout("!").method) != identity_of(Shout("?").method)
        assert identity_of(Shout().method) != identity_of(Shout())

    def test_differs_between_what_a_partial_holds(self):
        assert identity_of(partial(one, 1)) != identity_of(partial(one, 2))
        assert identity_of(partial(one, 1)) != identity_of(partial(one, "1"))

    def test_differs_between_what_a_closure_holds(self):
        assert identity_of(adder(1)) != identity_of(adder(2))
        assert identity_of(adder(1)) == identity_of(adder(1))

    def test_differs_between_defaults(self):
        functions = [lambda s, n=n: n for n in (1, 2)]

        assert identity_of(functions[0]) != identity_of(functions[1])

    def test_differs_between_keyword_defaults(self):
        functions = [lambda s, *, n=n: n for n in (1, 2)]

        assert identity_of(functions[0]) != identity_of(functions[1])

    def test_looks_into_containers(self):
        assert identity_of(Shout({"a": [1, (2,)]})) == identity_of(Shout({"a": [1, (2,)]}))
        assert identity_of(Shout({"a": [1]})) != identity_of(Shout({"a": [2]}))
        assert identity_of(Shout({3, 1})) == identity_of(Shout({1, 3}))

    def test_tells_opaque_objects_apart_while_the_process_lives(self):
        assert identity_of(Shout(object())) != identity_of(Shout(object()))

        held = object()
        assert identity_of(Shout(held)) == identity_of(Shout(held))

    def test_stops_at_some_depth(self):
        deep = Shout()
        deep.mark = deep

        assert identity_of(deep) == identity_of(deep)

    def test_knows_functions_that_refer_to_what_is_not_there_yet(self):
        def outer():
            def inner(state):
                return later(state)

            found = identity_of(inner)
            later = one
            return found, later

        assert outer()[0]

    def test_knows_built_ins_classes_and_modules_by_name(self):
        assert identity_of(partial(one, len, int, os)) == identity_of(partial(one, len, int, os))
        assert identity_of(partial(one, int)) != identity_of(partial(one, str))

    def test_takes_nested_code_for_part_of_a_function(self):
        assert any(isinstance(constant, CodeType) for constant in adder.__code__.co_consts)
        assert identity_of(adder) == identity_of(adder)

    def test_of_a_graph_is_its_own_unless_its_nodes_are_known(self):
        def build(action, **options):
            return StateGraph(dict).add_node("n", action, **options).add_edge(START, "n").compile()

        assert identity_of(build(one)) != identity_of(build(one))
        cached = {"cache_policy": CachePolicy()}
        assert identity_of(build(one, **cached).plan.nodes["n"].cache_ns[1]) == identity_of(
            build(one, **cached).plan.nodes["n"].cache_ns[1]
        )

    def test_is_the_same_in_another_process(self):
        code = (
            "from tests.nodes.test_identity import *; print(identity_of(partial(one, {'a': 1})), identity_of(Shout()))"
        )

        printed = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()

        assert printed == [identity_of(partial(one, {"a": 1})), identity_of(Shout())]
