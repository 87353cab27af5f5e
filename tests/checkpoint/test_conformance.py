"""The public conformance suite and our own one, over each saver that ships."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from stepwell.checkpoint.base.conformance import BASE, EXTENDED, run_checks
from stepwell.checkpoint.memory import InMemorySaver
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.checkpoint.sqlite.aio import AsyncSqliteSaver

CAPABILITIES = {"put", "put_writes", "get_tuple", "list", "delete_thread", "delete_for_runs", "copy_thread", "prune"}


@pytest.fixture(params=["memory", "apsw", "sqlite3", "aio"])
def factory(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Any]:
    """Makes a new saver of one kind."""
    made = 0

    def make() -> Any:
        nonlocal made
        made += 1
        path = tmp_path / f"{made}.db"
        if request.param == "memory":
            return InMemorySaver()
        if request.param == "aio":
            return AsyncSqliteSaver.from_conn_string(str(path))
        return SqliteSaver(path, driver=request.param)

    return make


@pytest.mark.claim("A-89")
class DescribeASaver:
    async def test_passes_the_public_suite_in_every_capability(self, factory: Callable[[], Any]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the suite's own library
            from langgraph.checkpoint.conformance import checkpointer_test, validate

            from tests.checkpoint.adapter import Adapted

            @checkpointer_test(name="ours")
            async def ours() -> AsyncIterator[Any]:
                saver = factory()
                yield Adapted(saver)
                if hasattr(saver, "close"):
                    saver.close()

            report = await validate(ours)

        failures = [failure for result in report.results.values() for failure in result.failures]
        assert failures == []
        assert {name for name, result in report.results.items() if result.passed} == CAPABILITIES

    @pytest.mark.claim("A-41", "A-42", "A-45", "A-48", "A-49", "A-57", "A-59", "A-60", "A-61", "H-21")
    async def test_passes_our_own_suite(self, factory: Callable[[], Any]) -> None:
        assert await run_checks(factory, (*BASE, *EXTENDED)) == []


class DescribeABrokenSaver:
    async def test_is_found_out(self) -> None:
        class Forgetful(InMemorySaver):
            async def aget_tuple(self, config: Any) -> Any:
                found = await super().aget_tuple(config)
                return None if found is None else found._replace(parent_config=None)

        failures = await run_checks(Forgetful)

        assert [line.partition(":")[0] for line in failures] == ["the_id_in_the_config_is_the_parent"]
