"""What the room hands on of a saver: unfinished threads, provenance, registering, moving."""

from __future__ import annotations

from stepwell.threads import (
    ensure_thread,
    export_thread,
    find_thread,
    import_thread,
    list_threads,
    provenance,
    unfinished,
)
from tests.threads.test_show import T, shop


class DescribeTheSaversOwnCalls:
    def test_unfinished_names_the_threads_that_wait(self, saver, talk):
        talk("done", "hi")
        shop().compile(checkpointer=saver).invoke({}, T)

        assert unfinished(saver) == ["t"]

    def test_provenance_names_node_and_keys(self, saver, talk):
        talk("t", "hi")

        assert [(wrote.node, wrote.channels) for wrote in provenance(saver, T)] == [("answer", ("messages",))]

    def test_a_registered_thread_is_found_and_listed_only_when_asked_for(self, saver):
        ensure_thread(saver, T, {"user": "ada"})

        assert find_thread(saver, "t") == "t" and list_threads(saver) == []
        assert [info.metadata["user"] for info in list_threads(saver, status="empty")] == ["ada"]

    def test_a_thread_moves_as_bytes(self, saver, talk, texts):
        talk("t", "one", "two")

        assert import_thread(saver, export_thread(saver, "t"), "copy") == "copy"
        assert texts("copy") == texts("t") == ["one", "two"]
