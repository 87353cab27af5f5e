"""Taking threads, and what is old in them, away: what goes is said, what stays reads as before."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepwell.checkpoint.memory import InMemorySaver
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import ConfigError, ThreadBusyError, ThreadNotFoundError
from stepwell.graph import START, StateGraph
from stepwell.saves import At, LeaseWish
from stepwell.threads import delete_threads, list_threads, prune_threads, vacuum_database
from stepwell.types import Command, interrupt
from tests.specs.given import cfg

Talk = Callable[..., list[str]]
KEEP = ({"keep_turns": 1}, {"keep_turns": 2}, {"newer_than": 0}, {})


def everything(saver: Any, thread: str = "t") -> dict[tuple[str, str], Any]:
    """Every checkpoint of a thread, as it reads."""
    found = saver.list({"configurable": {"thread_id": thread}})
    return {
        (each.config["configurable"]["checkpoint_ns"], each.checkpoint["id"]): each.checkpoint["channel_values"]
        for each in found
    }


def hold(saver: Any, thread: str) -> Any:
    """A run that has the thread."""
    return saver.perform(saver.load(At(thread, ""), lease=LeaseWish("somebody", 0))).fence


class DescribeDeletingThreads:
    def test_takes_them_whole_and_says_how_much(self, saver: Any, talk: Talk) -> None:
        for thread in ("t", "u", "v"):
            talk(thread, "one", "two")

        removal = delete_threads(saver, ["t", "u"])

        assert [(each.thread_id, each.checkpoints) for each in removal.removed] == [("t", 6), ("u", 6)]
        assert removal.size_bytes > 0
        assert [info.thread_id for info in list_threads(saver)] == ["v"]

    def test_a_dry_run_says_the_same_and_changes_nothing(self, saver: Any, talk: Talk) -> None:
        talk("t", "one", "two")
        before = everything(saver)

        looked = delete_threads(saver, ["t"], dry_run=True)

        assert everything(saver) == before
        assert delete_threads(saver, ["t"]).removed == looked.removed

    @pytest.mark.claim("B-42")
    def test_twice_is_not_found(self, saver: Any, talk: Talk) -> None:
        talk("t", "one")
        delete_threads(saver, ["t"])

        with pytest.raises(ThreadNotFoundError, match="'t'"):
            delete_threads(saver, ["t"])

    def test_leaves_those_alone_that_a_run_holds(self, saver: Any, talk: Talk) -> None:
        talk("t", "one")
        talk("u", "one")
        fence = hold(saver, "t")

        removal = delete_threads(saver, ["t", "u"])

        assert removal.busy == ("t",)
        assert [info.thread_id for info in list_threads(saver)] == ["t"]
        saver.perform(saver.release(fence))


class DescribePruningThreads:
    def test_keeps_the_last_turns_of_a_branch(self, saver: Any, talk: Talk, texts: Callable[..., list[str]]) -> None:
        talk("t", *"abcde")

        removal = prune_threads(saver, ["t"], keep_turns=2)

        assert (removal.checkpoints, removal.removed[0].left) == (9, 6)
        assert texts("t") == list("abcde")

    def test_keeps_heads_leaves_tags_and_the_places_where_lines_part(self, saver: Any, talk: Talk) -> None:
        talk("t", *"abcdef")
        ids = [each.checkpoint["id"] for each in saver.list({"configurable": {"thread_id": "t"}})]
        saver.tag({"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": ids[-2]}}, "good")
        saver.create_branch({"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": ids[9]}}, "side")
        talk("t", "x", "y", branch="side")
        talk("t", "z", checkpoint_id=ids[6])
        before = everything(saver)

        prune_threads(saver, ["t"], keep_turns=1)

        left = everything(saver)
        heads = {head.checkpoint_id for head in saver.branches("t")}
        assert heads | {ids[-2], ids[9], ids[6]} <= {id for _, id in left}
        assert all(before[key] == value for key, value in left.items())

    def test_keeps_what_is_newer(self, saver: Any, talk: Talk) -> None:
        talk("t", *"abc")
        now = datetime.now(UTC)

        assert prune_threads(saver, ["t"], newer_than=3600).checkpoints == 0
        assert prune_threads(saver, ["t"], newer_than=now - timedelta(hours=1)).checkpoints == 0
        assert prune_threads(saver, ["t"], newer_than=now + timedelta(hours=1), keep_turns=2).checkpoints == 3
        assert prune_threads(saver, ["t"], newer_than=timedelta(0)).removed[0].left == 1

    def test_keeps_a_question_that_waits(self, saver: Any) -> None:
        builder = StateGraph(dict)
        builder.add_node("ask", lambda state: {"answer": interrupt("well?")})
        builder.add_edge(START, "ask")
        graph = builder.compile(checkpointer=saver)
        graph.invoke({"turn": 1}, cfg())
        asked = graph.get_state(cfg()).config
        saver.set_head(cfg(), next(graph.get_state_history(cfg())).parent_config["configurable"]["checkpoint_id"])
        (leaf,) = [head.name for head in saver.branches("t") if head.auto]
        saver.delete_branch("t", leaf)

        prune_threads(saver, ["t"], keep_turns=1)

        assert graph.invoke(Command(resume="yes"), asked)["answer"] == "yes"

    def test_a_dry_run_is_exact_and_changes_nothing(self, saver: Any, talk: Talk) -> None:
        talk("t", *"abcdef")
        before = everything(saver)

        looked = prune_threads(saver, ["t"], keep_turns=2, dry_run=True)

        assert everything(saver) == before
        done = prune_threads(saver, ["t"], keep_turns=2)
        assert done.removed == looked.removed
        assert done.size_bytes > 0 or isinstance(saver, InMemorySaver)

    def test_leaves_those_alone_that_a_run_holds(self, saver: Any, talk: Talk) -> None:
        talk("t", "a", "b")
        fence = hold(saver, "t")

        assert prune_threads(saver, ["t"], keep_turns=1).busy == ("t",)
        with pytest.raises(ThreadBusyError):
            saver.prune(["t"], keep_turns=1)
        saver.perform(saver.release(fence))

    @pytest.mark.parametrize(
        "rule", [{"keep_turns": 0}, {"keep_turns": True}, {"newer_than": -1}, {"newer_than": "3d"}]
    )
    def test_refuses_a_rule_that_is_none(self, saver: Any, talk: Talk, rule: Any) -> None:
        talk("t", "a")

        with pytest.raises(ConfigError, match=next(iter(rule))):
            prune_threads(saver, ["t"], **rule)
        with pytest.raises(ConfigError, match=next(iter(rule))):
            saver.prune(["t"], **rule)

    def test_refuses_to_keep_turns_and_nothing(self, saver: Any, talk: Talk) -> None:
        talk("t", "a")

        with pytest.raises(ValueError, match="keeps nothing"):
            saver.prune(["t"], strategy="delete", keep_turns=1)

    async def test_does_the_same_on_an_event_loop(self, saver: Any, talk: Talk) -> None:
        talk("t", *"abc")

        looked = await saver.atrim_thread("t", keep_turns=1, dry_run=True)
        await saver.aprune(["t"], keep_turns=1)

        assert (looked.taken.checkpoints, looked.left.checkpoints) == (6, 3)
        assert len(everything(saver)) == 3
        assert (await saver.adrop_thread("t")).taken.checkpoints == 3


class DescribeVacuum:
    def test_gives_room_back(self, tmp_path: Any) -> None:
        with SqliteSaver(tmp_path / "x.db") as saver:
            builder = StateGraph(dict)
            builder.add_node("work", lambda state: {"text": state["text"] * 2})
            builder.add_edge(START, "work")
            builder.compile(checkpointer=saver).invoke({"text": "x" * 500_000}, cfg())
            delete_threads(saver, ["t"])

            done = vacuum_database(saver)

            assert done.after_bytes < 200_000 < 1_000_000 < done.before_bytes
            assert saver.space().free_bytes == 0


def nested() -> Any:
    """A graph around one with a memory of its own and one without."""
    from tests.threads.nested import outer

    return outer()


@pytest.mark.claim("H-11")
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    moves=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40)), min_size=2, max_size=7), keep=st.sampled_from(KEEP)
)
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_what_stays_reads_as_before(kind: str, moves: Any, keep: Any) -> None:
    saver: Any = InMemorySaver() if kind == "memory" else SqliteSaver(":memory:")
    graph = nested().compile(checkpointer=saver)
    branches = ["main"]
    for number, (what, where) in enumerate(moves):
        roots = [id for ns, id in everything(saver) if ns == ""]
        if what == 5 and roots:
            at = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": roots[where % len(roots)]}}
            saver.create_branch(at, f"b{number}")
            branches.append(f"b{number}")
        elif what == 4 and roots:
            graph.update_state(cfg("t", checkpoint_id=roots[where % len(roots)]), {"log": [number]}, as_node="own")
        else:
            graph.invoke({"log": [number]}, cfg("t", branch=branches[where % len(branches)]))
    before = everything(saver)
    heads = {head.name: head.checkpoint_id for head in saver.branches("t")}
    looked = saver.trim_thread("t", **keep, dry_run=True)
    assert everything(saver) == before

    done = saver.trim_thread("t", **keep)

    left = everything(saver)
    assert looked == done
    assert (len(left), len(before) - len(left)) == (done.left.checkpoints, done.taken.checkpoints)
    assert all(before[key] == value for key, value in left.items())
    now = {head.name: head.checkpoint_id for head in saver.branches("t")}
    assert now == heads if keep else now.items() <= heads.items()
    graph.invoke({"log": ["after"]}, cfg("t", branch=branches[-1]))
    saver.close() if kind == "sqlite" else None
