"""Where the programs are that are measured: deploy/profile made them. The other
modules find them there, too."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "profiled"
BIN = BUILD / "bin"
os.environ["NANWATCH_BIN"] = str(BIN)
