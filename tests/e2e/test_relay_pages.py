"""A relay and its upstream: people hear of one trouble once."""

from conftest import counted, feed, free_port, wait_for
from relays import forwarded, incidents, relay, upstream

NOTIFY = "\nnotify: {webhook: {urls: [%s]}}\n"


def of_status(webhook, status):
    return [body for body in list(webhook.bodies) if body["status"] == status]


def sick(daemon):
    return feed(daemon.address, "--run", "sick", "--steps", "100000", "--rate",
                "100", "--nan-loss-at", "50", wait=False)


def has_settled(daemon):
    """What was new has been told, or is nothing any more."""
    wait_for("nothing waits to be told", lambda: counted(
        daemon, "nanwatch_notify_queue_length", receiver="webhook") == 0)


def test_the_upstream_tells(folder, webhook):
    port = free_port()
    up = upstream(folder, port, NOTIFY % webhook.url).start()
    one = relay(folder, "a", f"127.0.0.1:{port}",
                more=NOTIFY % webhook.url).start()
    training = sick(one)
    try:
        wait_for("somebody is told", lambda: of_status(webhook, "firing"))
        wait_for("the relay has found it", lambda: incidents(one, "sick"))
        has_settled(one)
        assert len(of_status(webhook, "firing")) == 1
        assert counted(one, "nanwatch_notify_sends_total") == 0
        assert incidents(one, "sick") == incidents(up, "sick")
    finally:
        training.kill()
        up.kill()
        one.kill()


def test_alone_it_tells_and_hands_over(folder, webhook):
    port = free_port()
    up = upstream(folder, port, NOTIFY % webhook.url)
    one = relay(folder, "a", f"unix:{up.socket}", "notify_after: 1s",
                more=NOTIFY % webhook.url).start()
    training = sick(one)
    try:
        wait_for("the relay tells", lambda: of_status(webhook, "firing"))
        assert counted(one, "nanwatch_notify_sends_total") == 1
        up.start()
        wait_for("the upstream has all of it", lambda: one.metric(
            "nanwatch_relay_lag_seconds") < 1)
        wait_for("it has found it", lambda: incidents(up, "sick"))
        assert incidents(one, "sick") == incidents(up, "sick")
        has_settled(up)
        assert len(of_status(webhook, "firing")) == 1
        assert counted(up, "nanwatch_notify_sends_total") == 0
        # From here on it is the upstream's, that it is over, too.
        up.nanwatch("mute", "sick", "--reason", "we know")
        wait_for("it is said", lambda: of_status(webhook, "muted"))
        has_settled(one)
        assert [b["status"] for b in webhook.bodies] == ["firing", "muted"]
        assert counted(one, "nanwatch_notify_sends_total") == 1
    finally:
        training.kill()
        up.kill()
        one.kill()
