"""What a client may say wrong: a sentence for each, a counter, and nothing else
is lost with it.

Not here: a full mailbox and a full history queue (PipelineTest, IngestTest
.SaysBusyOnceAndPassesOverWhatFollows, HistoryTest
.RefusesWhatDoesNotFitTheQueue).
"""

import re

import pytest
from conftest import counted, limit_hits, refusals, summary
from raw_client import Raw, names, ops, steps


# What is wrong with the message of sequence 3 of a session that has named one
# op of 16 elements and sent 10 steps; the code and the words of the refusal;
# the limit that is counted; and how many steps are counted as dropped.
BAD = {
    "a column of another length": (
        lambda s: steps(s, 3, 10, 2, "loss { values: [1] }"),
        "invalid", ["loss", "1 values for 2 rows"], None, 2),
    "a row too many": (
        lambda s: steps(s, 3, 10, 4097),
        "limit", ["4097 steps", "4096"], "batch_records", 4097),
    "no rows": (
        lambda s: f"steps {{ session: {s} sequence: 3 }}",
        "invalid", ["no rows"], None, 0),
    "a negative step": (
        lambda s: steps(s, 3, -5, 2), "invalid", ["row 0", "step -5"], None, 2),
    "steps that overflow": (
        lambda s: steps(s, 3, deltas=[2**62, 2**62, 2**62]),
        "invalid", ["step"], None, 3),
    "a time that is none": (
        lambda s: re.sub(r"sent_time_us: \d+", f"sent_time_us: {2**62}",
                         steps(s, 3, 10, 1)),
        "invalid", ["sent_time_us", "microseconds"], None, 1),
    "nine optimizers": (
        lambda s: steps(s, 3, 10, 1, "optimizers: " + str(
            [f"o{i}" for i in range(9)])),
        "limit", ["9 optimizers", "8"], "optimizers", 1),
    "an optimizer that is not listed": (
        lambda s: steps(s, 3, 10, 1, "optimizer: [3]"),
        "invalid", ["index 3"], None, 1),
    "a layer scale of no op": (
        lambda s: steps(s, 3, 10, 1,
                        "layer_scales { rows: 0 ops: 7 scales: 2 }"),
        "invalid", ["op 7", "OpNames"], None, 1),
    "a string that is not UTF-8": (
        lambda s: steps(s, 3, 10, 1, r'optimizers: "a\377b"'),
        "invalid", ["steps.optimizers", "not UTF-8"], None, 1),
    "five megabytes": (
        lambda s: steps(s, 3, 10, 1, f'optimizers: "{"x" * (5 << 20)}"'),
        "limit", ["at most 4194304", "smaller batches"], "message_bytes", 1),
    "a name of a thousand bytes": (
        lambda s: steps(s, 3, 10, 1, f'optimizers: "{"x" * 1000}"'),
        "limit", ["1000 bytes", "512"], "string_bytes", 1),
    "steps that go back again and again": (
        lambda s: steps(s, 3, deltas=[20, -1, -1, -1, -1, -1]),
        "invalid", ["go back 5 times", "optimizers", "sequence 3"], None, 6),
    "more bad elements than elements": (
        lambda s: ops(s, 3, "nan { row_gaps: 0 counts: 17 }"),
        "invalid", ["nan", "17", "16"], None, 0),
    "an op that was not named": (
        lambda s: ops(s, 3, op=1), "invalid", ["op 1", "OpNames"], None, 0),
    "names with a hole before them": (
        lambda s: names(s, 3, first=5), "invalid", ["index 5"], None, 0),
    "a shape of 17 dimensions": (
        lambda s: (f"op_names {{ session: {s} sequence: 3 first_index: 1 ops "
                   f"{{ name: 'o' logical_shape: {[1] * 17} }} }}"),
        "limit", ["17", "16"], "shape_dims", 0),
}


