"""`nanwatch export`, and what is said of an export that cannot be read."""

from conftest import feed


def test_an_export_needs_a_name(daemon):
    feed(daemon.address, "--run", "short", "--steps", "10")
    done = daemon.nanwatch("export", "short", "-o", "", check=False)
    assert done.returncode != 0
    assert "name a file" in done.stderr


def test_an_export_that_was_cut_is_said_to_be(daemon, folder):
    feed(daemon.address, "--run", "short", "--steps", "2000")
    whole = folder / "whole.db"
    assert daemon.nanwatch("export", "short", "-o", str(whole)).returncode == 0
    cut = folder / "cut.db"
    cut.write_bytes(whole.read_bytes()[:8192])
    done = daemon.nanwatch("compare", str(cut), str(whole), check=False)
    assert done.returncode not in (0, 1, 2)
    assert str(cut) in done.stderr and "Was it cut short?" in done.stderr
