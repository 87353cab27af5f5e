"""A list of many threads takes no time worth speaking of, and reads nothing of what they hold."""

from __future__ import annotations

import re
import time

import pytest

from stepwell.checkpoint.base import empty_checkpoint
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.threads import browse_threads, list_threads

THREADS = 1_500
LIMIT_S = 0.2


@pytest.fixture
def opened(database):
    """A saver on the database, by the library that can tell each statement."""
    with SqliteSaver(database, driver="apsw") as saver:
        saver.setup()
        yield saver


@pytest.fixture
def crowded(database):
    """A database of 1,500 threads, and nobody has it open."""
    with SqliteSaver(database, driver="apsw") as saver:
        fill(saver)


def fill(saver):
    for number in range(THREADS):
        checkpoint = {
            **empty_checkpoint(),
            "channel_values": {"text": "x" * 500},
            "channel_versions": {"text": 1},
        }
        config = {"configurable": {"thread_id": f"thread-{number:04d}", "checkpoint_ns": ""}}
        saver.put(config, checkpoint, {"source": "loop", "step": 1, "title": f"title {number}"}, {"text": 1})


def test_b41_h20_takes_less_than_a_fifth_of_a_second_and_decodes_no_value(crowded, opened):
    asked = []
    opened.connection().set_exec_trace(lambda cursor, sql, args: asked.append(sql) or True)

    began = time.process_time()
    listing = list_threads(opened)
    took = time.process_time() - began

    assert [info.metadata["title"] for info in listing[:2]] == ["title 1499", "title 1498"]
    assert len(listing) == THREADS and took < LIMIT_S
    assert len(asked) < 20 and not any(re.search(r"\bitems\b", sql) for sql in asked)


@pytest.mark.claim("H-20")
def test_a_page_for_people_takes_as_long_and_looks_into_no_thread_but_those_it_shows(crowded, opened):
    asked = []
    opened.connection().set_exec_trace(lambda cursor, sql, args: asked.append(sql) or True)

    began = time.process_time()
    page = browse_threads(opened, limit=50, offset=1_000)
    took = time.process_time() - began

    assert (len(page.rows), page.rows[0].title, page.more) == (50, "title 499", True)
    assert took < LIMIT_S and len(asked) < 30
