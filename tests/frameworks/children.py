"""Programs of a test in processes of their own, which come from one that has
imported the frameworks already: each import takes seconds."""

import multiprocessing
import os
import runpy
import sys
import tempfile
import traceback

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["torch", "transformers", "accelerate", "lightning"])


def _run(script, arguments, environment, folder, log):
    with open(log, "w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(folder)
    os.environ.update(environment)
    # Frameworks look at these when they are imported, which they were.
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, os.path.dirname(script))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


class Child:
    """A script that is running."""

    def __init__(self, script, *arguments, folder=".", **environment):
        self._log = tempfile.NamedTemporaryFile("r", prefix="nw-")
        self._process = _CONTEXT.Process(
            target=_run,
            args=(str(script), arguments, environment, str(folder),
                  self._log.name))
        self._process.start()

    def wait(self, seconds=120):
        """What it printed; it must have ended well."""
        self._process.join(seconds)
        hangs = self._process.is_alive()
        if hangs:
            self._process.kill()
        said = self._log.read()
        assert not hangs and self._process.exitcode == 0, said
        return said
