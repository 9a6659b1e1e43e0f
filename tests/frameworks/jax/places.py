"""One process of two, with two devices each: prints its places in the parallel
groups. The test sets RANK and MASTER_PORT."""

import json
import os

import jax
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import nanwatch.jax

jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.config.update("jax_num_cpu_devices", 2)
jax.distributed.initialize(
    f"127.0.0.1:{os.environ['MASTER_PORT']}", 2, int(os.environ["RANK"]))


def places(shape, *names):
    mesh = Mesh(numpy.array(jax.devices()).reshape(shape), names)
    whole = NamedSharding(mesh, PartitionSpec())
    value = jax.make_array_from_callback(
        (4, 4), whole, lambda index: numpy.ones((4, 4), "float32")[index])
    with nanwatch.jax.watch({"w": value}) as watch:
        assert watch.run.stats.bad_input == 0
    return nanwatch.jax._places({"w": value})


print(json.dumps([places((2, 2), "data", "model"),
                  places((2, 2), "model", "data"),
                  places((4,), "fsdp"), places((2, 2), "x", "y")]), flush=True)
