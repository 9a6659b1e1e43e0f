"""What of a data-parallel model's weights is looked at when, and the digests
that say where they differ; what is said of them is test_ddp's."""

import math
import random

import pytest

from nanwatch._torch.replicas import Digest, Turns

P = 2097143


class Weight:
    def __init__(self, elements):
        self.elements = elements

    def numel(self):
        return self.elements


def located(a, b):
    """As daemon/detect/replica_locator.h does it: the place; None."""
    mask = (1 << 21) - 1
    apart = [((a >> 21 * i & mask) - (b >> 21 * i & mask)) % P
             for i in range(3)]
    if apart[0] == 0:
        return None
    place = apart[1] * pow(apart[0], -1, P) % P
    return place if place * apart[1] % P == apart[2] else None


def digest(places):
    made = Digest(len(places))
    for weight, place in enumerate(places):
        made.place(weight, place)
    assert not made.lacks_places()
    return made


@pytest.mark.parametrize("seed", range(20))
def test_a_digest_is_of_what_was_seen_last(seed):
    """And not of how often, or in which parts."""
    chance = random.Random(seed)
    size = chance.randrange(1, 60)
    places = [1 + chance.randrange(60_000) for _ in range(size)]
    norms = [chance.uniform(0, 100) for _ in range(size)]
    once = digest(places)
    once.take(range(size), norms)
    many = digest(places)
    for _ in range(20):
        which = [i for i in range(size) if chance.random() < 0.5]
        many.take(which, [chance.choice([0.0, 1.5, math.nan, math.inf])
                          for _ in which])
    for i in range(size):
        many.take([i], [norms[i]])
    assert once.value == many.value < 1 << 63


@pytest.mark.parametrize("seed", range(20))
def test_two_digests_say_where_they_differ(seed):
    chance = random.Random(seed)
    size = chance.randrange(2, 300)
    norms = [chance.uniform(0, 100) for _ in range(size)]
    here, there = (digest(range(1, size + 1)) for _ in range(2))
    here.take(range(size), norms)
    there.take(range(size), norms)
    assert here.value == there.value
    place = chance.randrange(size)
    there.take([place], [norms[place] * (1 + 1e-7)])
    assert located(here.value, there.value) == place + 1
    other = (place + 1) % size
    there.take([other], [norms[other] * 2])
    assert located(here.value, there.value) is None


def test_every_nan_is_the_same_one():
    here, there = digest([1]), digest([1])
    here.take([0], [math.nan])
    there.take([0], [-math.nan])
    assert here.value == there.value


def test_each_weight_has_its_turn_within_four_steps():
    turns = Turns()
    weights = [Weight(1 << 12)] * 100
    first = turns.next(7, weights)
    assert first.all and not first.comparable
    looked = {i: 7 for i in range(100)}
    for number in range(8, 40):
        turn = turns.next(number, weights)
        assert len(turn.which) == 25 and not turn.all
        looked.update(dict.fromkeys(turn.which, number))
        assert number - min(looked.values()) <= 3
        # Whoever began later looks at the same ones, and knows no other ones.
        assert turn.comparable == (min(looked.values()) > 7 or number > 9)


def test_numbers_that_leave_some_out():
    turns = Turns()
    weights = [Weight(1 << 12)] * 100
    seen = [turns.next(number, weights) for number in range(0, 100, 10)]
    assert all(turn.all for turn in seen)
    assert [turn.comparable for turn in seen] == [False] + [True] * 9
    on = [turns.next(number, weights).comparable for number in range(91, 96)]
    assert on == [False, False, True, True, True]


def test_few_weights_all_have_their_turn():
    turns = Turns()
    for number in range(5):
        turn = turns.next(number, [Weight(100)] * 15)
        assert turn.all and turn.comparable and len(turn.which) == 15
