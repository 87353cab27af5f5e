"""The chain of a thread as a tree."""

from __future__ import annotations

import pytest

from stepwell.demo import conversation
from stepwell.demo.graph import Conversation
from stepwell.errors import BranchNotFoundError, CheckpointNotFoundError
from stepwell.graph import START, StateGraph
from stepwell.threads import fork_thread, read_log, rewind_thread, steps_back, turns_back


def drawn(log):
    lines = [f"{line.lanes} {line.turn.said}" if line.turn else line.lanes for line in log.lines]
    return "\n".join(line.rstrip() for line in lines)


class DescribeALog:
    def test_is_a_line_for_each_turn_newest_first(self, saver, talk):
        talk("t", "one", "two", "three")

        assert drawn(read_log(saver, "t")) == "* three\n* two\n* one"

    def test_tells_what_was_answered_and_by_which_node(self, saver, talk):
        talk("t", "My name is Ada.")

        (turn,) = read_log(saver, "t").turns

        assert turn.reply == "Nice to meet you, Ada. I will remember that." and turn.nodes == ("answer",)

    def test_of_steps_is_a_line_for_each_checkpoint(self, saver, talk):
        talk("t", "one")

        entries = [turn.last for turn in read_log(saver, "t", steps=True).turns]

        assert [(entry.step, entry.source, entry.nodes, entry.next) for entry in entries] == [
            (1, "loop", ("answer",), ()),
            (0, "loop", (), ("answer",)),
            (-1, "input", (), ("__start__",)),
        ]

    def test_b60_shows_two_lines_from_one_checkpoint(self, saver, talk):
        talk("t", "one", "two", "three")
        fork_thread(saver, "t", turns_back(saver, "t", 2), name="other")
        talk("t", "else", branch="other")

        assert drawn(read_log(saver, "t")) == "* three\n* two\n| * else\n|/\n* one"

    def test_has_branches_and_tags_at_their_heads(self, saver, talk):
        talk("t", "one", "two")
        fork_thread(saver, "t", turns_back(saver, "t", 1), name="other")
        head = saver.branches("t")[0].checkpoint_id
        saver.tag({"configurable": {"thread_id": "t", "checkpoint_id": head}}, "good")

        two, one = (turn.last for turn in read_log(saver, "t").turns)

        assert (two.branches, two.tags, one.branches) == (("main",), ("good",), ("other",))

    def test_leaves_out_what_a_rewind_left_behind_but_says_so(self, saver, talk):
        talk("t", "one", "two")
        rewind_thread(saver, "t", turns_back(saver, "t", 1))
        talk("t", "else")

        log = read_log(saver, "t")

        assert drawn(log) == "* else\n* one" and len(log.left_out) == 1
        assert drawn(read_log(saver, "t", leaves=True)) == "* else\n| * two\n|/\n* one"

    def test_b60_tells_what_was_said_and_answered_at_each_end_of_a_turn_that_splits(self, saver, talk):
        talk("t", "zero", "one")
        rewind_thread(saver, "t", steps_back(saver, "t", 1))
        graph = conversation().compile(checkpointer=saver)
        graph.invoke(None, {"configurable": {"thread_id": "t"}})

        ends = [(turn.said, turn.reply) for turn in read_log(saver, "t", leaves=True).turns if turn.last.next == ()]

        reply = "You said: “{}”. That was turn {} of our conversation."
        assert ends == [("one", reply.format("one", 2))] * 2 + [("zero", reply.format("zero", 1))]
        assert (read_log(saver, "t").turns[0].said, read_log(saver, "t").turns[0].reply) == ends[0]

    def test_of_a_turn_that_splits_takes_an_older_answer_for_none_of_it(self, saver, talk):
        talk("t", "one")
        graph = StateGraph(Conversation).add_node("looks", lambda state: {}).add_edge(START, "looks")
        compiled = graph.compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "t"}}
        compiled.invoke({"messages": [("user", "two")]}, config)
        rewind_thread(saver, "t", steps_back(saver, "t", 1))
        compiled.invoke(None, config)

        ends = [(turn.said, turn.reply) for turn in read_log(saver, "t", leaves=True).turns if turn.last.next == ()]

        assert ends[:2] == [("two", "")] * 2

    def test_of_one_branch_is_its_line(self, saver, talk):
        talk("t", "one", "two")
        fork_thread(saver, "t", turns_back(saver, "t", 1), name="other")
        talk("t", "else", branch="other")

        assert drawn(read_log(saver, "t", branch="other")) == "* else\n* one"

    def test_of_a_branch_that_is_not_there_names_those_that_are(self, saver, talk):
        talk("t", "one")

        with pytest.raises(BranchNotFoundError, match=r"no branch 'x'\. It has: main"):
            read_log(saver, "t", branch="x")

    def test_without_texts_reads_no_message(self, saver, talk):
        talk("t", "one")

        (turn,) = read_log(saver, "t", texts=False).turns

        assert (turn.said, turn.reply) == ("", "")

    def test_of_a_long_thread_reads_every_page(self, saver, talk):
        talk("t", *map(str, range(180)))

        assert [turn.said for turn in read_log(saver, "t").turns] == [str(n) for n in reversed(range(180))]


class DescribeALogInPages:
    def test_shows_the_same_lines_page_by_page_as_at_once(self, saver, talk):
        talk("t", *map(str, range(8)))
        for turns in (2, 3, 5):
            fork_thread(saver, "t", turns_back(saver, "t", turns), name=f"b{turns}")
            talk("t", "x", "y", branch=f"b{turns}")
        whole = read_log(saver, "t")

        for steps in (False, True):
            whole = read_log(saver, "t", steps=steps)
            page = read_log(saver, "t", steps=steps, limit=3)
            pages = [page]
            while page.next is not None:
                page = read_log(saver, "t", steps=steps, limit=3, before=page.next)
                pages.append(page)

            assert [line for page in pages for line in page.lines] == list(whole.lines)
            assert [page.left for page in pages] == [max(len(whole.turns) - 3 * n, 0) for n in range(1, len(pages) + 1)]

    def test_goes_on_where_it_ended_though_the_thread_has_grown(self, saver, talk):
        talk("t", "one", "two", "three")
        first = read_log(saver, "t", limit=1)
        talk("t", "four")

        assert drawn(read_log(saver, "t", limit=1, before=first.next)) == "* two"

    def test_behind_a_checkpoint_that_it_has_not_is_an_error(self, saver, talk):
        talk("t", "one")

        with pytest.raises(CheckpointNotFoundError, match="to go on behind"):
            read_log(saver, "t", before="01a22dd9-5994-742d-90f2-025ada94295b")

    def test_reads_only_the_turns_it_shows(self, saver, talk, monkeypatch):
        talk("t", *map(str, range(12)))
        read = []
        excerpts = saver.excerpts

        def noted(config, stretches, channels=()):
            read.extend(stretches)
            return excerpts(config, stretches, channels)

        monkeypatch.setattr(saver, "excerpts", noted)

        read_log(saver, "t", limit=2)

        assert sum(count for _, count in read) == 6

    def test_says_how_many_checkpoints_were_pruned_before_one(self, saver, talk):
        talk("t", "one", "two")
        saver.prune(["t"])

        (turn,) = read_log(saver, "t").turns

        assert [entry.cut for entry in turn.entries] == [5]
