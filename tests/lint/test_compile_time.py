"""Headers that take seconds to compile are included where they must be."""

import pathlib

DAEMON = pathlib.Path(__file__).resolve().parents[2] / "daemon"


def including(folder, header):
    return sorted(
        path.name
        for path in (DAEMON / folder).rglob("*")
        if path.suffix in (".h", ".cc")
        and f"#include <{header}" in path.read_text()
    )


def test_one_file_of_the_command_reads_the_command_line():
    """A command describes its options with cli/option.h instead."""
    assert including("cli", "CLI/") == ["command_line.cc"]
