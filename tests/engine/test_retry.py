"""Whether a failed task is tried again, and after how long."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stepwell.engine.retry import seconds, wait_before_retry
from stepwell.types import RetryPolicy

PLAIN = RetryPolicy(initial_interval=1.0, backoff_factor=2.0, max_interval=5.0, max_attempts=10, jitter=False)


@pytest.mark.parametrize(("attempt", "wait"), [(1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0), (9, 5.0), (10, None)])
def test_the_wait_grows_to_its_limit_and_ends_with_the_attempts(attempt, wait):
    assert wait_before_retry([PLAIN], ConnectionError(), attempt, 0.5) == wait


def test_chance_is_added_where_the_policy_says_so():
    assert wait_before_retry([PLAIN._replace(jitter=True)], ConnectionError(), 1, 0.5) == 1.5


@pytest.mark.parametrize(
    ("on", "error", "is_tried"),
    [
        (None, ConnectionError(), True),
        (None, ValueError(), False),
        (KeyError, KeyError(), True),
        (KeyError, ValueError(), False),
        ([KeyError, ValueError], ValueError(), True),
        ([KeyError, ValueError], TypeError(), False),
        (lambda error: "again" in str(error), ValueError("again"), True),
        (lambda error: "again" in str(error), ValueError("never"), False),
    ],
)
def test_a_policy_says_for_which_errors_it_is(on, error, is_tried):
    assert (wait_before_retry([PLAIN._replace(retry_on=on)], error, 1, 0.0) is not None) is is_tried


def test_the_first_policy_that_fits_counts():
    never = PLAIN._replace(retry_on=KeyError, max_attempts=1)

    assert wait_before_retry([never, PLAIN._replace(retry_on=Exception)], KeyError(), 1, 0.0) is None
    assert wait_before_retry([never, PLAIN._replace(retry_on=Exception)], ValueError(), 1, 0.0) == 1.0


def test_nothing_is_tried_again_that_is_no_exception_or_has_no_policy():
    assert wait_before_retry([PLAIN], KeyboardInterrupt(), 1, 0.0) is None
    assert wait_before_retry([], ConnectionError(), 1, 0.0) is None


@pytest.mark.parametrize(("value", "as_seconds"), [(None, None), (1.5, 1.5), (timedelta(minutes=1), 60.0)])
def test_a_duration_is_in_seconds(value, as_seconds):
    assert seconds(value) == as_seconds
