"""Looking at threads and changing them by hand: get_state, get_state_history, update_state, and their async twins."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from stepwell.config import run_config
from stepwell.drivers.threads import ThreadDriver
from stepwell.engine.edit import update_thread
from stepwell.engine.looking import Viewed, look, look_back
from stepwell.engine.run import Run
from stepwell.engine.saving import Steps
from stepwell.engine.snapshot import config_at
from stepwell.errors import InvalidUpdateError, InvalidValueError, brief
from stepwell.paging import before_id, check_page, first_size
from stepwell.pregel.request import make_run, need_saver
from stepwell.pregel.savers import address
from stepwell.saves import At
from stepwell.types import StateSnapshot, StateUpdate

FIRST_PAGE, PAGE = 2, 64
"""How many checkpoints the first read of history brings, for those who want the newest; each next one brings four
times as many, up to this."""

Config = Mapping[str, Any]


class Looking:
    """The half of a compiled graph that looks at threads and edits them. Nothing here runs a node."""

    config: Any

    def get_state(self, config: Config, *, subgraphs: bool = False) -> StateSnapshot:
        """The state of a thread: of its head, or of the checkpoint that `config` names.

        Without a checkpoint id it is live: values include what tasks of an open step already wrote. With one it is the
        record of that checkpoint. `subgraphs=True` puts the states of graphs inside due tasks into tasks[i].state.
        A thread that does not exist has created_at and metadata None. Raises NoSaverError, ThreadIdError,
        CheckpointNotFoundError.
        """
        run, core = self._look(config, subgraphs)
        return ThreadDriver(run).drive(core)  # type: ignore[no-any-return]  # what look answers

    async def aget_state(self, config: Config, *, subgraphs: bool = False) -> StateSnapshot:
        """`get_state` on the event loop."""
        run, core = self._look(config, subgraphs)
        return await _drive_on_loop(run, core)  # type: ignore[no-any-return]  # what look answers

    def get_state_history(
        self,
        config: Config,
        *,
        filter: Mapping[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
        lineage: bool = False,
    ) -> Iterator[StateSnapshot]:
        """The checkpoints of a thread, newest first; all branches, or with `lineage` the chain of the head (or of the
        checkpoint that `config` names). `filter`: equality on metadata. `before`: a config, exclusive. The metadata of
        each name the branch it was made on, as it was called then.
        """
        pages = self._pages(config, filter, before, limit, lineage)
        for run, core in pages:
            yield from pages.take(ThreadDriver(run).drive(core))

    async def aget_state_history(
        self,
        config: Config,
        *,
        filter: Mapping[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
        lineage: bool = False,
    ) -> AsyncIterator[StateSnapshot]:
        """`get_state_history` on the event loop."""
        pages = self._pages(config, filter, before, limit, lineage)
        for run, core in pages:
            for snapshot in pages.take(await _drive_on_loop(run, core)):
                yield snapshot

    def update_state(
        self, config: Config, values: Any, as_node: str | None = None, task_id: str | None = None
    ) -> dict[str, Any]:
        """Writes `values` as if node `as_node` had returned them, as a checkpoint of its own; returns its config.

        Without `as_node`: the node that ran last. END with None ends what is due; "__input__" is like an input;
        "__copy__" clones the checkpoint. Questions and finished work of an open step stay, unless as_node answers for
        them. Raises InvalidUpdateError, NoSaverError, ThreadBusyError.
        """
        return self.bulk_update_state(config, [[StateUpdate(values, as_node, task_id)]])

    async def aupdate_state(
        self, config: Config, values: Any, as_node: str | None = None, task_id: str | None = None
    ) -> dict[str, Any]:
        """`update_state` on the event loop."""
        return await self.abulk_update_state(config, [[StateUpdate(values, as_node, task_id)]])

    def bulk_update_state(self, config: Config, supersteps: Sequence[Sequence[StateUpdate]]) -> dict[str, Any]:
        """Several updates: one checkpoint per inner list, each on the one before; returns the last one's config."""
        run, core = self._edit(config, supersteps)
        return self._config_of(run, ThreadDriver(run).drive(core))

    async def abulk_update_state(self, config: Config, supersteps: Sequence[Sequence[StateUpdate]]) -> dict[str, Any]:
        """`bulk_update_state` on the event loop."""
        run, core = self._edit(config, supersteps)
        return self._config_of(run, await _drive_on_loop(run, core))

    # How a call becomes a core.

    def _look(self, config: Config, subgraphs: bool) -> tuple[Run, Steps[StateSnapshot]]:
        run, at, viewed = self._reader(config, "get_state")
        return run, look(viewed, at, _view_of if subgraphs else None)

    def _pages(
        self,
        config: Config,
        filter: Mapping[str, Any] | None,
        before: Config | None,
        limit: int | None,
        lineage: bool,
    ) -> _Pages:
        run, at, viewed = self._reader(config, "get_state_history")
        check_page(filter, limit)
        return _Pages(run, viewed, at, filter, before_id(before), limit, lineage)

    def _reader(self, config: Config, what: str) -> tuple[Run, At, Viewed]:
        chain = need_saver(self, what)  # type: ignore[arg-type]  # the half of a Pregel
        full = run_config(self.config, config)
        at = address(full)
        graph: Any = self.graph_at(at.ns or "") or self  # type: ignore[attr-defined]  # as above
        viewed: Viewed = graph.viewed()
        run = viewed.run_at(at)
        run.chain = chain
        return run, at, viewed

    def _edit(self, config: Config, supersteps: Sequence[Sequence[StateUpdate]]) -> tuple[Run, Steps[str]]:
        steps = _supersteps(supersteps)
        need_saver(self, "update_state")  # type: ignore[arg-type]  # the half of a Pregel
        full = run_config(self.config, config)
        at = address(full)
        graph: Any = self.graph_at(at.ns or "")  # type: ignore[attr-defined]  # as above
        if graph is None:
            raise InvalidUpdateError(
                f"no graph runs in namespace {at.ns!r}: the node it names does not exist, or has no graph in it."
            )
        own: Any = graph if graph is self else graph.copy({"checkpointer": self.checkpointer})  # type: ignore[attr-defined]  # as above
        run = make_run(own, {**full, "configurable": {**full["configurable"], "checkpoint_ns": ""}}, options={})
        run.at = at
        run.starts = {}
        return run, update_thread(run, steps)

    def _config_of(self, run: Run, checkpoint: str) -> dict[str, Any]:
        at = run.at
        assert at is not None
        config = config_at(at.thread, at.ns or "", checkpoint)
        if at.branch is not None:
            config["configurable"]["branch"] = at.branch
        return config


