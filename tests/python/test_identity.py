"""The table of run, attempt and rank that every client obeys."""

import daemons
import pytest
from nanwatch._identity import find_addresses, find_identity

TABLE = daemons.ROOT / "tests" / "unit" / "client" / "identity_table.txt"


def cases():
    found = []
    for line in TABLE.read_text().splitlines():
        kind, *words = line.split() or [""]
        if kind == "case":
            found.append({"name": words[0], "env": {}, "call": {}})
        elif kind in ("env", "call"):
            found[-1][kind] = dict(word.split("=", 1) for word in words)
        elif kind == "is":
            found[-1]["is"] = words
    return found


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_the_table(case):
    call = {k: v if k == "run_id" else int(v) for k, v in case["call"].items()}
    i = find_identity(case["env"], **call)
    said = [i.run_id or "-", "-" if i.attempt is None else str(i.attempt),
            str(i.rank), str(i.local_rank), str(i.world_size)]
    assert said + ["guessed"] * i.run_id_guessed == case["is"]


def test_the_table_is_all_there():
    assert len(cases()) >= 20


def test_a_call_names_one_daemon():
    environment = {"NANWATCH_ADDRESS": "host:1"}
    assert find_addresses("/tmp/x.sock", environment) == ["unix:/tmp/x.sock"]


def test_the_variable_comes_before_the_known_places():
    environment = {"NANWATCH_ADDRESS": "host:1", "XDG_RUNTIME_DIR": "/run/u"}
    assert find_addresses(None, environment) == ["host:1"]


def test_the_users_daemon_comes_before_the_machines():
    assert find_addresses("", {"XDG_RUNTIME_DIR": "/run/user/7"}) == [
        "unix:/run/user/7/nanwatch/ingest.sock",
        "unix:/run/nanwatch/ingest.sock",
    ]
