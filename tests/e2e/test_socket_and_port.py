"""Places to listen that are taken, too long or not ours."""

import os
import socket
import subprocess

import pytest
from conftest import BIN, Daemon, feed, get, refused_start


def test_a_second_daemon_on_the_same_socket_is_refused(daemon, folder):
    other = folder / "other"
    other.mkdir()
    said = refused_start(other, "--socket", str(daemon.socket))
    assert f"another nanwatchd listens at {daemon.socket}" in said
    assert "stop it, or choose another path" in said
    feed(daemon.address, "--steps", "10")


def test_a_stale_socket_is_replaced(folder):
    daemon = Daemon(folder).start()
    daemon.kill()
    assert daemon.socket.exists()
    daemon.start()
    daemon.kill()


@pytest.mark.parametrize("path, words", [
    ("x" * 200, ["ingest.socket is too long", "at most 107 bytes"]),
    ("file", ["/file exists and is not a socket",
              "move it away, or choose another path"]),
    ("none/at/all/sock", ["cannot make the directory", "/none/at/all of",
                          "make it, or choose another path"]),
], ids=["long", "file", "directory"])
def test_socket_paths_that_cannot_be(folder, path, words):
    (folder / "file").write_text("not a socket")
    said = refused_start(folder, "--socket", str(folder / path))
    for word in words:
        assert word in said
    assert (folder / "file").read_text() == "not a socket"


def test_an_http_port_in_use(daemon, folder):
    other = folder / "other"
    other.mkdir()
    address = daemon.http.removeprefix("http://")
    said = refused_start(other, "--listen", address)
    assert f"HTTP cannot listen on {address}: Address already in use" in said
    assert "stop the program that has it" in said and "web.listen" in said
    get(daemon.http + "/-/ready")


def test_an_http_address_of_no_machine(folder):
    said = refused_start(folder, "--listen", "no.such.host.invalid:80")
    assert "web.listen: no.such.host.invalid:80 is not an address" in said, said
    assert "stop the program" not in said


def test_a_grpc_port_in_use(folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        said = refused_start(folder, config=f"""
ingest:
  tcp: {address}
  tcp_anonymous: true
""")
    assert f"cannot listen on {address}: Address already in use" in said
    assert "stop the program that has it" in said
    assert "choose another port" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_a_socket_of_another_user_is_left_alone(folder):
    folder.chmod(0o777)
    path = folder / "ingest.sock"
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(path))
    done = subprocess.run(
        ["setpriv", "--reuid", "65534", "--clear-groups",
         str(BIN / "nanwatchd"), "--socket", str(path), "--history", "off",
         "--listen", "127.0.0.1:0"],
        capture_output=True, text=True, timeout=10)
    if "Permission denied" in done.stderr:
        pytest.skip("another user may not run what was built here")
    assert done.returncode == 1
    assert f"{path} belongs to user 0" in done.stderr
    assert "choose another path" in done.stderr
    assert path.is_socket()


def test_the_address_of_the_page_is_not_where_a_daemon_listens(daemon):
    done = subprocess.run(
        [str(BIN / "nanwatch"), "--address", daemon.http.split("//")[1], "runs"],
        capture_output=True, text=True, timeout=60)
    assert done.returncode not in (0, 1, 2), done.stdout
    assert "is the address of a web page" in done.stderr
    daemon.stop()
    done = subprocess.run(
        [str(BIN / "nanwatch"), "--address", daemon.http.split("//")[1], "runs"],
        capture_output=True, text=True, timeout=60)
    assert "no daemon listens at" in done.stderr
