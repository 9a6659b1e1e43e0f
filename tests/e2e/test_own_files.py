"""What the daemon keeps is its user's alone, and is not put where another user
laid a trap."""

import os
import stat

import pytest

from conftest import Daemon, feed, wait_for

root_only = pytest.mark.skipif(os.geteuid() != 0,
                               reason="only root can make another user's folder")
ANOTHER = 12345


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


@pytest.fixture
def open_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_files_0600_and_folders_0700_whatever_the_umask(folder, open_umask):
    daemon = Daemon(folder)
    daemon.history = folder / "state" / "nanwatch" / "history.db"
    daemon.socket = folder / "run" / "ingest.sock"
    daemon.config.write_text("ingest: {socket_mode: 0600}\n")
    daemon.start()
    try:
        feed(daemon.address, "--steps", "100", "--run", "one")
        kept = sorted(p.name for p in daemon.history.parent.iterdir())
        assert "history.db" in kept and "history.db-wal" in kept
        for path in daemon.history.parent.iterdir():
            assert mode(path) == 0o600, path
        for path in (folder / "state", daemon.history.parent, folder / "run"):
            assert mode(path) == 0o700, path
        assert mode(daemon.socket) == 0o600
    finally:
        daemon.kill()


def test_a_group_that_may_use_the_socket_may_reach_it(folder, open_umask):
    daemon = Daemon(folder)
    daemon.socket = folder / "run" / "ingest.sock"
    daemon.start()
    try:
        assert mode(daemon.socket) == 0o660
        assert mode(daemon.socket.parent) == 0o710
    finally:
        daemon.kill()


@root_only
@pytest.mark.parametrize("link", [False, True], ids=["folder", "link"])
@pytest.mark.parametrize("what", ["socket", "history"])
def test_a_folder_that_another_user_made_in_tmp_is_refused(folder, what, link):
    public = folder / "tmp"
    public.mkdir()
    os.chmod(public, 0o1777)
    trap = public / "nanwatch-0"
    if link:
        (folder / "elsewhere").mkdir()
        trap.symlink_to(folder / "elsewhere")
    else:
        trap.mkdir()
    os.lchown(trap, ANOTHER, ANOTHER)
    daemon = Daemon(folder)
    setattr(daemon, what, trap / "file")
    daemon.start(wait=False)
    try:
        wait_for("it ends", lambda: daemon.process.poll() is not None,
                 instead=daemon.log.read_text)
        assert daemon.process.returncode != 0
        said = daemon.log.read_text()
        assert str(trap) in said and str(ANOTHER) in said, said
        assert not any(trap.iterdir())
    finally:
        daemon.kill()
