"""The memory saver: what it shows to people who debug, and what it forgets."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from stepwell.checkpoint.memory import InMemorySaver, MemorySaver
from tests.checkpoint.conftest import cfg, grow, id_of


class DescribeTheMemorySaver:
    @pytest.mark.claim("A-76", "A-91")
    def test_needs_no_arguments_and_has_two_names(self) -> None:
        assert MemorySaver is InMemorySaver
        with InMemorySaver() as saver:
            assert saver.get_tuple(cfg()) is None

    async def test_may_stand_in_an_async_block(self) -> None:
        async with InMemorySaver(factory=dict) as saver:
            assert await saver.aget_tuple(cfg()) is None

    def test_is_safe_to_use_from_many_threads(self) -> None:
        saver = InMemorySaver()
        threads = [threading.Thread(target=grow, args=(saver, 30), kwargs={"thread": f"t{n}"}) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert [info.checkpoints for info in saver.list_threads()] == [30] * 8

    def test_shares_its_data_with_a_wider_allowlist(self) -> None:
        saver = InMemorySaver()
        grow(saver.with_allowlist([("app.models", "Ticket")]), 1)

        assert saver.get_tuple(cfg()) is not None

    @pytest.mark.claim("H-09")
    def test_holds_nothing_of_a_deleted_thread(self) -> None:
        saver = InMemorySaver()
        grow(saver, 1, ns="needle-7391")
        saver.delete_thread("t")

        assert "needle" not in repr(vars(saver))
        assert not saver.storage and not saver.blobs and not saver.writes


class DescribeItsLedgers:
    @pytest.fixture
    def made(self) -> Any:
        saver = InMemorySaver()
        configs = grow(saver, 3)
        saver.put_writes(configs[-1], [("log", ["x"])], "task")
        return saver, configs

    @pytest.mark.claim("A-28", "A-29")
    def test_have_a_body_metadata_and_the_parent_for_each_checkpoint(self, made: Any) -> None:
        saver, configs = made

        body, metadata, parent = saver.storage["t"][""][id_of(configs[1])]
        assert isinstance(saver.storage, dict)
        assert (body["id"], metadata["step"], parent) == (id_of(configs[1]), 1, id_of(configs[0]))

    @pytest.mark.claim("A-30", "A-44", "A-47")
    def test_have_each_version_of_a_value(self, made: Any) -> None:
        saver, _ = made

        assert saver.blobs == {("t", "", "log", n + 1): [str(i) for i in range(n + 1)] for n in range(3)}
        assert "log" not in str(saver.storage["t"][""].popitem()[1][0].get("channel_values", ""))

    @pytest.mark.claim("A-31")
    def test_have_the_writes_where_they_hang(self, made: Any) -> None:
        saver, configs = made

        assert saver.writes == {("t", "", id_of(configs[2])): {("task", 0): ("task", "log", ["x"])}}
