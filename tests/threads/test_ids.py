"""Ids of new threads."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from stepwell.threads import new_thread_id


class DescribeANewThreadId:
    def test_b12_is_a_uuid_of_version_7_in_36_characters(self):
        id = new_thread_id()

        assert len(id) == 36 and UUID(id).version == 7 and id[14] == "7"

    def test_b12_a_thousand_in_a_row_are_sorted_and_unique(self):
        ids = [new_thread_id() for _ in range(1000)]

        assert ids == sorted(set(ids))

    def test_ids_made_by_many_threads_at_once_are_unique(self):
        with ThreadPoolExecutor(8) as pool:
            ids = list(pool.map(lambda _: new_thread_id(), range(4000)))

        assert len(set(ids)) == 4000

    def test_does_not_tell_the_random_part_of_any_other(self):
        tails = {new_thread_id()[19:] for _ in range(100)}

        assert len(tails) == 100

    def test_begins_with_the_time_it_was_made(self):
        before = time.time_ns() // 1_000_000

        made = int(new_thread_id().replace("-", "")[:12], 16)

        assert before - 1 <= made <= time.time_ns() // 1_000_000 + 1_000
