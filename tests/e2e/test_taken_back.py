"""Rights that are taken back while a stream is open: it is cut, and those of others
go on."""

import contextlib

import grpc
import pytest

from conftest import Daemon, summary, wait_for
from raw_client import opening, steps
from test_audit import line
from test_owners import ANN, BOB, client, reload, why_not
from tls_site import Site, begin, end, steps_of

AUDIT = "audit: {{file: {}}}\n"
both = pytest.mark.parametrize("kind", ["cpp", "python"])


@contextlib.contextmanager
def watching(site, run, who):
    trust = grpc.ssl_channel_credentials(
        site.authority.certificate.read_bytes())
    with grpc.secure_channel(f"localhost:{site.port}", trust) as channel:
        yield channel.unary_stream("/nanwatch.v1.QueryService/WatchRun")(
            b"\n" + bytes([len(run)]) + run.encode(), timeout=60,
            metadata=[("authorization", f"Bearer {site.known[who]}")])


@both
def test_a_token_that_is_taken_back(kind, folder):
    """Without a restart, and without HUP. The certificate of the server and the
    tokens of others are another matter."""
    site = Site(folder)
    audit = folder / "audit.jsonl"
    site.daemon.config.write_text(
        site.daemon.config.read_text() + AUDIT.format(audit))
    site.start()
    with contextlib.ExitStack() as stack:
        stack.callback(site.daemon.kill)
        trainings = {who: begin(
            kind, site.address, site.told(token=site.token_files[who]),
            f"of-{who}", steps=500, pause=0.02, wait=2)
            for who in ("ann", "bob")}
        for who in trainings:
            wait_for("records", lambda who=who: steps_of(site, f"of-{who}") > 20)
        watch = stack.enter_context(watching(site, "of-bob", "ann"))
        assert len(next(watch)) > 0
        site.take_back("ann")
        said = line(audit, "refusal", who="ann")
        assert said["from"].startswith("127.0.0.1:")
        outcome = end(trainings["ann"])
        assert outcome["acked"] < 500
        assert "token" in outcome["error"], outcome
        with pytest.raises(grpc.RpcError) as refused:
            for _ in watch:
                pass
        assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED
        assert "of ann" in refused.value.details()
        outcome = end(trainings["bob"])
        assert outcome["acked"] == 500 and outcome["reconnects"] == 0
        assert int(summary(site.daemon, "of-bob")["steps"]) == 500
        assert steps_of(site, "of-ann") < 500


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_a_user_who_is_no_more_in_access_users(folder):
    """On the unix socket: what is open is cut at the next message after HUP."""
    folder.chmod(0o711)
    access = "access: {{users: [{}]}}\n"
    it = Daemon(folder, config='ingest: {socket_mode: "0666"}\n' +
                access.format(f"{ANN}, {BOB}")).start()
    try:
        with client(it, ANN) as ann, client(it, BOB) as bob:
            ann.opened(1, "anns")
            bob.opened(2, "bobs")
            reload(it, f"users: [{BOB}]")
            ann.say(steps(1, 1))
            ended = ann.end()
            assert "access.users" in ended["message"], ended
            bob.say(steps(2, 1))
            bob.acked(1)
        assert int(summary(it, "anns")["steps"]) == 0
        with client(it, ANN) as ann:
            ann.say(opening(3, "again"))
            assert ann.end()["status"] != 0
    finally:
        it.kill()
