"""One writer per thread: who gets it, who waits, and when it changes hands without being given back."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stepwell.checkpoint import beats, leases
from stepwell.checkpoint.memory import InMemorySaver
from stepwell.checkpoint.process import Process, here
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import StaleRunError, ThreadBusyError
from stepwell.saves import At, Fence, LeaseWish
from stepwell.serde.codec import Codec
from tests.checkpoint.conftest import cfg, grow

AT = At("t")
GONE = Process(here().host, here().boot, here().space, 2**22 + 1, "1")  # beyond every pid that Linux gives
ELSEWHERE = Process("far", "another boot", "", 1, "1")


@pytest.fixture(params=["memory", "sqlite", "two savers"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    """Two chains on the same threads; the same one twice where there can be no other."""
    if request.param == "memory":
        chain = InMemorySaver().chain
        yield chain, chain
        return
    with SqliteSaver(tmp_path / "x.db") as one:
        if request.param == "sqlite":
            yield one.chain, one.chain
            return
        with SqliteSaver(tmp_path / "x.db") as other:
            yield one.chain, other.chain


def take(chain: Any, run: str, wait_s: float = 0.0, term_s: float = 30.0) -> Fence:
    loaded = chain.perform(chain.load(AT, lease=LeaseWish(run, wait_s, term_s)))
    assert loaded is not None and loaded.fence is not None
    fence: Fence = loaded.fence
    return fence


def telling(began: threading.Event, op: Any) -> Any:
    """`op`, which tells when it is begun."""
    began.set()
    return (yield from op)


def give(chain: Any, fence: Fence) -> None:
    chain.perform(chain.release(fence))


@pytest.mark.claim("H-04")
class DescribeALease:
    def test_keeps_others_out_and_says_who_has_it(self, pair: tuple[Any, Any]) -> None:
        one, other = pair
        take(one, "first")

        with pytest.raises(ThreadBusyError, match="run first has held it since") as caught:
            take(other, "second")

        assert caught.value.run == "first"
        assert f"pid {here().pid}" in str(caught.value.holder)

    def test_can_be_had_again_once_it_was_given_back(self, pair: tuple[Any, Any]) -> None:
        one, other = pair
        give(one, take(one, "first"))

        assert take(other, "second").run == "second"

    def test_never_has_an_epoch_twice_even_after_the_thread_is_deleted(self, saver: Any) -> None:
        epochs = []
        for _ in range(3):
            fence = take(saver.chain, "run")
            epochs.append(fence.epoch)
            give(saver.chain, fence)
            saver.delete_thread("t")

        assert epochs == sorted(set(epochs))

    def test_does_not_wait_for_itself(self, pair: tuple[Any, Any]) -> None:
        one, other = pair
        take(one, "run")
        started = time.monotonic()

        with pytest.raises(ThreadBusyError, match="must not run its own thread"):
            take(other, "run", wait_s=5)

        assert time.monotonic() - started < 2

    def test_is_waited_for(self, pair: tuple[Any, Any]) -> None:
        one, other = pair
        fence = take(one, "first")
        threading.Timer(0.05, give, (one, fence)).start()

        assert take(other, "second", wait_s=5).run == "second"

    def test_is_waited_for_no_longer_than_told(self, pair: tuple[Any, Any]) -> None:
        one, other = pair
        take(one, "first")

        with pytest.raises(ThreadBusyError, match=r"Waited 0\.\d+ s"):
            take(other, "second", wait_s=0.05)

    def test_goes_to_those_who_wait_in_order(self, pair: tuple[Any, Any]) -> None:
        one, other = pair
        fence = take(one, "first")
        order: list[str] = []

        def wait(name: str) -> None:
            got = take(other, name, wait_s=20)
            order.append(name)
            give(other, got)

        threads = []
        for name in ("a", "b", "c", "d"):
            threads.append(threading.Thread(target=wait, args=(name,)))
            threads[-1].start()
            time.sleep(0.15)  # each has looked, and so stands in line, before the next one comes
        give(one, fence)
        for thread in threads:
            thread.join()

        assert order == ["a", "b", "c", "d"]

    async def test_is_waited_for_without_blocking_the_loop(self, saver: Any) -> None:
        chain = saver.chain
        first = (await chain.aperform(chain.load(AT, lease=LeaseWish("first", 0)))).fence
        waiting = asyncio.ensure_future(chain.aperform(chain.load(AT, lease=LeaseWish("second", 5))))
        await asyncio.sleep(0.02)
        await chain.aperform(chain.release(first))

        assert (await waiting).fence.run == "second"

    async def test_of_one_who_stopped_waiting_leaves_the_line(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db") as saver:
            chain = saver.chain
            await chain.aperform(chain.load(AT, lease=LeaseWish("first", 0)))
            waiting = asyncio.ensure_future(chain.aperform(chain.load(AT, lease=LeaseWish("second", 5))))
            await asyncio.sleep(0.05)
            waiting.cancel()
            await asyncio.sleep(0.3)

            with saver.cursor(transaction=False) as cursor:
                assert cursor.execute("SELECT count(*) FROM tickets").fetchall() == [(0,)]

    async def test_of_one_who_stopped_waiting_is_nobodys(self, saver: Any) -> None:
        chain = saver.chain
        first = (await chain.aperform(chain.load(AT, lease=LeaseWish("first", 0)))).fence
        waiting = asyncio.ensure_future(chain.aperform(chain.load(AT, lease=LeaseWish("second", 5))))
        await asyncio.sleep(0.02)
        waiting.cancel()
        await chain.aperform(chain.release(first))
        with pytest.raises(asyncio.CancelledError):
            await waiting

        third = await chain.aperform(chain.load(AT, lease=LeaseWish("third", 5)))
        assert third.fence.run == "third"

    async def test_of_one_who_stopped_waiting_goes_back_through_the_chain_that_took_it(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db") as saver:
            chain = saver.chain
            chain.set_up()
            clone = chain.with_codec(Codec())
            began = threading.Event()

            with chain.database.lock:
                loading = asyncio.ensure_future(chain.aperform(telling(began, chain.load(AT, lease=LeaseWish("a", 0)))))
                await asyncio.to_thread(began.wait, 5)
                loading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await loading
            await chain.aperform(clone.exists("t"))

            assert not chain.sessions
            assert not beats._held.get(chain)
            assert take(clone, "second").run == "second"


class DescribeAFence:
    def test_keeps_a_run_that_lost_its_thread_from_writing(self, pair: tuple[Any, Any]) -> None:
        one, other = pair
        old = take(one, "old")
        give(other, old)
        take(other, "new")

        with pytest.raises(StaleRunError, match="Run old does not hold thread 't' any more"):
            one.perform(one.beat(old))

    def test_does_not_let_an_old_run_give_back_what_a_new_one_holds(self, pair: tuple[Any, Any]) -> None:
        one, other = pair
        old = take(one, "old")
        give(one, old)
        take(other, "new")

        give(one, old)

        with pytest.raises(ThreadBusyError, match="run new"):
            take(one, "third")

    @pytest.mark.parametrize("what", ["put", "put_writes", "delete_thread", "prune", "set_head", "delete_for_runs"])
    def test_keeps_public_writes_out(self, saver: Any, what: str) -> None:
        made = grow(saver, 2)
        take(saver.chain, "run")

        with pytest.raises(ThreadBusyError):
            {
                "put": lambda: grow(saver, 1, parent=made[-1]),
                "put_writes": lambda: saver.put_writes(made[-1], [("a", 1)], "task"),
                "delete_thread": lambda: saver.delete_thread("t"),
                "prune": lambda: saver.prune(["t"]),
                "set_head": lambda: saver.set_head(cfg(), made[0]["configurable"]["checkpoint_id"]),
                "delete_for_runs": lambda: saver.delete_for_runs(["r"]),
            }[what]()

        assert len(list(saver.list(cfg()))) == 2

    def test_lets_people_look_and_name(self, saver: Any) -> None:
        made = grow(saver, 2)
        take(saver.chain, "run")

        saver.tag(made[0], "good")

        assert len(list(saver.list(cfg()))) == 2
        assert saver.list_threads(status="running")[0].thread_id == "t"


class DescribeATakeOver:
    def test_happens_at_once_when_the_holders_process_is_gone(
        self, saver: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.held_by(saver, GONE, monkeypatch)

        assert take(saver.chain, "next").run == "next"

    def test_waits_for_the_term_where_it_cannot_be_told(self, saver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.held_by(saver, ELSEWHERE, monkeypatch)
        self.short_terms(saver, 0.2)

        with pytest.raises(ThreadBusyError):
            take(saver.chain, "hasty", wait_s=0.05)
        started = time.monotonic()
        assert take(saver.chain, "next", wait_s=5, term_s=0.2).run == "next"
        assert time.monotonic() - started >= 0.2

    def test_does_not_happen_while_the_holder_gives_signs_of_life(
        self, saver: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fence = self.held_by(saver, ELSEWHERE, monkeypatch)
        self.short_terms(saver, 0.3)
        stop = threading.Event()

        def beat() -> None:
            while not stop.wait(0.05):
                saver.chain.perform(saver.chain.beat(fence))

        beater = threading.Thread(target=beat)
        beater.start()
        with pytest.raises(ThreadBusyError):
            take(saver.chain, "next", wait_s=1.0, term_s=0.3)
        stop.set()
        beater.join()

    @staticmethod
    def held_by(saver: Any, process: Process, monkeypatch: pytest.MonkeyPatch) -> Fence:
        """A lease of a run in another process."""
        from stepwell.checkpoint import lease_rows

        with monkeypatch.context() as patch:
            patch.setattr(leases, "here", lambda: process)
            patch.setattr(lease_rows, "here", lambda: process)
            fence = take(saver.chain, "theirs")
        beats.let_go(saver.chain, fence)
        return fence

    @staticmethod
    def short_terms(saver: Any, term_s: float) -> None:
        if isinstance(saver, SqliteSaver):
            saver.chain.lease_s = term_s


class DescribeBeats:
    def test_are_given_for_every_lease_until_it_ends(self, saver: Any) -> None:
        chain = saver.chain
        fence = take(chain, "run")
        before = self.beat_of(saver)

        beats.beat_all()
        assert self.beat_of(saver) == before + 1
        give(chain, fence)
        beats.beat_all()

    def test_end_for_a_lease_that_was_lost(self, saver: Any) -> None:
        fence = take(saver.chain, "run")
        beats.hold(saver.chain, Fence("t", fence.epoch + 7, "stranger"))

        beats.beat_all()

        assert not beats._held.get(saver.chain)
        give(saver.chain, fence)

    @staticmethod
    def beat_of(saver: Any) -> int:
        if isinstance(saver, SqliteSaver):
            with saver.cursor(transaction=False) as cursor:
                return int(cursor.execute("SELECT beat FROM threads").fetchall()[0][0])
        return int(saver.chain._leases.holder("t").beat)


class DescribeAProcess:
    def test_is_not_gone_while_it_runs(self) -> None:
        assert not leases.is_gone(here())

    def test_is_gone_when_its_number_is_free_or_somebody_elses(self) -> None:
        mine = here()

        assert leases.is_gone(GONE)
        assert leases.is_gone(Process(mine.host, mine.boot, mine.space, mine.pid, "7"))

    def test_cannot_be_told_from_another_host(self) -> None:
        assert not leases.is_gone(ELSEWHERE)

    def test_survives_the_way_through_a_database(self) -> None:
        assert Process.from_text(here().as_text()) == here()


class DescribeAWaiterThatIsInterrupted:
    def test_leaves_the_line_at_once(self, pair: tuple[Any, Any]) -> None:
        # given a run that holds the thread, and one that waits until Ctrl-C comes
        chain, other = pair
        held = take(chain, "holder")
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt) as kept:  # a notebook keeps what was raised, with all its frames
            take(chain, "waiter", wait_s=30)
        signal.signal(signal.SIGALRM, before)

        # when the holder is done
        chain.perform(chain.release(held))

        # then nobody is before the next one
        assert take(other, "next", wait_s=0).run == "next"
        del kept

    async def test_leaves_the_line_at_once_on_a_loop(self, pair: tuple[Any, Any]) -> None:
        chain, other = pair
        held = take(chain, "holder")
        waiting = asyncio.ensure_future(chain.aperform(chain.load(AT, lease=LeaseWish("waiter", 30))))
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError) as kept:
            await waiting

        chain.perform(chain.release(held))

        assert take(other, "next", wait_s=1).run == "next"
        del kept


class DescribeAChildProcess:
    def test_holds_nothing_of_what_its_parent_held(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db") as saver:
            grow(saver, 1)
            take(saver.chain, "parent")

            child = os.fork()
            if child == 0:
                try:
                    grow(saver, 1, parent=saver.get_tuple(cfg()).config)
                    os._exit(1)
                except ThreadBusyError:
                    os._exit(0)
                except BaseException:
                    os._exit(2)
            _, status = os.waitpid(child, 0)

            assert os.waitstatus_to_exitcode(status) == 0
