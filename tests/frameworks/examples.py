"""The examples, as a person would start them, beside a real daemon."""

from children import Child
from daemons import ROOT
from verdicts import Verdict

EXAMPLES = ROOT / "client_lib" / "python" / "examples"


def run(daemon, script, name, tmp_path, *arguments, **environment):
    """The verdict on a script's run."""
    Child(EXAMPLES / script, *arguments, folder=tmp_path,
          NANWATCH_ADDRESS=daemon.address, **environment).wait(180)
    return Verdict(daemon, name)
