"""What lasts beyond a conversation lives in the store (B-66, B-67, B-68, B-70, B-87)."""

from __future__ import annotations

import pytest

from stepwell.store.memory import InMemoryStore
from tests.specs.chat import chat_graph, human
from tests.specs.given import cfg, chain

claim = pytest.mark.claim
PREFS = ("u1", "prefs")


def remembers(state, *, store):
    store.put(PREFS, "lang", {"v": "中文"})
    return {"log": ["kept"]}


def recalls(state, *, store):
    return {"log": [store.get(PREFS, "lang").value["v"]]}


class DescribeAStore:
    @claim("B-66", "B-87")
    def test_carries_what_one_thread_learned_to_another(self, drive, saver):
        store = InMemoryStore()
        drive.invoke(chain({"n": remembers}, saver, store=store), {"log": []}, cfg("one"))

        ended = drive.invoke(chain({"n": recalls}, saver, store=store), {"log": []}, cfg("two"))

        assert ended["log"] == ["中文"]

    @claim("B-67", "B-70")
    def test_finds_what_is_known_of_one_user_only(self, drive):
        store = InMemoryStore()
        drive.call(store, "put", ("u1", "prefs"), "lang", {"v": "中文"})
        drive.call(store, "put", ("u1", "projects"), "shop", {"v": "电商项目"})

        assert {i.value["v"] for i in drive.call(store, "search", ("u1",))} == {"中文", "电商项目"}
        assert drive.call(store, "search", ("u2",)) == []

    @claim("B-68")
    def test_outlives_its_threads_and_they_outlive_it(self, drive, saver):
        store = InMemoryStore()
        graph = chain({"n": remembers}, saver, store=store)
        for thread in ("one", "two"):
            drive.invoke(graph, {"log": []}, cfg(thread))

        drive.call(saver, "delete_thread", "one")
        kept = drive.call(store, "get", PREFS, "lang")
        drive.call(store, "delete", PREFS, "lang")

        assert kept.value == {"v": "中文"}
        assert drive.get_state(graph, cfg("two")).values == {"log": ["kept"]}

    @claim("B-68")
    def test_never_shows_in_the_state(self, drive, saver):
        store = InMemoryStore()
        graph = chain({"n": remembers}, saver, store=store)
        drive.invoke(graph, {"log": []}, cfg())

        assert "中文" not in repr([s.values for s in drive.history(graph, cfg())])

    @claim("B-70")
    @pytest.mark.parametrize("namespace", [(), ("",), ("u1", ""), ("a.b",), "u1"])
    def test_refuses_a_namespace_that_is_none(self, drive, namespace):
        with pytest.raises(ValueError, match=r"(?i)namespace"):
            drive.call(InMemoryStore(), "put", namespace, "k", {"v": 1})

    @claim("B-70")
    def test_does_not_find_by_wildcard(self, drive):
        store = InMemoryStore()
        drive.call(store, "put", ("u1", "prefs"), "k", {"v": 1})

        assert drive.call(store, "search", ("*",)) == [] and drive.call(store, "search", ("u",)) == []


@claim("B-68", "B-65")
def test_a_graph_without_a_store_has_none(drive, saver):
    seen = []

    def node(state, runtime):
        seen.append(runtime.store)
        return {"messages": []}

    drive.invoke(chat_graph(saver, node), human("r1"), cfg())

    assert seen == [None]
