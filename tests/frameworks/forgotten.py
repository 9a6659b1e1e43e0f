"""A watch, or a callback, that nobody closes: a cell of a notebook that runs
again."""

import gc
import time
import weakref

import numpy


def wait(for_what, seconds=10.0):
    end = time.monotonic() + seconds
    while not for_what() and time.monotonic() < end:
        time.sleep(0.01)
    return for_what()


def ends(daemon, name, cell, steps):
    """`cell` trains for so many steps and gives what it had watched with; that
    is freed then, and its run is closed."""
    it = cell()
    run = it.run
    # The garbage collector does not know of arrays: no weak reference to one
    # is cleared before it is freed.
    it.array = numpy.zeros(8)
    array = weakref.ref(it.array)
    gc.collect()
    time.sleep(0.2)
    assert not run.is_closed
    del it
    gc.collect()
    assert wait(lambda: array() is None), "somebody keeps it"
    assert wait(lambda: run._shared.ended)
    assert run.stats.acked == run.stats.pushed >= steps, run.stats
    said = daemon.nanwatch("diagnose", name).stdout
    assert "all ranks closed" in said, said
    assert f"{steps} updates" in said, said
