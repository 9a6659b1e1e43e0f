"""What a connection over TCP is given: as tests/unit/client/credentials_test.cc."""

import os

import daemons  # noqa: F401  (the path of the client)
import pytest

from nanwatch._credentials import read_credentials


def test_over_tls_all_is_read(tmp_path):
    environment = {}
    for variable, text in (("NANWATCH_CA", "authority"),
                           ("NANWATCH_CERT", "certificate"),
                           ("NANWATCH_KEY", "key"),
                           ("NANWATCH_TOKEN_FILE", "secret-token\r\n")):
        (tmp_path / variable).write_text(text)
        environment[variable] = str(tmp_path / variable)
    read = read_credentials("tls://node-7:9766", environment)
    assert read.tls and read.target == "node-7:9766"
    assert (read.ca, read.certificate, read.key) == (
        b"authority", b"certificate", b"key")
    assert read.token == "secret-token"
    bare = read_credentials("tls://node-7:9766", {})
    assert (bare.ca, bare.certificate, bare.key) == (None, None, None)
    assert bare.token == ""


def test_a_token_is_not_sent_where_others_could_read_it(tmp_path):
    (tmp_path / "token").write_text("secret")
    environment = {"NANWATCH_TOKEN_FILE": str(tmp_path / "token")}
    for address in ("node-7:9766", "10.0.0.1:1", "127x.example:1",
                    "localhost.example:1", "unix:/tmp/x",
                    "dns:///127.0.0.1.example:1"):
        read = read_credentials(address, environment)
        assert (read.tls, read.target, read.token) == (False, address, "")
    for address in ("127.0.0.1:1", "localhost:1", "[::1]:1"):
        assert read_credentials(address, environment).token == "secret"


def test_says_what_is_wrong(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for environment, said in (
            ({"NANWATCH_CA": str(tmp_path / "none")}, "NANWATCH_CA"),
            ({"NANWATCH_CA": str(pipe)}, "NANWATCH_CA"),
            ({"NANWATCH_CERT": str(pipe)}, "NANWATCH_KEY")):
        with pytest.raises(ValueError, match=said):
            read_credentials("tls://h:1", environment)
    token = tmp_path / "token"
    for text in ("", "\n", "two words", "two\nlines", "a\x1b", "a" * 5000):
        token.write_text(text)
        with pytest.raises(ValueError, match="NANWATCH_TOKEN_FILE") as wrong:
            read_credentials("tls://h:1", {"NANWATCH_TOKEN_FILE": str(token)})
        assert "words" not in str(wrong.value)
