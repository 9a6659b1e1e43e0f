"""Places in parallel groups, of two processes with two devices each."""

import pathlib

from ranks import ranks_say

HERE = pathlib.Path(__file__).resolve().parent


def test_places():
    """Of an axis that lies within a process each has all."""
    assert ranks_say(HERE / "places.py", XLA_FLAGS="") == [
        [{"dp": rank, "tp": 0}, {"tp": rank, "dp": 0}, {"dp": rank}, {}]
        for rank in range(2)]
