"""A daemon of a module of tests, and its pages in a real Chromium.

With NANWATCH_PICTURES=FOLDER tests leave pictures of what they saw there; with
NANWATCH_PAGE=dashboards/web pages take their files from there, so that one can
work on them without a build.
"""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

import browser
from conftest import Daemon

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
FILES = os.environ.get("NANWATCH_PAGE")
PICTURES = os.environ.get("NANWATCH_PICTURES")
RUNS = pathlib.Path(__file__).with_name("page_runs.py")


def from_folder(route):
    path = pathlib.Path(FILES) / route.request.url.split("/")[-1]
    if path.exists():
        route.fulfill(path=str(path))
    else:
        route.continue_()


def picture(page, name, **options):
    if PICTURES:
        page.screenshot(path=str(pathlib.Path(PICTURES) / f"{name}.png"),
                        **options)


class Visit:
    """A page that was opened, and what went wrong on it."""

    def __init__(self, context, daemon):
        self.page = context.new_page()
        self.daemon = daemon
        self.wrong = []
        self.foreign = []
        self.page.on("console", lambda m: m.type == "error" and
                     self.wrong.append(m.text))
        self.page.on("pageerror", lambda e: self.wrong.append(e.message))
        self.page.on("request", lambda r: r.url.startswith(
            (daemon.http + "/", "blob:" + daemon.http)) or
            self.foreign.append(r.url))

    def open(self, path):
        self.page.goto(self.daemon.http + path)
        self.page.wait_for_selector("tbody tr, .verdict-block h1")
        return self.page

    def run(self, run, more=""):
        page = self.open(f"/?run={run}{more}")
        page.wait_for_selector(".chart canvas")
        return page


def context_of(chromium, **options):
    options.setdefault("viewport", DESKTOP)
    context = chromium.new_context(**options)
    context.set_default_timeout(40000)
    if FILES:
        context.route("**/page/*/*", from_folder)
    return context


def stopped(process):
    """For ExitStack.callback: however the rest of a fixture ends."""
    process.kill()
    process.wait()


class Site:
    """A daemon, and what is started for it: all goes when the stack does."""

    def __init__(self, stack):
        self.stack = stack
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nw-"))
        self.daemon = Daemon(folder)
        stack.callback(self.daemon.kill)
        self.daemon.start()
        self.chromium = None

    def start(self, *command):
        process = subprocess.Popen([str(c) for c in command],
                                   stdout=subprocess.DEVNULL)
        self.stack.callback(stopped, process)
        return process

    def say(self, *runs, check=True):
        """Runs of page_runs.py, to their end."""
        done = subprocess.run([sys.executable, RUNS, self.daemon.address, *runs],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 or not check, done.stderr

    def visit(self, **options):
        if self.chromium is None:
            self.chromium = self.stack.enter_context(browser.chromium())
        context = context_of(self.chromium, **options)
        self.stack.callback(context.close)
        return Visit(context, self.daemon)


@contextlib.contextmanager
def site():
    with contextlib.ExitStack() as stack:
        yield Site(stack)
