"""Ctrl-C as a run takes its thread, where Python lets a signal in: on the way back from a call."""

import asyncio
from uuid import uuid4

import pytest

from stepwell.checkpoint import beats
from stepwell.checkpoint.leases import ProcessLeases
from stepwell.checkpoint.memory import InMemorySaver
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.drivers import threads
from stepwell.drivers.loop import LoopDriver
from stepwell.engine import effects as fx
from stepwell.graph import START, MessagesState, StateGraph
from stepwell.saves import At, LeaseWish
from stepwell.sql.sqlite import SqliteDatabase

CONFIG = {"configurable": {"thread_id": "t"}}
HI, AGAIN = {"messages": [("user", "hi")]}, {"messages": [("user", "again")]}


class Overridden(InMemorySaver):
    """One that is driven through its public methods."""

    def get_tuple(self, config):
        return super().get_tuple(config)

    async def aget_tuple(self, config):
        return await super().aget_tuple(config)


@pytest.fixture(params=["memory", "overridden", "sqlite"])
def saver(request, tmp_path):
    if request.param != "sqlite":
        yield {"memory": InMemorySaver, "overridden": Overridden}[request.param]()
        return
    with SqliteSaver(tmp_path / "x.db") as opened:
        opened.chain.set_up()
        yield opened


def chat(saver):
    graph = StateGraph(MessagesState).add_node("chat", lambda state: {"messages": [("ai", "hello")]})
    return graph.add_edge(START, "chat").compile(checkpointer=saver, on_busy="reject")


def interrupted_behind(call):
    """`call`, and Ctrl-C as it returns."""

    def interrupted(*given, **named):
        call(*given, **named)
        raise KeyboardInterrupt

    return interrupted


def interrupted_before(call):
    def interrupted(*given, **named):
        raise KeyboardInterrupt

    return interrupted


def takes_the_thread(saver):
    """What makes a lease hold."""
    return (SqliteDatabase, "commit") if isinstance(saver, SqliteSaver) else (ProcessLeases, "_give")


class DescribeARunThatIsInterruptedAsItTakesItsThread:
    @pytest.mark.parametrize("effect", [fx.Load, fx.Commit, fx.Release])
    def test_leaves_it_to_the_next_when_that_was_on_the_way_back(self, saver, effect, monkeypatch):
        app = chat(saver)

        with monkeypatch.context() as patched:
            patched.setitem(threads._ANSWERS, effect, interrupted_behind(threads._ANSWERS[effect]))
            with pytest.raises(KeyboardInterrupt):
                app.invoke(HI, CONFIG, durability="async")

        assert app.invoke(AGAIN, CONFIG)["messages"][-1].content == "hello"

    @pytest.mark.parametrize("when", ["behind the take", "before the beats", "behind the beats"])
    @pytest.mark.parametrize("how", ["invoke", "stream", "update_state"])
    def test_leaves_it_to_the_next_when_only_the_saver_knew_of_it(self, saver, how, when, monkeypatch):
        app = chat(saver)
        begin = {
            "invoke": lambda: app.invoke(HI, CONFIG),
            "stream": lambda: list(app.stream(HI, CONFIG)),
            "update_state": lambda: app.update_state(CONFIG, HI, as_node="chat"),
        }[how]
        holder, name = takes_the_thread(saver) if when == "behind the take" else (beats, "hold")
        interrupted = interrupted_before if when == "before the beats" else interrupted_behind

        with monkeypatch.context() as patched:
            patched.setattr(holder, name, interrupted(getattr(holder, name)))
            with pytest.raises(KeyboardInterrupt) as kept:  # a notebook keeps what was raised, with all its frames
                begin()

        assert app.invoke(AGAIN, CONFIG)["messages"][-1].content == "hello"
        assert not beats.held_by(saver.chain)
        del kept

    def test_leaves_it_to_whoever_took_it_once_its_own_take_was_undone(self, tmp_path, monkeypatch):
        # given a run whose transaction is undone, and another that takes the thread, with the same epoch, before the
        # first has looked to what it holds
        run_id, real, others = uuid4(), SqliteDatabase.rollback, []
        with SqliteSaver(tmp_path / "x.db") as saver:
            app, chain = chat(saver), saver.chain
            app.invoke(HI, CONFIG)
            with saver.cursor(transaction=False) as cursor:
                [(last,)] = cursor.execute("SELECT last FROM epochs")

            def take(database):
                real(database)
                if not others:
                    patched.undo()
                    others.append(chain.perform(chain.load(At("t"), lease=LeaseWish(str(run_id), 0))).fence)

            # when
            with monkeypatch.context() as patched:
                patched.setattr(SqliteDatabase, "commit", interrupted_before(SqliteDatabase.commit))
                patched.setattr(SqliteDatabase, "rollback", take)
                with pytest.raises(KeyboardInterrupt):
                    app.invoke(HI, {**CONFIG, "run_id": run_id})

            # then
            assert [fence.epoch for fence in others] == [last + 1]
            assert beats.held_by(chain) == others
            assert list(chain.sessions) == ["t"]
            chain.perform(chain.beat(others[0]))

    async def test_leaves_it_to_the_next_on_a_loop(self, saver, monkeypatch):
        app, real = chat(saver), LoopDriver._answer_rarer

        async def cancelled(driver, kind, effect):
            answer = await real(driver, kind, effect)
            if kind is fx.Load:
                raise asyncio.CancelledError
            return answer

        with monkeypatch.context() as patched:
            patched.setattr(LoopDriver, "_answer_rarer", cancelled)
            with pytest.raises(asyncio.CancelledError):
                await app.ainvoke(HI, CONFIG)

        assert (await app.ainvoke(AGAIN, CONFIG))["messages"][-1].content == "hello"
