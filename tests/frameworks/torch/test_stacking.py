"""Small gradients are measured many at once, and each keeps its own numbers."""

import math

import pytest
import torch

from nanwatch._torch.readout import Readout
from nanwatch._torch.stacking import Stacks
from nanwatch._torch.statistics import Shapes, Sizes


def mixed(kind=torch.float32):
    """Layers of two shapes, some as a transposed view, one large, one alone."""
    torch.manual_seed(1)
    made = []
    for i in range(40):
        weight = torch.randn(24, 16, dtype=kind)
        made += [weight.t().contiguous().t() if i % 3 else weight,
                 torch.randn(24, dtype=kind)]
    return [torch.randn(200, 100, dtype=kind), *made, torch.randn(3, 3),
            torch.tensor(-2.5)]


def sizes_of(tensors, **how):
    read = Readout()
    return Sizes(tensors, Shapes(tensors), read, zeros=False, **how), read


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_each_has_the_numbers_it_has_alone(kind):
    tensors = mixed(kind)
    assert Stacks(tensors), "else nothing is tested"
    sizes, read = sizes_of(tensors, largest=True)
    assert sizes.norms(read) == pytest.approx(
        [t.norm().item() for t in tensors], rel=1e-6)
    assert sizes.largest == [t.abs().max().item() for t in tensors]
    assert sizes.plain


def test_they_are_divided_by_a_scale():
    tensors = mixed()
    sizes, read = sizes_of(tensors, largest=True,
                           divide_by=torch.tensor(1024.0))
    assert sizes.norms(read) == pytest.approx(
        [t.norm().item() / 1024 for t in tensors], rel=1e-6)
    assert sizes.largest == [t.abs().max().item() / 1024 for t in tensors]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 3, 7, 81])
def test_the_one_that_is_not_finite_is_named(bad, place):
    tensors = mixed()
    tensors[place][0, 1] = bad
    sizes, read = sizes_of(tensors, largest=True)
    assert sizes.odd and not sizes.plain
    found = [i for i, r in enumerate(sizes.read(read, [1.0] * len(tensors)))
             if r.bad]
    assert found == [place]
    assert not math.isfinite(sizes.largest[place])


def test_a_square_that_leaves_the_range_is_looked_at_again():
    tensors = mixed()
    tensors[4][0] = 1e25
    sizes, read = sizes_of(tensors, largest=False)
    assert sizes.plain and not sizes.counts
    assert sizes.norms(read)[4] == pytest.approx(1e25)


def test_few_of_a_shape_are_measured_alone():
    assert not Stacks([torch.ones(4, i + 1) for i in range(40)])
    assert not Stacks([torch.ones(200, 200) for _ in range(40)])
    assert not Stacks([torch.ones(4, dtype=torch.bfloat16)] * 40)
