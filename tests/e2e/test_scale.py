"""A job of 8 ranks behind a real relay and 64 behind relays that are played: what
arrives, what is found, what a rank takes. tests/bench/sizing measures more."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] /
                    "bench/scale"))

import scaled  # noqa: E402

OPS_A_RELAY = 16576   # op statuses of the recording
MEMORY_A_RANK = 100e3  # bytes
MORE_RELAYS = 32


def test_a_job_of_many_relays(folder):
    with scaled.Job(folder, real=1, played=8, pace=0.1) as job:
        took = job.measure(seconds=120)
        run, incident = took["shown"], took["incident"]
        assert run["ranks_open"] == run["world_size"] == job.ranks == 72
        assert run["totals"]["steps"] == 72 * scaled.STEPS
        assert run["totals"]["op_statuses"] == 9 * OPS_A_RELAY
        assert run["totals"]["dropped_steps"] == 0
        # One rank, one step, one incident; nobody else is blamed.
        assert incident["rule"]["name"] == "loss_nonfinite"
        assert incident["opened_step"] == job.nan_step
        assert incident["subject"] == {"rank": 71}
        assert [one["id"] for one in run["incidents"]] == [incident["id"]]
        # What a rank more takes; what a daemon needs once is there by now. Twice:
        # what all said at once while they opened is free by then.
        before = scaled.own_memory(job.pid)
        for run in "more", "still more":
            job.play(run, MORE_RELAYS, pace=0.05).hears("held", 120)
        after = scaled.own_memory(job.pid)
        each = (after - before) / (2 * MORE_RELAYS * scaled.RANKS_A_RELAY)
        print(f"{each:.0f} bytes a rank")
        assert 0 < each <= MEMORY_A_RANK
        job.close()
        assert job.summary()["end_reason"] == "all ranks closed"
