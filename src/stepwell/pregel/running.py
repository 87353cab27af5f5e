"""Running a graph: invoke, stream, batch, and their async twins."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from typing import TYPE_CHECKING, Any

from stepwell.drivers.threads import ThreadDriver
from stepwell.engine.loop import run_graph
from stepwell.errors import ConfigError, WrongTypeError, brief
from stepwell.plan.entries import check_config
from stepwell.pregel.chunks import Shape, check_version, shape_of
from stepwell.pregel.flowing import Chunks, Source
from stepwell.pregel.request import FROM_WITHIN, is_debugging, make_run
from stepwell.types import INTERRUPT, GraphOutput, Interrupt

if TYPE_CHECKING:
    from stepwell.drivers.loop import LoopDriver
    from stepwell.engine.run import Run

Config = Mapping[str, Any] | None


class Running:
    """The half of a compiled graph that runs it.

    Keyword arguments of a call, all optional: context (what nodes find in runtime.context); stream_mode, one or a list;
    print_mode (modes that are printed too); output_keys; interrupt_before, interrupt_after; durability ("sync",
    "async", "exit"); control (RunControl); subgraphs; debug; version ("v1", "v2").
    """

    plan: Any
    config: Any
    debug: bool
    cache: Any
    stream_mode_default: Any

    def invoke(
        self, input: Any, config: Config = None, *, stream_mode: Any = "values", version: str = "v1", **options: Any
    ) -> Any:
        """Runs the graph to its end or to a pause and returns the output keys of the state.

        With a checkpointer, `config["configurable"]["thread_id"]` says which conversation is carried on; only what is
        new goes into `input`. None goes on where the thread stopped, Command(resume=…) answers a question. A pause
        shows in the key "__interrupt__". Other stream modes than "values" return the list of their chunks.
        """
        if stream_mode != "values":
            return list(self.stream(input, config, stream_mode=stream_mode, version=version, **options))
        check_version(version)
        printed = self._printed(version, options)
        run = self._run(config, printed.modes if printed else frozenset(), False, options)
        driver = ThreadDriver(run, run.cache, live=printed is not None and _is_live(run, printed))
        core = self._core(run, input)
        questions = driver.drive(core) if printed is None else _print_all(driver, core, printed)
        return self._result(run, questions, version)

    async def ainvoke(
        self, input: Any, config: Config = None, *, stream_mode: Any = "values", version: str = "v1", **options: Any
    ) -> Any:
        """`invoke` on the event loop."""
        if stream_mode != "values":
            return [c async for c in self.astream(input, config, stream_mode=stream_mode, version=version, **options)]
        from stepwell.drivers.loop import LoopDriver  # here a loop runs: asyncio is loaded, and 28 ms for others

        check_version(version)
        printed = self._printed(version, options)
        run = self._run(config, printed.modes if printed else frozenset(), False, options)
        driver = LoopDriver(run, run.cache, live=printed is not None and _is_live(run, printed))
        core = self._core(run, input)
        questions = await (driver.drive(core) if printed is None else _aprint_all(driver, core, printed))
        return self._result(run, questions, version)

    def stream(
        self,
        input: Any,
        config: Config = None,
        *,
        stream_mode: Any = None,
        subgraphs: bool = False,
        version: str = "v1",
        **options: Any,
    ) -> Iterator[Any]:
        """Runs the graph and yields what happens, as it happens.

        One mode gives its payloads; a list gives (mode, payload); `subgraphs=True` puts the namespace in front;
        `version="v2"` gives dicts with type, ns and data. Breaking off stops the run after what is running, and what
        was shown stays.
        """
        shape = self._shape(stream_mode, subgraphs, version, options)
        run = self._run(config, shape.modes, subgraphs, options)
        driver = ThreadDriver(run, run.cache, live=_is_live(run, shape), bind_post=_wants_own_post(run, shape))
        for chunk in driver.flow(self._core(run, input)):
            if _hand_on(chunk, driver, shape):
                yield shape.chunk(*chunk)

    def astream(
        self,
        input: Any,
        config: Config = None,
        *,
        stream_mode: Any = None,
        subgraphs: bool = False,
        version: str = "v1",
        **options: Any,
    ) -> AsyncIterator[Any]:
        """`stream` on the event loop."""

        def begin() -> Source:
            from stepwell.drivers.loop import Box, LoopDriver  # as in ainvoke

            shape = self._shape(stream_mode, subgraphs, version, options)
            run = self._run(config, shape.modes, subgraphs, options)
            driver = LoopDriver(run, run.cache, live=_is_live(run, shape), bind_post=_wants_own_post(run, shape))
            flow = driver.flow(self._core(run, input), Box())
            return Source(flow, lambda chunk: _hand_on(chunk, driver, shape), shape.chunk)

        return Chunks(begin)

    def batch(
        self, inputs: Sequence[Any], config: Any = None, *, return_exceptions: bool = False, **kw: Any
    ) -> list[Any]:
        """`invoke` for several inputs, in threads; `config` is one for all or one each. Results in order of inputs."""
        from concurrent.futures import ThreadPoolExecutor  # a batch needs a pool, a single call does not load it

        configs = _configs_for(inputs, config)

        def one(given: Any, config: Any) -> Any:
            try:
                return self.invoke(given, config, **kw)
            except Exception as error:
                if return_exceptions:
                    return error
                raise

        workers = _at_once(configs)
        with ThreadPoolExecutor(max_workers=workers or min(32, len(inputs) or 1)) as pool:
            return list(pool.map(one, inputs, configs))

    async def abatch(
        self, inputs: Sequence[Any], config: Any = None, *, return_exceptions: bool = False, **kw: Any
    ) -> list[Any]:
        """`batch` on the event loop."""
        import asyncio  # as in ainvoke

        configs = _configs_for(inputs, config)
        limit = asyncio.Semaphore(_at_once(configs) or len(inputs) or 1)

        async def one(given: Any, config: Any) -> Any:
            async with limit:
                return await self.ainvoke(given, config, **kw)

        calls = [one(given, config) for given, config in zip(inputs, configs, strict=True)]
        return list(await asyncio.gather(*calls, return_exceptions=return_exceptions))

    # How a call becomes a run.

    def _run(self, config: Config, modes: frozenset[str], subgraphs: bool, options: Mapping[str, Any]) -> Run:
        return make_run(self, config, modes=modes, subgraphs=subgraphs, options=options)  # type: ignore[arg-type]  # the half of a Pregel

    def _core(self, run: Run, input: Any) -> Any:
        core = run_graph(run, input)
        return core if run.ears is None else run.ears.attend(run, input, core)

    def _shape(self, mode: Any, subgraphs: bool, version: str, options: Mapping[str, Any]) -> Shape:
        printed = self._modes_printed(options)
        return shape_of(mode or self.stream_mode_default, subgraphs, version, printed, self.plan.shape)

    def _printed(self, version: str, options: Mapping[str, Any]) -> Shape | None:
        """What a call that hands out nothing but its result shows on the terminal on the way; None for nothing."""
        modes = self._modes_printed(options) if options or self.debug else ()
        return shape_of((), False, version, modes, None) if modes else None

    def _modes_printed(self, options: Mapping[str, Any]) -> Any:
        return "values" if is_debugging(self, options) else options.get("print_mode") or ()

    def _result(self, run: Run, questions: tuple[Interrupt, ...] | None, version: str) -> Any:
        output = run.output()
        if version == "v2":
            shaped = self.plan.shape(output) if self.plan.shape is not None else output
            return GraphOutput(shaped, questions or ())
        if questions:
            base = output if isinstance(output, dict) else {}
            return {**base, INTERRUPT: list(questions)}
        return output


def _is_live(run: Run, shape: Shape) -> bool:
    return bool(shape.modes & FROM_WITHIN) or (bool(run.heard) and run.parent is None)


def _wants_own_post(run: Run, shape: Shape) -> bool:
    """A graph streamed from inside a node: its chunks come to the node first."""
    return run.parent is None or bool(shape.modes & FROM_WITHIN)


def _hand_on(chunk: tuple[tuple[str, ...], str, Any], driver: ThreadDriver | LoopDriver, shape: Shape) -> bool:
    """Whether the caller wants a chunk; before that it goes up and to the terminal, where those want it."""
    above, mode = driver.run.parent, chunk[1]
    if above is not None and mode in above.run.heard:
        driver.pass_up(*chunk)
    if mode in shape.printed:
        shape.print(*chunk)
    return mode in shape.wanted


def _print_all(driver: ThreadDriver, core: Any, shape: Shape) -> Any:
    """Drives a run to its end, shows its chunks on the terminal, and answers its result."""
    with closing(driver.flow(core)) as flow:  # a terminal that is gone must not leave the run where it stands
        try:
            while True:
                _hand_on(next(flow), driver, shape)
        except StopIteration as stop:
            return stop.value


async def _aprint_all(driver: LoopDriver, core: Any, shape: Shape) -> Any:
    """As `_print_all`."""
    from stepwell.drivers.loop import Box  # as in ainvoke

    box = Box()
    async with aclosing(driver.flow(core, box)) as flow:
        async for chunk in flow:
            _hand_on(chunk, driver, shape)
    return box.value


def _configs_for(inputs: Sequence[Any], config: Any) -> list[Any]:
    """One config for each input. WrongTypeError where these are no list, ConfigError for a config that is none."""
    if not isinstance(inputs, Sequence) or isinstance(inputs, str | bytes):
        raise WrongTypeError(f"batch was given {brief(inputs)}; it takes a list of inputs.")
    one_each = isinstance(config, Sequence) and not isinstance(config, str | bytes)
    configs = list(config) if one_each else [config] * len(inputs)
    if len(configs) != len(inputs):
        raise ConfigError(
            f"batch was given {len(inputs)} inputs and {len(configs)} configs; give one each or one for all"
        )
    for given in configs:
        if given is not None:
            check_config(given)
    return configs


def _at_once(configs: Sequence[Any]) -> int | None:
    """How many calls of a batch may run at once, as its first config says."""
    return configs[0].get("max_concurrency") if configs and configs[0] is not None else None