class _Pages:
    """Reads of history, one page at a time, for a driver of either kind to carry out."""

    def __init__(
        self,
        run: Run,
        viewed: Viewed,
        at: At,
        filter: Mapping[str, Any] | None,
        before: str | None,
        limit: int | None,
        lineage: bool,
    ) -> None:
        self._run, self._viewed, self._at, self._filter, self._lineage = run, viewed, at, filter, lineage
        self._before, self._left, self._more = before, limit, limit is None or limit > 0

    def __iter__(self) -> Iterator[tuple[Run, Any]]:
        page = first_size(FIRST_PAGE, self._left)
        while self._more:
            size = page if self._left is None else min(page, self._left)
            page = min(PAGE, page * 4)
            yield (
                self._run,
                look_back(
                    self._viewed, self._at, lineage=self._lineage, filter=self._filter, before=self._before, limit=size
                ),
            )

    def take(self, page: tuple[list[StateSnapshot], str | None]) -> list[StateSnapshot]:
        """Notes where the next page starts; answers this one's snapshots."""
        snapshots, self._before = page
        if self._left is not None:
            self._left -= len(snapshots)
        self._more = self._before is not None and self._left != 0
        return snapshots


def _supersteps(given: Any) -> list[list[StateUpdate]]:
    """What bulk_update_state was given, with tuples as the updates they stand for."""
    if not isinstance(given, Sequence) or not given:
        raise InvalidValueError("bulk_update_state was given no supersteps: pass a list of lists of StateUpdate.")
    return [[_update(update) for update in updates] for updates in map(_updates, given)]


def _updates(given: Any) -> Sequence[Any]:
    if isinstance(given, Sequence) and not isinstance(given, StateUpdate | str | bytes):
        return given
    raise InvalidValueError(f"a superstep of bulk_update_state is {brief(given)}; it is a list of StateUpdate.")


def _update(given: Any) -> StateUpdate:
    if isinstance(given, StateUpdate):
        return given
    if isinstance(given, tuple) and 1 <= len(given) <= 3:
        return StateUpdate(*given)
    raise InvalidValueError(f"an update of bulk_update_state is {brief(given)}; it is a StateUpdate(values, as_node).")


def _view_of(graph: Any) -> Viewed:
    return graph.viewed()  # type: ignore[no-any-return]  # graphs found in nodes are compiled ones


async def _drive_on_loop(run: Run, core: Any) -> Any:
    from stepwell.drivers.loop import LoopDriver  # here a loop runs: asyncio is loaded, and costs others 28 ms

    return await LoopDriver(run).drive(core)
