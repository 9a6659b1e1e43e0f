"""Ranks that stop at the same step, or not at all."""

import pathlib

import pytest
from ranks import ranks_say

AGREEING = pathlib.Path(__file__).resolve().parent / "agreeing.py"


@pytest.mark.parametrize("asks", ["0", "2", "012"])
def test_all_stop_where_one_is_asked(asks):
    stopped = ranks_say(AGREEING, "012", asks, ranks=3)
    assert stopped == [stopped[0]] * 3 and 5 <= stopped[0] <= 24


def test_none_stops_where_none_is_asked():
    assert ranks_say(AGREEING, "01", "-") == [None, None]


def test_one_that_takes_part_alone_does_not_stop_alone():
    assert ranks_say(AGREEING, "1", "1") == [None, None]


def test_one_that_has_fewer_steps_is_not_waited_for():
    """Nor does the process of the other one wait for it as it ends."""
    assert ranks_say(AGREEING, "01", "-", "0") == [None, None]


def test_an_exchange_that_failed_stops_none():
    """Rank 0 is away, for an evaluation, and asks as it comes back."""
    assert ranks_say(AGREEING, "01", "0", "", "0") == [None, None]
