"""Daemons that forward to another one, each in a folder of its own."""

from conftest import Daemon, get_json, wait_for

UPSTREAM = """
ingest: {tcp: "127.0.0.1:%d", tcp_anonymous: true}
"""
RELAY = """
upstream: {address: "%s"%s}
"""


def upstream(folder, port, more=""):
    """One that judges whole jobs, on the loopback."""
    place = folder / "up"
    place.mkdir()
    return Daemon(place, config=UPSTREAM % port + more)


def relay(folder, name, address, settings="", more="", **options):
    """One that forwards what it keeps to `address`."""
    place = folder / name
    place.mkdir()
    settings = f", {settings}" if settings else ""
    return Daemon(place, config=RELAY % (address, settings) + more, **options)


def forwarded(*relays, seconds=60):
    """Waits until all that they keep is held upstream."""
    for one in relays:
        wait_for("all is forwarded",
                 lambda one=one: one.metric("nanwatch_relay_lag_events") == 0,
                 seconds=seconds, instead=one.log.read_text)


def totals(daemon, run):
    """(attempt, records) of each attempt of the run."""
    listed = get_json(daemon.http + "/api/v1/runs")["runs"]
    return sorted((r["attempt"], r["totals"]["steps"]) for r in listed
                  if r["run_id"] == run)


def incidents(daemon, run, *more):
    """What identifies each incident."""
    return sorted((i["rule"], int(i["opened_step"]), i["id"])
                  for i in daemon.show(run, *more).get("incidents", []))


