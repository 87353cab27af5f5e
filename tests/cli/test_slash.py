"""Lines of a chat that begin with a slash."""

from __future__ import annotations

from stepwell.cli.asked import Asked
from stepwell.cli.conversation import Conversation
from stepwell.cli.place import Place
from stepwell.cli.slash import obey


class DescribeNew:
    def test_takes_nothing_of_the_thread_before_but_its_graph_and_patience(self):
        before = Place("t", "b", title="hello", wait=1.5, graph="app:graph", head="h", due=("a",))
        talk = Conversation(saver=None, graph=None, at=before, asked=Asked())

        assert obey(talk, "/new")

        assert talk.at == Place(talk.at.thread_id, is_new=True, wait=1.5, graph="app:graph")
        assert talk.at.thread_id != "t"
