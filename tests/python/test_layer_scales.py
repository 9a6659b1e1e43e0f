"""Layer-wise loss scales, as a client without a framework tells them: what the
commands, HTTP and metrics say of the scales that suit."""

import json
import math
import re
import urllib.request

import numpy
from daemons import daemon, folder  # noqa: F401

import nanwatch

ELEMENTS = 4096
FIRST = -40


def held(random, size, scale):
    """A gradient of normal values, 2^size, as fp16 holds it at that scale:
    what a status tells."""
    x = numpy.abs(random.normal(0.0, 2.0**(size + scale), ELEMENTS))
    x = numpy.round(x * 2.0**24) * 2.0**-24
    nonzero = x[x > 0]
    counts = numpy.bincount(
        numpy.floor(numpy.log2(nonzero)).astype(int) - FIRST, minlength=60)
    return {"zero": ELEMENTS - len(nonzero), "abs_max": float(x.max()),
            "rms": float(math.sqrt((x**2).mean())),
            "exponents": (FIRST, [int(c) for c in counts])}


def tell(daemon, name, sizes, scale_of, steps=60, layerwise=True):
    random = numpy.random.default_rng(1)
    scaler = nanwatch.Scaler(kind="layerwise" if layerwise else "static")
    with nanwatch.init(run=name, address=daemon.address, scaler=scaler) as run:
        ops = {layer: run.register_op(layer, type="LinearBackward",
                                      dtype="fp16", shape=(ELEMENTS,), order=i)
               for i, layer in enumerate(reversed(sizes))}
        for step in range(steps):
            scales = {layer: scale_of(layer) for layer in sizes}
            for layer, size in sizes.items():
                run.op(ops[layer], step=step, slot="grad_output",
                       **held(random, size, math.log2(scales[layer])))
            if layerwise:
                run.step(step, loss=1.0 / (step + 1), layer_scales={
                    ops[layer]: scale for layer, scale in scales.items()})
            else:
                run.step(step, loss=1.0 / (step + 1),
                         scale=next(iter(scales.values())))
        assert run.flush(10)


def scales_of(daemon, name):
    told = json.loads(
        daemon.nanwatch("layers", name, "--scales", "--json").stdout)
    return {layer["name"]: layer for layer in told["scales"]}, told["groups"]


SIZES = {"embed": -36.0, "blocks.0": -30.0, "blocks.1": -18.0, "head": -2.0}


def test_the_range_of_each_layer_and_the_fewest_scales(daemon):  # noqa: F811
    tell(daemon, "wide", SIZES, lambda layer: 2.0**round(-8 - SIZES[layer]))
    layers, groups = scales_of(daemon, "wide")
    assert list(layers) == list(SIZES)
    for name, size in SIZES.items():
        # 1 in 1000 normal values is below a 800th of the deviation; the
        # largest of 4,096 is 3.5 deviations or so.
        # Of 9 draws of 10: up to two bits more.
        more = math.log2(layers[name]["lowest"]) - (-24 + 9.64 - size)
        assert -0.5 < more < 2.2, layers[name]
        assert abs(math.log2(layers[name]["highest"])
                   - (16 - 1 - size - 1.85)) < 1, layers[name]
        assert layers[name].get("lost", 0) < 0.003
    # embed needs 2^21.6 and head bears 2^15: not one.
    assert len(groups) == 2
    assert int(layers["head"].get("group", 0)) == 0
    assert int(layers["embed"]["group"]) == 1
    http = json.load(urllib.request.urlopen(
        f"{daemon.http}/api/v1/runs/wide/layers"))
    assert [layer["name"] for layer in http["layers"]] == list(SIZES)
    assert [g["scale"] for g in http["groups"]] == [
        float(g["scale"]) for g in groups]


def test_the_scales_as_yaml_and_as_a_table(daemon):  # noqa: F811
    tell(daemon, "yaml", SIZES, lambda layer: 2.0**round(-8 - SIZES[layer]))
    said = daemon.nanwatch("layers", "yaml", "--yaml").stdout
    scales = dict(re.findall(r'^  "([\w.]+)": ([\d.e+]+)$', said, re.M))
    layers, _ = scales_of(daemon, "yaml")
    assert set(scales) == set(SIZES)
    for name, scale in scales.items():
        assert layers[name]["lowest"] <= float(scale) <= layers[name]["highest"]
    table = daemon.nanwatch("layers", "yaml", "--scales").stdout
    assert all(name in table for name in SIZES)


def test_of_what_is_lost_a_bound_is_known(daemon):  # noqa: F811
    tell(daemon, "lost", SIZES, lambda layer: 1.0, layerwise=False)
    layers, groups = scales_of(daemon, "lost")
    assert layers["embed"]["all_lost"] and layers["embed"]["lost"] > 0.99
    assert not layers["head"].get("all_lost")
    assert any(group.get("bound") for group in groups)
    # The truth is within the bounds.
    assert layers["embed"]["lowest"] <= 2.0**22 <= layers["embed"]["highest"]


def test_metrics_and_what_would_have_been(daemon):  # noqa: F811
    tell(daemon, "bound", SIZES,
         lambda layer: min(1024.0, 2.0**round(-8 - SIZES[layer])), steps=80)
    assert daemon.metric("nanwatch_layers_outside") >= 2
    assert daemon.metric("nanwatch_layer_scale_highest") == 1024
    said = json.loads(
        daemon.nanwatch("simulate", "bound", "--layerwise", "--json").stdout)
    by_name = {one["name"]: one for one in said["scales"]}
    assert said["layers"] == 4 and said["updates"] == 80
    recorded = by_name["recorded"]
    assert recorded["lost"] >= 0.45 * recorded["layer_attempts"]
    assert by_name["2 fixed scales"]["lost"] < 0.2 * recorded["lost"]
    assert by_name["2 fixed scales"]["overflows"] == 0
    assert by_name["AdaLoss, bound 1024"]["log2_highest"] == 10


def test_a_run_that_tells_no_gradients_says_so(daemon):  # noqa: F811
    with nanwatch.init(run="none", address=daemon.address) as run:
        run.step(0, loss=1.0)
        assert run.flush(10)
    done = daemon.nanwatch("layers", "none", "--scales", check=False)
    assert done.returncode not in (0, 1, 2) and "exponents" in done.stderr
