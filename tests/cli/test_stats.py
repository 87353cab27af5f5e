"""`stepwell stats` as a person runs it."""

from __future__ import annotations

from typing import Any


class DescribeStats:
    def test_the_largest_come_first(self, stepwell: Any) -> None:
        stepwell("run", "--thread", "long", "--new", "-m", "word " * 2000)
        stepwell("run", "--thread", "short", "--new", "-m", "one")

        told = stepwell("stats", "--json").json
        assert [each["thread"] for each in told["threads"]] == ["long", "short"]
        assert told["threads"][0]["live_bytes"] >= 10_000
        assert told["file_bytes"] > 0
        assert told["channels"][0]["bytes"] >= told["channels"][-1]["bytes"]
        one = stepwell("stats", "--top", "1", "--json").json
        assert ([each["thread"] for each in one["threads"]], one["left_out"]) == (["long"], 1)

        said = stepwell("stats", "--top", "1").out
        assert "long: " in said
        assert "… and 1 smaller thread" in said
        assert "channel messages: " in said
        assert "no thread 'nobody'" in stepwell("stats", "nobody", expect=1).err
