"""From what a person types to a thread or a checkpoint."""

from __future__ import annotations

import pytest

from stepwell.errors import AmbiguousIdError, CheckpointNotFoundError, ThreadNotFoundError
from stepwell.threads import find_checkpoint, find_thread, read_log, short_id, similar_ids


class DescribeFindingAThread:
    def test_takes_the_whole_id(self, saver, talk):
        talk("shopping", "hi")

        assert find_thread(saver, "shopping") == "shopping"

    def test_takes_a_beginning_that_only_one_thread_has(self, saver, talk):
        talk("shopping", "hi")
        talk("travel", "hi")

        assert find_thread(saver, "sho") == "shopping"

    def test_takes_a_whole_id_that_others_begin_with(self, saver, talk):
        talk("a", "hi")
        talk("ab", "hi")

        assert find_thread(saver, "a") == "a"

    def test_h14_names_the_candidates_of_an_ambiguous_beginning(self, saver, talk):
        talk("shop-1", "hi")
        talk("shop-2", "hi")

        with pytest.raises(AmbiguousIdError, match="2 threads begin with 'shop'") as caught:
            find_thread(saver, "shop")

        assert set(caught.value.candidates) == {"shop-1", "shop-2"}

    @pytest.mark.parametrize("wildcard", ["%", "_", "a%", "a_", "*", "a?c"])
    def test_h14_takes_wildcards_as_characters(self, saver, talk, wildcard):
        talk("abc", "hi")

        with pytest.raises(ThreadNotFoundError):
            find_thread(saver, wildcard)

    @pytest.mark.parametrize("id", ["50%-off", "a_b"])
    def test_h14_finds_an_id_that_has_such_characters(self, saver, talk, id):
        talk(id, "hi")
        talk("50 other", "hi")
        talk("axb", "hi")

        assert find_thread(saver, id[:3]) == id

    def test_a84_says_which_ids_are_similar_when_there_is_none(self, saver, talk):
        talk("shopping-list", "hi")

        with pytest.raises(ThreadNotFoundError, match=r"no thread 'shoping-list'\. Did you mean shopping-list\?"):
            find_thread(saver, "shoping-list")

    def test_a84_creates_nothing_by_looking(self, saver):
        with pytest.raises(ThreadNotFoundError):
            find_thread(saver, "nobody")

        assert saver.list_threads() == [] and list(saver.list(None)) == []

    def test_of_nothing_finds_nothing(self, saver, talk):
        talk("a", "hi")

        with pytest.raises(ThreadNotFoundError):
            find_thread(saver, "")


class DescribeSimilarIds:
    def test_are_close_in_spelling_or_hold_the_text_whatever_its_case(self):
        assert similar_ids("Shoping", ["travel", "shopping", "my-shoping-list"]) == ["shopping", "my-shoping-list"]

    def test_are_three_at_most(self):
        assert len(similar_ids("a", [f"a{n}" for n in range(9)])) == 3

    def test_are_none_where_nothing_is_close(self):
        assert similar_ids("zzz", ["shopping", "travel"]) == []


class DescribeFindingACheckpoint:
    def test_takes_an_id_its_short_form_or_a_beginning(self, saver, talk):
        talk("t", "one", "two")
        head = saver.branches("t")[0].checkpoint_id

        found = {find_checkpoint(saver, "t", text) for text in (head, head.upper(), short_id(head), head[:35])}

        assert found == {head}

    def test_takes_a_branch_and_a_tag(self, saver, talk):
        talk("t", "one")
        head = saver.branches("t")[0].checkpoint_id
        saver.tag({"configurable": {"thread_id": "t", "checkpoint_id": head}}, "good")

        assert find_checkpoint(saver, "t", "main") == find_checkpoint(saver, "t", "good") == head

    def test_short_forms_tell_the_checkpoints_of_a_thread_apart(self, saver, talk):
        talk("t", *map(str, range(10)))
        ids = [entry.checkpoint_id for turn in read_log(saver, "t", steps=True).turns for entry in turn.entries]

        assert len({short_id(id) for id in ids}) == len(ids) > 20

    def test_names_the_candidates_of_an_ambiguous_beginning(self, saver, talk):
        talk("t", "one")

        with pytest.raises(AmbiguousIdError, match="checkpoints of thread 't' fit '0'"):
            find_checkpoint(saver, "t", "0")

    def test_of_what_is_not_there_says_where_to_look(self, saver, talk):
        talk("t", "one")

        with pytest.raises(CheckpointNotFoundError, match="stepwell log t"):
            find_checkpoint(saver, "t", "nothing")