@pytest.mark.parametrize("wrong", BAD)
def test_a_bad_message_is_refused_alone(house, wrong):
    message, code, words, limit, dropped = BAD[wrong]
    run = wrong.replace(" ", "-")
    session = 1000 + list(BAD).index(wrong)
    before = refusals(house, code), limit and limit_hits(house, limit)
    with Raw(house.address) as raw:
        raw.opened(session, run)
        raw.say(names(session, 1), steps(session, 2), message(session))
        refusal = raw.hear("refusal")
        assert refusal["code"] == f"REFUSAL_CODE_{code.upper()}"
        assert int(refusal["session"]) == session
        assert int(refusal["sequence"]) == 3
        for word in words:
            assert word in refusal["message"], refusal
        # Its sequence is used, and what follows is welcome.
        raw.say(steps(session, 4, 10))
        raw.acked(4)
    shown = summary(house, run)
    assert int(shown["steps"]) == 20
    assert int(shown.get("dropped_steps", 0)) == dropped
    assert refusals(house, code) == before[0] + 1
    if limit:
        assert limit_hits(house, limit) == before[1] + 1


@pytest.mark.parametrize("line, words", [
    ("bytes ffffff007275626269736800", "not a nanwatch.v1.IngestRequest"),
    ("bytes 7801", "no kind that this daemon knows"),
    ("steps { session: 5 step_deltas: [1] time_us_deltas: [1] }",
     "session 5"),
])
def test_rubbish_in_between_harms_nobody(house, line, words):
    session = 1500 + len(line)
    before = counted(house, "nanwatch_ingest_refusals_total")
    with Raw(house.address) as raw:
        raw.opened(session, f"rubbish-{session}")
        raw.say(steps(session, 1), line)
        assert words in raw.hear("refusal")["message"]
        raw.say(steps(session, 2, 10))
        raw.acked(2)
    assert int(summary(house, f"rubbish-{session}")["steps"]) == 20
    assert counted(house, "nanwatch_ingest_refusals_total") == before + 1


@pytest.mark.parametrize("mebibytes", [5, 9, 15])
def test_a_message_of_any_size_is_refused_alone(house, mebibytes):
    session, run = 2000 + mebibytes, f"huge-{mebibytes}"
    before = (refusals(house, "limit"), limit_hits(house, "message_bytes"))
    with Raw(house.address) as raw:
        raw.opened(session, run)
        raw.say(steps(session, 1),
                f"pad {mebibytes} " + steps(session, 2, 10, 1))
        refusal = raw.hear("refusal", 30)
        assert refusal["code"] == "REFUSAL_CODE_LIMIT"
        assert int(refusal["sequence"]) == 2
        assert (f"StepBatch of session {session:x}, sequence 2: it has "
                f"{mebibytes << 20}"[:-3] in refusal["message"]), refusal
        assert "at most 4194304 are taken; send smaller batches" in refusal[
            "message"]
        raw.say(steps(session, 3, 20))
        raw.acked(3)
    assert int(summary(house, run)["steps"]) == 20
    assert refusals(house, "limit") == before[0] + 1
    assert limit_hits(house, "message_bytes") == before[1] + 1


def test_out_of_sequence_says_where_to_go_on(house):
    before = refusals(house, "out_of_sequence")
    duplicates = house.metric("nanwatch_ingest_duplicates_total")
    with Raw(house.address) as raw:
        raw.opened(2003, "jumps")
        raw.say(steps(2003, 1), steps(2003, 5, 40))
        refusal = raw.hear("refusal")
        assert refusal["code"] == "REFUSAL_CODE_OUT_OF_SEQUENCE"
        assert int(refusal["expectedSequence"]) == 2
        assert "send again from 2" in refusal["message"]
        raw.say(steps(2003, 2, 10), steps(2003, 1), steps(2003, 3, 20))
        raw.acked(3)
    assert refusals(house, "out_of_sequence") == before + 1
    assert house.metric("nanwatch_ingest_duplicates_total") == duplicates + 1
    assert int(summary(house, "jumps")["steps"]) == 30


def test_a_session_that_is_not_open(house):
    before = refusals(house, "unknown_session")
    with Raw(house.address) as raw:
        raw.say(steps(2004, 1))
        refusal = raw.hear("refusal")
        assert refusal["code"] == "REFUSAL_CODE_UNKNOWN_SESSION"
        assert "send OpenSession first" in refusal["message"]
        raw.opened(2004, "late")
        raw.say(steps(2004, 1), "close { session: 2004 sequence: 2 }",
                steps(2004, 3, 10))
        # This one is the pipeline's to know.
        assert "closed: open a new one" in raw.hear("refusal")["message"]
    assert refusals(house, "unknown_session") == before + 2
    assert int(summary(house, "late")["steps"]) == 10
