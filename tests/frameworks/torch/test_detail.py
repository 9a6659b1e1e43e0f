"""When a client looks closely by itself."""

from types import SimpleNamespace

from nanwatch._torch.detail import Detail


def detailed(bad, steps=400):
    """The steps that are looked at closely where those of `bad` overflow."""
    modules = SimpleNamespace(
        all=False, enable=lambda: None, disable=lambda: None
    )
    detail = Detail(modules)
    found = []
    for number in range(steps):
        if detail.covers(number):
            found.append(number)
        seen = SimpleNamespace(
            overflow=number in bad,
            loss_bad=number in bad,
            applied=False,
            lost=False,
            unexplained=False,
        )
        detail.after(seen, number + 1)
    return found


def test_after_one_bad_step():
    assert detailed({60}) == list(range(61, 78))


def test_one_bad_step_does_not_hide_what_stays():
    found = detailed({60, *range(150, 400)})
    assert 153 in found and 154 in found, found
    # And not for ever.
    assert len(found) < 60, found


def test_streaks_again_and_again_are_looked_at_now_and_then():
    often = {n for n in range(400) if n % 20 < 4}
    assert len(detailed(often)) < 80


def test_weights_of_every_32nd_step_whoever_tells_of_it_when():
    detail = Detail(SimpleNamespace())
    of_two = [n for n in range(100) for _ in range(2)
              if detail.takes_weights(n, False)]
    assert of_two == [n for n in (0, 32, 64, 96) for _ in range(2)]


def test_weights_beside_the_first_bad_gradients():
    detail = Detail(SimpleNamespace())
    assert [n for n in range(40) if detail.takes_weights(n, n > 34)] == [
        0, 32, 35]
