"""The table of run, attempt and rank that every client obeys."""

import os

import daemons
import pytest
from nanwatch._identity import find_addresses, find_identity
from nanwatch._socket_file import is_own_folder, why_not_there

TABLES = daemons.ROOT / "tests" / "unit" / "client"


def cases(table):
    found = []
    for line in (TABLES / table).read_text().splitlines():
        kind, *words = line.split() or [""]
        if kind == "case":
            found.append({"name": words[0], "env": {}, "call": {},
                          "in": ["-"] * 4})
        elif kind in ("env", "call"):
            found[-1][kind] = dict(word.split("=", 1) for word in words)
        elif kind == "user":
            found[-1]["user"] = int(words[0])
        elif kind in ("is", "in"):
            found[-1][kind] = words
    return found


def table(name):
    found = cases(name)
    return pytest.mark.parametrize(
        "case", found, ids=[case["name"] for case in found])


@table("identity_table.txt")
def test_who_this_process_is(case):
    call = {k: v if k == "run_id" else int(v) for k, v in case["call"].items()}
    i = find_identity(case["env"], **call)
    said = [i.run_id or "-", "-" if i.attempt is None else str(i.attempt),
            str(i.rank), str(i.local_rank), str(i.world_size)]
    assert said + ["guessed"] * i.run_id_guessed == case["is"]
    where = (i.job, i.namespace, i.pod, i.node)
    assert [text or "-" for text in where] == case["in"]


@table("address_table.txt")
def test_where_the_daemon_is(case):
    found = find_addresses(None, case["env"], case["user"])
    assert found == case["is"]


def test_the_tables_are_all_there():
    assert len(cases("identity_table.txt")) >= 20
    assert len(cases("address_table.txt")) >= 6


def test_a_call_names_one_daemon():
    environment = {"NANWATCH_ADDRESS": "host:1"}
    assert find_addresses("/tmp/x.sock", environment, 7) == ["unix:/tmp/x.sock"]


def test_a_folder_that_others_may_write_to_is_not_believed(tmp_path):
    own = tmp_path / "own"
    own.mkdir(mode=0o700)
    assert is_own_folder(str(own), os.getuid())
    assert not is_own_folder(str(own), os.getuid() + 1)
    link = tmp_path / "link"
    link.symlink_to(own)
    assert not is_own_folder(str(link), os.getuid())
    own.chmod(0o777)
    assert not is_own_folder(str(own), os.getuid())
    assert not is_own_folder(str(tmp_path / "none"), os.getuid())


def test_why_a_socket_is_not_dialled(tmp_path):
    assert why_not_there("localhost:1") == ""
    assert "no such socket" in why_not_there(f"unix:{tmp_path}/none")
    (tmp_path / "some").write_text("")
    assert why_not_there(f"unix:{tmp_path}/some") == ""
