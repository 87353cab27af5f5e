"""Times as people type them."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from stepwell.errors import ConfigError
from stepwell.threads import moment_in, seconds_in
from stepwell.threads.moments import told_moment

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class DescribeALengthOfTime:
    @pytest.mark.parametrize(
        ("text", "seconds"),
        [
            ("90s", 90),
            ("15min", 900),
            ("15m", 900),
            ("36h", 129_600),
            ("30d", 2_592_000),
            ("2w", 1_209_600),
            ("1d12h", 129_600),
            ("0.5h", 1800),
            (" 2D ", 172_800),
            ("0s", 0),
            ("never", math.inf),
        ],
    )
    def test_is_a_number_and_a_unit(self, text, seconds):
        assert seconds_in(text) == seconds

    @pytest.mark.parametrize("text", ["", "d", "30", "-1d", "1 d x", "soon", "1y", "1d 2", "nan", "1d,2h", "٣d٣"])
    def test_is_nothing_else(self, text):
        with pytest.raises(ConfigError, match="no length of time"):
            seconds_in(text)


class DescribeAMoment:
    @pytest.mark.parametrize(
        ("text", "moment"),
        [
            ("2d", NOW - timedelta(days=2)),
            ("3h", NOW - timedelta(hours=3)),
            ("1d12h", NOW - timedelta(hours=36)),
            ("2026-11-30T10:00+00:00", datetime(2026, 11, 30, 10, tzinfo=UTC)),
            ("2026-11-30T12:00+02:00", datetime(2026, 11, 30, 10, tzinfo=UTC)),
            ("9999999999w", datetime.min.replace(tzinfo=UTC)),
        ],
    )
    def test_is_so_long_ago_or_a_time(self, text, moment):
        assert moment_in(text, NOW) == moment

    def test_is_local_where_it_names_no_zone(self):
        assert moment_in("2026-11-30T18:00") == datetime(2026, 11, 30, 18).astimezone()
        assert moment_in("2026-11-30") == datetime(2026, 11, 30).astimezone()

    def test_of_a_day_may_be_its_end(self):
        assert moment_in("2026-11-30", ends=True) - moment_in("2026-11-30") == timedelta(days=1)
        assert moment_in("2026-11-30T18:00", ends=True) == moment_in("2026-11-30T18:00")

    @pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "30", "2 days ago", "never"])
    def test_is_nothing_else(self, text):
        with pytest.raises(ConfigError, match="no time"):
            moment_in(text, NOW)


class DescribeATimeThatASaverTells:
    def test_is_utc_where_it_names_no_zone(self):
        assert told_moment("2026-11-30T10:00:00") == datetime(2026, 11, 30, 10, tzinfo=UTC)
        assert told_moment("2026-11-30T12:00:00+02:00") == datetime(2026, 11, 30, 10, tzinfo=UTC)

    def test_may_be_none(self):
        assert told_moment("yesterday") is None
