"""nanwatch simulate: another scaler on what a real daemon recorded, and what
the training does with that scaler."""

import json
import pathlib
import subprocess
import tempfile

import pytest
from conftest import BIN, Daemon, feed, word2vec

START = 2.0 ** 32


def simulate(*arguments, stdin=None):
    return subprocess.run(
        [str(BIN / "nanwatch"), "simulate", *map(str, arguments)],
        capture_output=True, text=True, input=stdin, timeout=120)


def answer(*arguments, **options):
    done = simulate(*arguments, "--json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assumed(outcome):
    return sum(a["update_attempts"] for a in outcome["assumed"].values())


@pytest.fixture(scope="module")
def place():
    """One training under two scalers, each for itself, and one without news."""
    with tempfile.TemporaryDirectory(prefix="nw-") as name:
        daemon = Daemon(pathlib.Path(name)).start()
        for scaler in "ascend_tf", "pytorch":
            word2vec(daemon.address, "--scenario", "range", "--scaler", scaler,
                     "--steps", "1500", "--run", scaler, check=False)
        feed(daemon.address, "--run", "calm", "--steps", "500", "--rate", "0")
        daemon.nanwatch("export", "pytorch", "-o", name + "/pytorch.db")
        yield daemon
        daemon.kill()


def test_its_own_scaler_does_what_was_recorded(place):
    for run in "ascend_tf", "pytorch":
        got = answer(place.history, "--run", run)
        assert got["recorded_scaler"]["name"] == run
        assert got["simulated_scaler"]["name"] == run
        for what in "overflows", "skipped", "lowest_scale", "last_scale":
            assert got["simulated"][what] == got["recorded"][what], (run, what)
        assert got["recorded"]["skipped"] > 0
        assert assumed(got["simulated"]) == 0


def test_the_forecast_is_what_the_training_does(place):
    for known, other in (("ascend_tf", "pytorch"), ("pytorch", "ascend_tf")):
        flags = ["--scaler", other, "--init", START]
        if other == "ascend_tf":
            flags += ["--growth-interval", 1000, "--backoff-factor", 0.5]
        forecast = answer(place.history, "--run", known, *flags)["simulated"]
        real = answer(place.history, "--run", other)["recorded"]
        assert forecast["highest_scale"] == real["highest_scale"] == START
        assert abs(forecast["skipped"] - real["skipped"]) <= 3, (forecast, real)
        assert 0.5 <= forecast["last_scale"] / real["last_scale"] <= 2
        # Where the scales differ, gradients or neighbours had to tell.
        assert assumed(forecast) + forecast["judged_by_gradients"] > 0


def test_bounds_hold_the_forecast(place):
    got = answer(place.history, "--run", "pytorch", "--fixed", 65536)
    best, worst = got["at_best"], got["at_worst"]
    assert best["skipped"] <= got["simulated"]["skipped"] <= worst["skipped"]
    assert got["simulated"]["lowest_scale"] == 65536
    # A fixed scale as high as the first: it overflows as long as that did.
    high = answer(place.history, "--run", "pytorch", "--fixed", START)
    assert high["simulated"]["skipped"] >= high["recorded"]["skipped"]


def test_without_a_scaler_nothing_is_skipped(place):
    got = answer(place.history, "--run", "pytorch", "--scaler", "none")
    assert got["simulated"]["skipped"] == 0
    assert got["simulated"]["highest_scale"] == 1


def test_a_live_run_and_an_export_of_it_say_the_same(place):
    of_file = answer(place.folder / "pytorch.db", "--scaler", "megatron")
    done = subprocess.run(
        [str(BIN / "nanwatch"), "--address", place.address, "simulate",
         "pytorch", "--scaler", "megatron", "--json"],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == of_file
    table = simulate(place.folder / "pytorch.db", "--scaler", "megatron").stdout
    assert "recorded" in table and "Assumed" in table
    assert "Megatron-LM DynamicGradScaler: starts at 4294967296" in (
        " ".join(table.split()))


def test_what_no_update_tells_is_said(place):
    got = answer(place.history, "--run", "calm", "--fixed", 65536)
    higher = got["simulated"]["assumed"]["at_a_higher_scale"]
    assert higher["update_attempts"] == higher["no_update_tells"] == 500
    assert got["at_best"]["skipped"] == 0
    assert any("no update tells" in s for s in got["assumptions"])




def test_a_log_of_another_program(place):
    text, scale = "", 65536.0
    for step in range(1, 401):
        over = step in (100, 101, 102)
        if over:
            scale /= 2
        shown = "" if over else " lm loss: 2.100000E+00 |"
        text += (f" iteration {step:8d}/     400 | consumed samples: "
                 f"{step * 16:12d} | elapsed time per iteration (ms): 912.3 | "
                 f"learning rate: 1.500E-04 |{shown} loss scale: {scale:.1f} | "
                 f"grad norm: 0.713 | number of skipped iterations: "
                 f"{int(over):3d} | number of nan iterations:   0 |\n")
    got = answer("-", "--fixed", 4096, stdin=text)
    assert got["recorded"]["skipped"] == 3
    assert got["simulated"]["skipped"] == 0
    # No overflow at a higher scale is none at this one; of the three nothing
    # is known but what came after them.
    lower = got["simulated"]["assumed"]["at_a_lower_scale"]
    assert lower["update_attempts"] == assumed(got["simulated"]) == 3


def test_what_cannot_be_done_is_said(place):
    several = simulate(place.history, "--fixed", 1024)
    assert several.returncode == 3 and "--run" in several.stderr
    assert "calm" in several.stderr
    unknown = simulate(place.history, "--run", "calm", "--scaler", "nobody")
    assert unknown.returncode == 4 and "megatron" in unknown.stderr
    statistical = simulate(place.history, "--run", "calm", "--scaler", "popart")
    assert statistical.returncode == 4
    assert "statistics" in statistical.stderr
    interval = simulate(place.history, "--run", "calm", "--scaler", "ascend_tf")
    assert interval.returncode == 4 and "--growth-interval" in interval.stderr
    assert simulate(place.history, "--run", "calm", "--fixed", 0).returncode == 4
    assert simulate(place.history, "--run", "calm", "--fixed", 8, "--init",
                    8).returncode == 4
    nobody = subprocess.run(
        [str(BIN / "nanwatch"), "--address", place.address, "simulate",
         "nobody", "--fixed", "8"], capture_output=True, text=True, timeout=60)
    assert nobody.returncode == 3 and "no file" in nobody.stderr
