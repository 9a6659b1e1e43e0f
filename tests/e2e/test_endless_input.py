"""`check` of what has no end, or none that one lives to see, ends with a
sentence."""

import gzip
import os
import subprocess
import threading

import pytest
import zstandard

from conftest import ALL, BIN

LINE = b"{'loss': 2.5, 'grad_norm': 1.0, 'learning_rate': 1e-4, 'epoch': 0.1}\n"


def check(path, **more):
    return subprocess.run([str(BIN / "nanwatch"), "check", str(path)],
                          capture_output=True, text=True, timeout=60, **more)


def packed_zeros(path, gigabytes):
    """Well below a thousandth of it on disk."""
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    with open(path, "wb") as file:
        file.write(packer.compress(LINE * 1000))
        for _ in range(gigabytes * 64):
            file.write(packer.compress(bytes(16 << 20)))
        file.write(packer.flush())


@pytest.mark.parametrize("gigabytes", [
    2, pytest.param(20, marks=pytest.mark.skipif(not ALL, reason="long"))])
def test_a_packed_log_that_unpacks_without_end(tmp_path, gigabytes):
    log = tmp_path / "log.zst"
    packed_zeros(log, gigabytes)
    done = check(log)
    assert "more than any log is packed to" in done.stderr
    assert done.returncode == 1, "nobody may think that all of it is healthy"
    assert "HEALTHY" not in done.stdout


def test_a_log_that_packs_well_is_read_to_its_end(tmp_path):
    log = tmp_path / "log.gz"
    log.write_bytes(gzip.compress(LINE * 500_000, 9))
    assert log.stat().st_size * 100 < len(LINE) * 500_000
    done = check(log)
    assert done.returncode == 0, done.stderr
    assert "500,000" in done.stdout


def test_a_pipe_that_nobody_writes_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = check(pipe)
    assert done.returncode == 3
    assert "nobody writes to this pipe" in done.stderr


def test_a_pipe_that_somebody_writes_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        with open(pipe, "wb") as file:
            file.write(LINE * 1000)

    writer = threading.Thread(target=write)
    writer.start()
    done = check(pipe)
    writer.join()
    assert done.returncode == 0, done.stderr
    assert "1,000" in done.stdout


@pytest.mark.parametrize("command", [
    ("nanwatch", "simulate", "PIPE"), ("nanwatch", "replay", "PIPE"),
    ("nanwatch", "compare", "PIPE", "PIPE"), ("nanwatch", "backtest", "PIPE"),
    ("nanwatch", "check-config", "PIPE"), ("nanwatch", "runs"),
    ("nanwatchd", "--check-config", "--config", "PIPE"),
    ("nanwatchd", "--config", "PIPE")], ids=" ".join)
def test_no_command_waits_for_a_pipe_that_nobody_writes_to(command, tmp_path):
    """A file of the environment neither."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    program, *rest = [str(pipe) if word == "PIPE" else word for word in command]
    if "backtest" in rest:
        rest += ["--rules", str(pipe)]
    done = subprocess.run(
        [str(BIN / program), *rest], capture_output=True, text=True, timeout=60,
        env={**os.environ, "NANWATCH_ADDRESS": "tls://127.0.0.1:1",
             "NANWATCH_TOKEN_FILE": str(pipe)})
    assert done.returncode not in (0, 1), done.stdout
    assert str(pipe) in done.stderr + done.stdout


def test_a_configuration_comes_out_of_a_pipe():
    done = subprocess.run(
        ["bash", "-c", f"{BIN}/nanwatch check-config <(echo 'web: {{}}')"],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_not_followed(device):
    done = subprocess.run([str(BIN / "nanwatch"), "tail", device],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    assert "device" in done.stderr


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_a_device(device):
    done = check(device)
    assert done.returncode == 3
    assert "device" in done.stderr


def test_standard_input_of_zeros_ends_with_its_writer(tmp_path):
    zeros = tmp_path / "zeros"
    with open(zeros, "wb") as file:
        file.truncate(256 << 20)
    with open(zeros, "rb") as file:
        done = check("-", stdin=file)
    assert done.returncode == 3
