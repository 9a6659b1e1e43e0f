"""Places in parallel groups, of two ranks over gloo."""

import pathlib

import pytest
from ranks import ranks_say

from nanwatch._places import kind_of, places_of

HERE = pathlib.Path(__file__).resolve().parent


WANTED = {
    "ddp": [{"dp": 0}, {"dp": 1}],
    "fsdp": [{"dp": 0}, {"dp": 1}],
    "fully_shard": [{"dp": 0}, {"dp": 1}],
    "tensor": [{"tp": 0}, {"tp": 1}],
    "hybrid": [{"dp": 0}, {"dp": 1}],
    "named dp": [{"pp": 0, "dp": 0, "tp": 0}, {"pp": 0, "dp": 1, "tp": 0}],
    "named tp": [{"pp": 0, "dp": 0, "tp": 0}, {"pp": 0, "dp": 0, "tp": 1}],
    "named pp": [{"pp": 0, "dp": 0, "tp": 0}, {"pp": 1, "dp": 0, "tp": 0}],
}


def test_places():
    said = ranks_say(HERE / "places.py", *WANTED)
    for kind, wanted in WANTED.items():
        assert [rank[kind] for rank in said] == wanted, kind


@pytest.mark.parametrize("axis, kind", [
    ("dp", "dp"), ("data", "dp"), ("dp_shard", "dp"), ("fsdp", "dp"),
    ("dp_shard_in_ep", "dp"), ("data_parallel", "dp"), ("tp", "tp"),
    ("model", "tp"), ("tensor_parallel", "tp"), ("pipe", "pp"), ("ep", "ep"),
    ("expert", "ep"), ("cp", "cp"), ("sequence_parallel", "cp"),
    ("x", ""), ("", ""), ("depth", ""),
])
def test_what_an_axis_is_called(axis, kind):
    assert kind_of(axis) == kind


def test_axes_of_one_kind_are_counted_through():
    axes = [("dp", 2, 1), ("tp", 4, 3), ("", 7, 5), ("dp", 8, 2)]
    assert places_of(axes) == {"dp": 10, "tp": 3}
