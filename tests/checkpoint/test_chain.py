"""What an engine may rely on in a chain of ours, in memory and in SQLite alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepwell.checkpoint.row_sql import Sealer
from stepwell.errors import (
    BranchNotFoundError,
    DatabaseError,
    DuplicateCheckpointError,
    ParentMissingError,
    SealError,
    StaleRunError,
    ThreadBusyError,
    UnstorableTypeError,
)
from stepwell.saves import At, LeaseWish, Pending
from stepwell.serde.encrypted import EncryptedSerializer
from stepwell.types import Interrupt
from tests.checkpoint.chains import SqliteChain, Walk, open_chain, pages, read, task

LONG = "text " * 40


@pytest.fixture(params=["memory", "sqlite"])
def chain(request: pytest.FixtureRequest) -> Any:
    return open_chain(request.param)


def ids(chain: Any, **more: Any) -> list[str]:
    return [loaded.at.checkpoint for loaded in pages(chain, At("t", ""), **more)]


class DescribeLoading:
    def test_an_unknown_thread_gives_nothing(self, chain: Any) -> None:
        assert read(chain) is None

    def test_an_unknown_thread_with_a_lease_is_an_empty_one(self, chain: Any) -> None:
        walk = Walk(chain)

        assert (walk.loaded.step, dict(walk.loaded.values), walk.loaded.last_id) == (-2, {}, "")
        assert walk.fence is not None

    def test_gives_what_was_saved_beside_the_values(self, chain: Any) -> None:
        walk = Walk(chain)
        id = walk.save(
            {"a": 1},
            next=("b",),
            metadata={"source": "loop", "step": -1, "parents": {}, "user": "ann", "deep": [1, {"x": None}]},
        )

        found = read(chain)

        assert (found.at.checkpoint, found.parent, found.step, found.source) == (id, None, -1, "loop")
        assert found.metadata == {"source": "loop", "step": -1, "parents": {}, "user": "ann", "deep": [1, {"x": None}]}
        assert (found.next, found.ts, found.run) == (("b",), "2026-11-30T19:00:00.000001+00:00", walk.run)
        assert found.versions == {"a": 1 << 20 | 7}
        assert found.seen == {"node": {"branch:to:node": 1 << 20 | 7}}

    def test_gives_fresh_objects_each_time(self, chain: Any) -> None:
        Walk(chain).save({"a": [LONG] * 20})

        read(chain).values["a"].append("mine")

        assert len(read(chain).values["a"]) == 20

    def test_gives_the_same_object_each_time_within_one_load(self, chain: Any) -> None:
        Walk(chain).save({"a": [LONG] * 20})
        found = read(chain)

        assert found.values["a"] is found.values["a"]

    def test_values_of_an_earlier_checkpoint_are_those_of_then(self, chain: Any) -> None:
        walk = Walk(chain)
        first = walk.save({"a": 1, "b": LONG})
        walk.save({"a": 2}, dropped=("b",))

        assert dict(read(chain, first).values) == {"a": 1, "b": LONG}
        assert dict(read(chain).values) == {"a": 2}

    def test_a_dropped_channel_keeps_its_version(self, chain: Any) -> None:
        walk = Walk(chain)
        walk.save({"a": 1})
        walk.save({}, dropped=("a",))

        assert read(chain).versions == {"a": 1 << 20 | 7}

    def test_versions_of_other_makers_come_back(self, chain: Any) -> None:
        walk = Walk(chain)
        staged = walk.stage({"a": 1}, seen={"n": {"a": "00001.5"}})
        chain.perform(chain.commit([staged], walk.fence))
        walk.versions.clear()

        assert read(chain).seen == {"n": {"a": "00001.5"}}


class DescribeACommit:
    def test_of_a_run_that_lost_its_thread_writes_nothing(self, chain: Any) -> None:
        walk = Walk(chain)
        walk.save({"a": 1})
        staged = walk.stage({"a": 2})
        walk.end()
        other = Walk(chain)

        with pytest.raises(StaleRunError, match=walk.run):
            chain.perform(chain.commit([staged], walk.fence))

        assert read(chain).values["a"] == 1
        other.end()

    def test_of_a_run_that_lost_its_thread_does_not_make_it_anew(self, chain: Any) -> None:
        walk = Walk(chain)
        staged = walk.stage({"a": 1})
        walk.end()

        with pytest.raises(StaleRunError):
            chain.perform(chain.commit([staged], walk.fence))

        assert chain.perform(chain.exists("t")) is False

    def test_without_a_lease_is_refused_while_somebody_holds_it(self, chain: Any) -> None:
        walk = Walk(chain)
        staged = walk.stage({"a": 1})

        with pytest.raises(ThreadBusyError):
            chain.perform(chain.commit([staged], None))

    def test_on_another_head_than_expected_writes_nothing(self, chain: Any) -> None:
        walk = Walk(chain)
        walk.save({"a": 1})
        staged = walk.stage({"a": 2})
        staged.expect = "01a00000-0000-7000-8000-000000000000"

        with pytest.raises(StaleRunError, match="head"):
            chain.perform(chain.commit([staged], walk.fence))

        assert read(chain).values["a"] == 1

    def test_without_its_parent_writes_nothing(self, chain: Any) -> None:
        walk = Walk(chain)
        walk.save({"a": 1})
        walk.id, walk.head = "01a00000-0000-7000-8000-000000000000", None
        staged = walk.stage({"a": 2})

        with pytest.raises(ParentMissingError):
            chain.perform(chain.commit([staged], walk.fence))

        assert len(ids(chain)) == 1

    def test_again_is_done_already(self, chain: Any) -> None:
        walk = Walk(chain)
        staged = walk.stage({"a": 1})

        chain.perform(chain.commit([staged], walk.fence))
        chain.perform(chain.commit([staged], walk.fence))

        assert len(ids(chain)) == 1

    def test_of_an_id_with_other_content_is_an_error(self, chain: Any) -> None:
        walk = Walk(chain)
        walk.save({"a": 1})
        staged = walk.stage({"a": 2})
        chain.perform(chain.commit([staged], walk.fence))
        assert staged.row is not None
        other = walk.stage({"a": 3}, next=("other",))
        other.row.id = staged.row.id
        if hasattr(other, "columns"):
            other.columns = other.columns._replace(id=staged.columns.id)

        with pytest.raises(DuplicateCheckpointError):
            chain.perform(chain.commit([other], walk.fence))

    def test_of_several_is_whole_or_not_there(self, chain: Any) -> None:
        walk = Walk(chain)
        walk.save({"a": 1})
        first, second = walk.stage({"a": 2}), walk.stage({"a": 3})
        second.expect = "01a00000-0000-7000-8000-000000000000"

        with pytest.raises(StaleRunError):
            chain.perform(chain.commit([first, second], walk.fence))

        assert read(chain).values["a"] == 1

    def test_after_one_that_failed_goes_through(self, chain: Any) -> None:
        walk = Walk(chain)
        walk.save({"a": [LONG] * 9})
        id, head, base, step = walk.id, walk.head, walk.base, walk.step
        failed = walk.stage({"a": [LONG] * 9 + ["lost"]})
        failed.expect = "01a00000-0000-7000-8000-000000000000"
        with pytest.raises(StaleRunError):
            chain.perform(chain.commit([failed], walk.fence))

        walk.id, walk.head, walk.base, walk.step = id, head, base, step
        walk.save({"a": [LONG] * 9 + ["kept"]})

        assert read(chain).values["a"] == [LONG] * 9 + ["kept"]

    def test_that_releases_gives_the_thread_back(self, chain: Any) -> None:
        walk = Walk(chain)
        staged = walk.stage({"a": 1}, release=True)
        chain.perform(chain.commit([staged], walk.fence))

        assert Walk(chain).loaded.values["a"] == 1


class DescribeStaging:
    def test_a_value_that_cannot_be_stored_names_its_channel(self, chain: Any) -> None:
        walk = Walk(chain)

        with pytest.raises(UnstorableTypeError, match="callback"):
            walk.stage({"callback": lambda: None})

    def test_that_failed_leaves_no_trace(self, chain: Any) -> None:
        walk = Walk(chain)
        walk.save({"log": [LONG] * 9})
        with pytest.raises(UnstorableTypeError):
            walk.stage({"log": [LONG] * 9 + [LONG + "new"], "callback": lambda: None})

        walk.save({"log": [LONG] * 9 + [LONG + "new"]})

        assert read(chain).values["log"] == [LONG] * 9 + [LONG + "new"]

    def test_takes_values_as_they_are_then(self, chain: Any) -> None:
        walk = Walk(chain)
        value = [[LONG], [LONG]]
        staged = walk.stage({"a": value})

        value[0].append("later")
        chain.perform(chain.commit([staged], walk.fence))

        assert read(chain).values["a"] == [[LONG], [LONG]]

    def test_records_that_are_never_saved_do_not_hurt_what_refers_to_their_items(self, chain: Any) -> None:
        walk = Walk(chain)
        walk.save({"log": [LONG] * 9})
        written = [f"{n} {LONG}" for n in range(3)]
        chain.stage(_pending(walk, task("w", ("log", written))))

        walk.save({"log": [LONG] * 9 + written}, task("w", ("log", written)))

        assert read(chain).values["log"] == [LONG] * 9 + written


def _pending(walk: Walk, *tasks: Any) -> Any:
    from stepwell.saves import Pending

    return Pending(At("t", walk.ns, walk.id), tasks, walk.base)


class DescribeTaskRecords:
    def test_of_an_unfinished_step_hang_on_the_checkpoint_it_ran_from(self, chain: Any) -> None:
        walk = Walk(chain)
        walk.save({"a": 1})
        question = Interrupt("sure?", "q1")
        walk.file(
            task("asks", finished=False, interrupts=((question, "#0"),), answers=(("#1", {"yes": True}),)),
            task("fails", finished=False, error={"type": "ValueError", "message": "no", "notes": [], "traceback": ""}),
            task("done", ("a", [LONG])),
        )

        found = {record.node: record for record in read(chain).pending}

        assert found["asks"].interrupts == ((question, "#0"),)
        assert found["asks"].answers == (("#1", {"yes": True}),)
        assert found["fails"].error == {"type": "ValueError", "message": "no", "notes": [], "traceback": ""}
        assert found["done"].writes == (("a", [LONG]),)

    def test_become_part_of_the_checkpoint_they_make(self, chain: Any) -> None:
        walk = Walk(chain)
        first = walk.save({"a": 1})
        record = task("w", ("a", LONG * 9))
        walk.file(record)
        walk.save({"a": LONG * 9}, record)

        assert read(chain, first).pending == ()
        assert [found.writes for found in read(chain, first).done] == [(("a", LONG * 9),)]

    def test_that_are_not_part_of_it_stay(self, chain: Any) -> None:
        walk = Walk(chain)
        first = walk.save({"a": 1})
        good, bad = task("w", ("a", 2)), task("x", finished=False, error={"type": "E", "message": ""})
        walk.file(good, bad)
        walk.save({"a": 2}, good)

        assert [record.node for record in read(chain, first).pending] == ["x"]

    def test_say_all_there_is_of_a_task(self, chain: Any) -> None:
        walk = Walk(chain)
        first = walk.save({"a": 1})
        record = task("node", ("a", 2), ("branch:to:b", None))
        record.path, record.triggers, record.attempt = "~__pregel_push, 0000000007, False", ("__pregel_tasks",), 3
        walk.save({"a": 2}, record)

        (found,) = read(chain, first).done

        assert {name: getattr(found, name) for name in ("task", "node", "path", "triggers", "attempt", "writes")} == {
            "task": record.task, "node": "node", "path": record.path, "triggers": ("__pregel_tasks",), "attempt": 3,
            "writes": (("a", 2), ("branch:to:b", None)),
        }  # fmt: skip


class DescribeHeads:
    def test_a_fork_moves_main_and_leaves_the_old_head_as_a_leaf(self, chain: Any) -> None:
        walk = Walk(chain)
        first, old = walk.save({"a": 1}), walk.save({"a": 2})
        walk.end()

        walk = Walk(chain, at=first)
        new = walk.save({"a": 3})
        walk.end()

        heads = {head.branch: (head.id, head.auto) for head in chain.perform(chain.heads("t"))}
        assert heads == {"main": (new, False), f"main@{old[:8]}": (old, True)}
        assert read(chain).at.checkpoint == new

    def test_going_on_from_a_leaf_makes_it_main_again(self, chain: Any) -> None:
        walk = Walk(chain)
        first, old = walk.save({"a": 1}), walk.save({"a": 2})
        walk.end()
        walk = Walk(chain, at=first)
        other = walk.save({"a": 3})
        walk.end()

        walk = Walk(chain, at=old)
        new = walk.save({"a": 4})
        walk.end()

        heads = {head.id for head in chain.perform(chain.heads("t"))}
        assert heads == {new, other}

    def test_a_named_branch_moves_by_itself(self, chain: Any) -> None:
        walk = Walk(chain)
        first, main = walk.save({"a": 1}), walk.save({"a": 2})
        walk.end()

        walk = Walk(chain, at=first, branch="idea")
        new = walk.save({"a": 3})
        walk.end()

        assert read(chain).at.checkpoint == main
        assert chain.perform(chain.load(At("t", branch="idea"))).at.checkpoint == new

    def test_main_goes_on_beside_a_named_branch(self, chain: Any) -> None:
        walk = Walk(chain)
        first = walk.save({"a": 1})
        walk.save({"a": 2})
        walk.end()
        walk = Walk(chain, at=first, branch="idea")
        walk.save({"a": 3})
        walk.end()

        walk = Walk(chain)
        new = walk.save({"a": 4})

        assert dict(walk.loaded.values) == {"a": 2}
        assert read(chain).at.checkpoint == new

    def test_an_unknown_branch_is_an_error_that_names_those_there_are(self, chain: Any) -> None:
        walk = Walk(chain)
        walk.save({"a": 1})
        walk.end()

        with pytest.raises(BranchNotFoundError, match="main"):
            chain.perform(chain.load(At("t", branch="nope"), lease=LeaseWish("r", 0)))

        assert Walk(chain).loaded.values["a"] == 1


class DescribeHistory:
    @pytest.fixture
    def forked(self, chain: Any) -> dict[str, str]:
        """first → second → third, and a fork from first."""
        walk = Walk(chain)
        names = {
            name: walk.save({"a": name}, metadata={"source": "loop", "step": walk.step, "user": name})
            for name in ("first", "second", "third")
        }
        walk.end()
        walk = Walk(chain, at=names["first"])
        names["fork"] = walk.save({"a": "fork"}, source="fork")
        walk.end()
        return names

    def test_lists_all_newest_first(self, chain: Any, forked: dict[str, str]) -> None:
        assert ids(chain) == [forked[name] for name in ("fork", "third", "second", "first")]

    def test_of_a_lineage_follows_parents(self, chain: Any, forked: dict[str, str]) -> None:
        assert ids(chain, lineage=True) == [forked["fork"], forked["first"]]

    def test_goes_on_where_a_page_ended(self, chain: Any, forked: dict[str, str]) -> None:
        page = chain.perform(chain.history(At("t", ""), limit=3))

        rest = chain.perform(chain.history(At("t", ""), before=page.before, limit=3))

        assert [loaded.at.checkpoint for loaded in rest.items] == [forked["first"]]
        assert rest.before is None

    def test_of_a_lineage_goes_on_where_a_page_ended(self, chain: Any, forked: dict[str, str]) -> None:
        page = chain.perform(chain.history(At("t", ""), lineage=True, limit=1))

        rest = chain.perform(chain.history(At("t", ""), lineage=True, before=page.before, limit=5))

        assert [loaded.at.checkpoint for loaded in rest.items] == [forked["first"]]

    @pytest.mark.parametrize(
        ("filter", "expected"),
        [
            ({"source": "fork"}, ["fork"]),
            ({"user": "second"}, ["second"]),
            ({"step": -1}, ["first"]),
            ({"source": "loop", "user": "third"}, ["third"]),
            ({"user": "nobody"}, []),
            ({"step": True}, []),
            ({"user') OR 1=1 --": "x"}, []),
            ({'user"': "first"}, []),
            ({"$": "first"}, []),
            ({"user": "' OR '1'='1"}, []),
            ({"user": "\udcff\0"}, []),
        ],
    )
    def test_filters_by_equal_metadata(
        self, chain: Any, forked: dict[str, str], filter: Any, expected: list[str]
    ) -> None:
        assert ids(chain, filter=filter) == [forked[name] for name in expected]

    def test_lists_every_namespace_when_none_is_named(self, chain: Any, forked: dict[str, str]) -> None:
        walk = Walk(chain)
        inner = Walk(chain, ns="inner:1", above=walk)
        id = inner.save({"b": 1})
        walk.end()

        listed = pages(chain, At("t", None))

        assert (listed[0].at.ns, listed[0].at.checkpoint) == ("inner:1", id)
        assert len(listed) == 5

    def test_of_all_threads_goes_on_where_a_page_ended(self, chain: Any, forked: dict[str, str]) -> None:
        for thread in ("u", "v"):
            walk = Walk(chain, thread)
            walk.save({"a": 1})
            walk.end()
        found, before = [], None
        while True:
            page = chain.perform(chain.history(None, before=before, limit=1))
            found += [(loaded.at.thread, loaded.at.checkpoint) for loaded in page.items]
            before = page.before
            if before is None:
                break

        assert len(found) == len(set(found)) == 6

    def test_shows_who_made_the_next_checkpoints(self, chain: Any) -> None:
        walk = Walk(chain)
        first = walk.save({"a": 1})
        walk.save({"a": 2}, task("one", ("a", 2)))
        walk.end()
        walk = Walk(chain, at=first)
        walk.save({"a": 3}, task("two", ("a", 3)))

        (found,) = [loaded for loaded in pages(chain, At("t", "")) if loaded.at.checkpoint == first]

        assert sorted(record.node for record in found.done) == ["one", "two"]
        assert not found.leaf


class DescribeAStableChild:
    def test_is_remembered_by_the_checkpoint_above(self, chain: Any) -> None:
        walk = Walk(chain)
        walk.save({"a": 1})
        inner = Walk(chain, ns="memory", above=walk)
        head = inner.save({"b": 1})
        walk.save({"a": 2}, children={"memory": head})

        assert read(chain).children == {"memory": head}


class DescribeAFile:
    def test_read_by_another_process_is_the_same(self, tmp_path: Path) -> None:
        one = SqliteChain(tmp_path / "t.db")
        walk = Walk(one)
        walk.save({f"wide {n}": [LONG, n] for n in range(90)}, task("w", ("wide 1", [LONG])))
        walk.save({"wide 3": {"k": LONG}}, metadata={"source": "loop", "step": 0, "user": "ann", "when": {1, 2}})
        walk.end()
        expected = read(one)
        one.database.close()

        found = read(SqliteChain(tmp_path / "t.db"))

        assert dict(found.values) == dict(expected.values)
        assert (found.versions, found.seen, found.metadata) == (expected.versions, expected.seen, expected.metadata)

    def test_shows_its_checkpoints_as_text(self) -> None:
        chain = SqliteChain()
        walk = Walk(chain)
        first = walk.save({"a": 1}, source="input")
        second = walk.save({"a": 2}, metadata={"source": "loop", "step": 0, "user": "Ännchen"})

        rows = chain.ask(
            "SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, step, source, created_at, "
            "json_extract(metadata, '$.user') FROM checkpoints ORDER BY checkpoint_id"
        )

        at = "2026-11-30T19:00:00.000001+00:00"
        assert rows == [
            ("t", "", first, None, -1, "input", at, None),
            ("t", "", second, first, 0, "loop", at, "Ännchen"),
        ]


class DescribeASealedFile:
    @pytest.fixture
    def sealed(self) -> SqliteChain:
        serializer = EncryptedSerializer.from_keys({"k": b"0" * 32}, current="k")
        chain = SqliteChain(sealer=Sealer(serializer.seal, serializer.open))
        walk = Walk(chain)
        walk.save(
            {"secret": ["geheim " + LONG] * 3, "short": "geheim"},
            metadata={"source": "loop", "step": -1, "user": "geheim"},
        )
        walk.file(task("w", ("secret", ["geheim " + LONG * 2])))
        walk.save({"secret": ["geheim " + LONG] * 4}, task("w", ("secret", ["geheim " + LONG])))
        walk.end()
        return chain

    def test_reads_back(self, sealed: SqliteChain) -> None:
        assert read(sealed).values["secret"] == ["geheim " + LONG] * 4
        assert [loaded.metadata["user"] for loaded in pages(sealed, At("t", ""), filter={"user": "geheim"})] == [
            "geheim"
        ]

    def test_holds_no_plaintext(self, sealed: SqliteChain) -> None:
        tables = ("items", "checkpoint_rows", "records", "names", "run_rows", "threads")

        stored = repr([sealed.ask(f"SELECT * FROM {table}") for table in tables])

        assert "geheim" not in stored

    def test_refuses_a_row_that_was_copied_elsewhere(self, sealed: SqliteChain) -> None:
        sealed.ask(
            "UPDATE checkpoint_rows SET state = (SELECT state FROM checkpoint_rows ORDER BY checkpoint_id LIMIT 1)"
        )

        with pytest.raises(SealError):
            read(sealed)


class DescribeACommitThatTheDatabaseRefuses:
    def test_loses_nothing_that_a_later_one_refers_to(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        chain = SqliteChain(tmp_path / "t.db")
        walk = Walk(chain)
        walk.save({"log": [LONG] * 9}, pure=("log",))
        new = [f"{n} {LONG}" for n in range(3)]
        failed = walk.stage({"log": [LONG] * 9 + new}, task("n", ("log", new)), pure=("log",))
        with monkeypatch.context() as broken:
            broken.setattr(chain.database, "commit", lambda: _fail(chain))
            with pytest.raises(DatabaseError):
                chain.perform(chain.commit([failed], walk.fence))

        chain.perform(chain.commit([failed], walk.fence))

        assert read(chain).values["log"] == [LONG] * 9 + new

    @pytest.mark.parametrize("of_records", [False, True], ids=["of a checkpoint", "of records"])
    def test_leaves_no_number_of_a_namespace_behind(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_records: bool
    ) -> None:
        # given a run of which the first write in a namespace failed
        chain = SqliteChain(tmp_path / "t.db")
        above = Walk(chain)
        above.save({"a": 1})
        inner = Walk(chain, ns="inner", above=above)
        staged = inner.stage({"b": 1})
        pending = chain.stage(Pending(At("t", "inner", staged.row.id), (task("n", ("b", 2)),), None))
        write = chain.save_writes(pending, above.fence) if of_records else chain.commit([staged], above.fence)
        with monkeypatch.context() as broken:
            broken.setattr(chain.database, "commit", lambda: _fail(chain))
            with pytest.raises(DatabaseError):
                chain.perform(write)

        # when it is made once more, and another namespace after it
        chain.perform(chain.commit([staged], above.fence))
        Walk(chain, ns="other", above=above).save({"c": 1})

        # then each has its own
        assert read(chain, ns="inner").values == {"b": 1}
        assert read(chain, ns="other").values == {"c": 1}


class DescribeALoadThatTheDatabaseRefuses:
    def test_leaves_the_thread_unknown_and_its_key_to_others(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        chain = SqliteChain(tmp_path / "t.db")
        chain.set_up()
        with monkeypatch.context() as broken:
            broken.setattr(chain.database, "commit", lambda: _fail(chain))
            with pytest.raises(DatabaseError):
                Walk(chain, "refused")

        Walk(chain, "another").save({"a": "of another"})

        assert read(chain, thread="refused") is None
        assert list(chain.sessions) == ["another"]


def _fail(chain: SqliteChain) -> None:
    chain.database.rollback()
    raise DatabaseError("the disk is full")
