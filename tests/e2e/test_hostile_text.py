"""Names and logs of others never drive a terminal, nor turn what is read."""

import re
import subprocess

import pytest

from conftest import BIN
from raw_client import Raw, names, ops, opening, steps

# CSI as one byte, as U+009B, as two; a title; direction; a line separator.
HOSTILE = "\x1b[2J\x07\u009b31m\u0085\u202egnp\u2066\u200f\u2028\ufeff"
NOT_PLAIN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f"
                       "\u2028-\u202e\u2066-\u2069\ufeff]")


def in_proto(text):
    """As a text of proto's text format."""
    return "".join(f"\\{b:03o}" for b in text.encode())


def assert_plain(output):
    text = output.decode(errors="surrogateescape")
    assert not re.search("[\udc80-\udcff]", text), output
    assert not NOT_PLAIN.search(text), ascii(text)


def said(*command, stdin=b""):
    done = subprocess.run([str(BIN / "nanwatch"), *command], input=stdin,
                          capture_output=True, timeout=60)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def hostile(house):
    """A run all of whose names are hostile, in trouble so that they are said."""
    run = f"run{HOSTILE}"
    evil = in_proto(HOSTILE)
    with Raw(house.address) as client:
        client.opened(
            5, in_proto(run),
            more=f'job: "job{evil}" settings {{ key: "k{evil}" value: "v{evil}" }}'
                 f' framework: "f{evil}"')
        client.say(names(5, 1).replace("op0", f"op{evil}"))
        client.say(ops(5, 2, "nan { row_gaps: 0 counts: 9 }"))
        client.say(steps(5, 3, columns="loss { values: [%s] }" % ", ".join(
            ["nan"] * 10)))
        client.acked(3)
        other = f"other{HOSTILE}"
        client.opened(6, in_proto(other), more=f'settings {{ key: "k{evil}" }}')
        client.say(steps(6, 1, columns="loss { values: [%s] }" % ", ".join(
            ["2.5"] * 10)))
        client.acked(1)
        rules = house.folder / f"rules{HOSTILE}.yaml"
        rules.write_text("rules: {loss_spike: {enabled: false}}")
        yield house, {"RUN": run, "OTHER": other, "RULES": str(rules),
                      "HISTORY": str(house.history)}


@pytest.mark.parametrize("command", [
    ("runs",), ("runs", "--json"), ("show", "RUN"), ("show", "RUN", "--json"),
    ("diagnose", "RUN"), ("diagnose", "RUN", "--json"),
    ("diagnose", "RUN", "--brief"), ("watch", "RUN", "--once"),
    ("layers", "RUN"), ("mute", "RUN", "--reason", "why"), ("ack", "RUN"),
    ("unmute", "RUN"), ("stop", "RUN", "--reason", "why"),
    ("compare", "RUN", "OTHER"), ("compare", "RUN", "OTHER", "--json"),
    ("bench", "set", "RUN", "--to", "OTHER"), ("bench", "show", "RUN"),
    ("bench", "show", "RUN", "--json"), ("bench", "set", "RUN", "--to", "RUN"),
    ("simulate", "RUN"), ("simulate", "RUN", "--json"),
    ("backtest", "HISTORY", "--rules", "RULES"),
    ("backtest", "HISTORY", "--rules", "RULES", "--all", "--json"),
    ("replay", "HISTORY")], ids=" ".join)
def test_names_of_a_run(hostile, command):
    house, given = hostile
    output = said("--address", house.address,
                  *(given.get(word, word) for word in command))
    assert output
    assert_plain(output)


def test_the_daemons_own_log(hostile):
    house, _ = hostile
    assert_plain(house.log.read_bytes())


LINES = [
    b"{'loss': 2.5, 'grad_norm': 1.0, 'learning_rate': 1e-4, 'epoch': 0.1}",
    b"{'loss': 'EVIL', 'grad_norm': 1.0, 'learning_rate': 1e-4, 'epoch': 0.1}",
    b"{'loss': nan, 'grad_norm': nan, 'learning_rate': 1e-4, 'epoch': 0.1}",
    b"step 3 EVIL: loss nan EVIL",
    b"FloatingPointError: Minimum loss scale reached EVIL",
]


@pytest.mark.parametrize("json", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("evil", [HOSTILE.encode(), b"\x9b31m\xe2\x80"],
                         ids=["utf-8", "raw"])
def test_check_of_a_log(tmp_path, evil, json):
    log = tmp_path / f"log{HOSTILE}"
    log.write_bytes(b"\n".join(line.replace(b"EVIL", evil)
                               for line in LINES * 20) + b"\n")
    output = said("check", str(log), *json)
    assert b"log" in output
    assert_plain(output)


@pytest.mark.parametrize("json", [(), ("--json",)], ids=["text", "json"])
def test_tail(house, json):
    lines = b"\n".join(line.replace(b"EVIL", HOSTILE.encode())
                       for line in LINES * 20) + b"\n"
    output = said("--address", house.address, "tail", "-", "--run",
                  f"tail{HOSTILE}", *json, stdin=lines)
    assert output
    assert_plain(output)
