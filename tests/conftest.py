"""For every test: programs that are started here take an interrupt as from a
terminal, also when whoever started the tests ignores interrupts (a job in a
script's background does, and hands that down)."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
