"""Everything wrong with a configuration, at once, with line numbers."""

import re
import subprocess

from conftest import BIN, refused_start


def test_all_errors_of_a_configuration_at_once_with_lines(folder):
    said = refused_start(folder, config="""\
rulez: {}
history:
  keep_for: -3s
rules:
  scale_collapse:
    warning_ratio: banana
""")
    for line, word in ((1, "rulez"), (3, "keep_for"), (6, "warning_ratio")):
        assert re.search(rf"nanwatch.yaml:{line}:.*{word}", said), said
    checked = subprocess.run(
        [str(BIN / "nanwatchd"), "--check-config", "--config",
         str(folder / "nanwatch.yaml")], capture_output=True, text=True)
    assert checked.returncode == 2
    assert "rulez" in checked.stdout + checked.stderr
    again = subprocess.run(
        [str(BIN / "nanwatch"), "check-config", str(folder / "nanwatch.yaml")],
        capture_output=True, text=True)
    assert again.returncode == 2
    assert again.stderr == checked.stderr


def test_what_could_not_start_is_not_called_fine(folder):
    path = folder / "nanwatch.yaml"
    path.write_text("ingest: {socket: off}\n")
    for command in ([BIN / "nanwatchd", "--check-config", "--config"],
                    [BIN / "nanwatch", "check-config"]):
        done = subprocess.run([*map(str, command), str(path)],
                              capture_output=True, text=True, timeout=10)
        assert done.returncode == 2, command
        assert "ingest.socket and ingest.tcp are both off" in done.stderr


def test_an_empty_flag_is_not_taken_for_the_default(folder):
    for flag in ("--socket", "--history", "--listen"):
        done = subprocess.run([str(BIN / "nanwatchd"), "--check-config", flag,
                               ""], capture_output=True, text=True, timeout=10)
        assert done.returncode == 2, flag
        assert flag in done.stderr and "it is empty" in done.stderr


def test_every_error_of_a_configuration_with_its_line(folder):
    path = folder / "nanwatch.yaml"
    path.write_text("""\
history:
  keep_for: -3s
  keep_byts: 1GB
rules:
  scale_collapse: {warning_ratio: banana}
web:
  listen: 300.0.0.1:99999
""")
    done = subprocess.run([str(BIN / "nanwatchd"), "--config", str(path)],
                          capture_output=True, text=True, timeout=10)
    assert done.returncode == 2
    for line, word in ((2, "keep_for"), (3, "keep_byts"),
                       (5, "warning_ratio")):
        assert re.search(rf"{path}:{line}:.*{word}", done.stderr), done.stderr
    assert len(done.stderr.splitlines()) >= 4, done.stderr
