"""CPU of what TLS costs: the daemon's and a C++ client's, for steps over TCP with
a token, in turns with and without TLS."""

import os
import pathlib
import re
import resource
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import conftest  # noqa: E402
import tls_site  # noqa: E402

STEPS = 1_000_000


def used(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text()
    fields = fields.rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def send(daemon, address, environment):
    """CPU-seconds of both sides."""
    before = used(daemon.process)
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = tls_site.end(tls_site.begin(
        "cpp", address, environment, f"run-{before}", steps=STEPS, wait=60))
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    if outcome["acked"] + outcome["dropped"] != STEPS or outcome["error"]:
        raise RuntimeError(outcome)
    cpu = (used(daemon.process) - before + now.ru_utime + now.ru_stime -
           own.ru_utime - own.ru_stime)
    return cpu / outcome["acked"] * 1e6


def cpu_seconds_a_million(folder, turns=9):
    """(with TLS, without), of the turn whose ratio is the median."""
    folder = pathlib.Path(folder)
    site = tls_site.Site(folder).start()
    (folder / "plain").mkdir()
    plain = conftest.Daemon(folder / "plain", config=f"""
ingest: {{tcp: "127.0.0.1:0", tokens: {site.tokens}}}
""").start()
    address = re.findall(r"ingest=\S+,(\S+)", plain.log.read_text())[-1]
    told = site.told(token=site.token_files["ann"])
    try:
        pairs = [(send(site.daemon, site.address, told),
                  send(plain, address, told)) for _ in range(turns)]
    finally:
        site.daemon.kill()
        plain.kill()
    # What else runs meets both of a turn alike.
    pairs.sort(key=lambda pair: pair[0] / pair[1])
    return pairs[turns // 2]


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        print(cpu_seconds_a_million(name))
