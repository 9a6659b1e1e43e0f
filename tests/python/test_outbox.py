"""What is sent again, and what is not."""

import daemons  # noqa: F401 - finds the package
from nanwatch._outbox import DROPPED, STEPS, Lost, Outbox, Outgoing


def filled(n):
    outbox = Outbox()
    for i in range(n):
        outbox.push(Outgoing(STEPS, b"body", Lost(10, 0, i, i)))
    return outbox


def send(outbox, n):
    return [outbox.mark_sent() for _ in range(n)]


def test_an_ack_takes_all_up_to_it_and_nothing_unsent():
    outbox = filled(4)
    assert send(outbox, 3) == [10, 10, 10]
    assert outbox.acknowledge(2) == 20
    assert outbox.acknowledge(2) == 0
    assert outbox.acknowledge(9) == 10
    assert len(outbox) == 1 and outbox.next_sequence == 4
    assert outbox.sent_bytes == 0


def test_busy_sends_again_and_counts_once():
    outbox = filled(3)
    send(outbox, 3)
    outbox.rewind(2)
    assert outbox.next_sequence == 2
    assert send(outbox, 2) == [0, 0]


def test_a_refused_message_becomes_what_was_lost():
    outbox = filled(2)
    send(outbox, 2)
    assert outbox.refuse(2).steps == 10
    assert outbox.refuse(7).records == 0
    assert outbox.sent(2).kind == DROPPED
    assert outbox.acknowledge(2) == 10, "the refused records are not acked"
    assert outbox.bytes == outbox.sent_bytes == 0


def test_a_daemon_that_holds_less_gets_what_it_lost_again():
    outbox = filled(3)
    send(outbox, 3)
    outbox.acknowledge(2)
    assert outbox.resume(0) == 0
    assert outbox.next_sequence == 1 and len(outbox) == 1


def test_a_daemon_that_holds_more_acknowledges_by_it():
    outbox = filled(3)
    send(outbox, 3)
    assert outbox.resume(2) == 20
    assert outbox.next_sequence == 3
