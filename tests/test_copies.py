"""What is handed to somebody else's code is theirs to edit."""

from collections import Counter, OrderedDict, defaultdict, deque

import pytest

from stepwell.copies import copied, copied_writes, is_flat
from stepwell.errors import UnstorableTypeError
from stepwell.types import START, Overwrite, Send


class DescribeACopy:
    @pytest.mark.parametrize(
        "value",
        [
            [1, [2]], {"a": [1]}, {1, 2}, deque([[1]], maxlen=3), bytearray(b"x"), OrderedDict(a=[1]),
            defaultdict(list, a=[1]), Counter("aab"), ([1], 2),
        ],
    )  # fmt: skip
    def test_is_equal_of_the_same_type_and_another_object(self, value):
        copy = copied(value)

        assert copy == value
        assert type(copy) is type(value)
        assert copy is not value

    def test_reaches_every_depth(self):
        value = {"a": [{"b": [1]}]}

        copied(value)["a"][0]["b"].append(2)

        assert value == {"a": [{"b": [1]}]}

    def test_shares_objects(self):
        thing = object()

        assert copied([thing])[0] is thing

    def test_is_the_tuple_itself_where_nothing_in_it_can_be_edited(self):
        value = (1, ("a", None))

        assert copied(value) is value

    def test_keeps_the_length_a_deque_is_bound_to_and_the_factory_of_a_defaultdict(self):
        assert copied(deque([1], maxlen=3)).maxlen == 3
        assert copied(defaultdict(list)).default_factory is list

    def test_decouples_the_argument_of_a_send_and_the_value_of_an_overwrite(self):
        send, overwrite = Send("node", {"a": [1]}), Overwrite([1])

        assert copied(send) == send
        assert copied(send).arg is not send.arg
        assert copied(overwrite).value is not overwrite.value

    def test_is_the_send_itself_where_its_argument_cannot_be_edited(self):
        send = Send("node", 1)

        assert copied(send) is send

    def test_knows_which_containers_one_shallow_copy_decouples(self):
        assert is_flat([1, "a"])
        assert is_flat({"a": 1})
        assert not is_flat([[1]])
        assert not is_flat({"a": [1]})


class DescribeAValueThatHasNoEnd:
    def endless(self):
        value = {}
        value["self"] = value
        return value

    def test_is_refused_by_the_name_of_its_key_and_who_gave_it(self):
        with pytest.raises(UnstorableTypeError, match=r"channel 'x': node 'a' gave a dict that contains itself"):
            copied_writes([("y", 1), ("x", self.endless())], "node", "a")

    def test_in_an_input_is_named_by_its_own_key(self):
        with pytest.raises(UnstorableTypeError, match=r"channel 'b': the input gave a dict that contains itself"):
            copied_writes([(START, {"a": 1, "b": self.endless()})], "the input")

    def test_that_is_the_input_itself_is_named_as_such(self):
        with pytest.raises(UnstorableTypeError, match=r"channel '__start__': the input gave a list"):
            copied_writes([(START, [self.endless()])], "the input")
