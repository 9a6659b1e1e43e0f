"""Playwright, in an environment of its own, with Debian's Chromium."""

import contextlib
import fcntl
import os
import pathlib
import subprocess
import sys
import venv

VERSION = "1.65.2"
CHROMIUM = "/usr/bin/chromium"
HOME = pathlib.Path(
    os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
) / "nanwatch"


@contextlib.contextmanager
def chromium():
    with sync_playwright() as playwright:
        it = playwright.chromium.launch(executable_path=CHROMIUM,
                                        args=["--no-sandbox"])
        yield it
        it.close()


def sync_playwright():
    """Made at the first call, some seconds; later ones find it."""
    folder = HOME / f"playwright-{VERSION}"
    HOME.mkdir(parents=True, exist_ok=True)
    with open(HOME / "playwright.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            venv.create(folder, with_pip=True, clear=True)
            subprocess.run(
                [folder / "bin" / "pip", "install", "--quiet",
                 "--disable-pip-version-check", f"playwright=={VERSION}"],
                check=True)
            (folder / "made").touch()
    packages = next((folder / "lib").glob("python3*")) / "site-packages"
    if str(packages) not in sys.path:
        sys.path.append(str(packages))
    from playwright.sync_api import sync_playwright as found

    return found()
