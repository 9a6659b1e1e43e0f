"""The wheels of deploy/wheel: what lies in them, and that the programs run where
there is nothing but them."""

import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import threading
import venv
import zipfile

import pytest
from daemons import ROOT, SOURCE, wait_for

MOST_BYTES = 25e6
ALL = bool(os.environ.get("NANWATCH_TEST_ALL"))
LIBRARIES = re.compile(r"\(NEEDED\).*\[(.+)\]")
LOADER = re.compile(r"ld-linux-\S+\.so\.\d+")
LOG = "".join(f"step {i} loss {2.5 if i < 50 else 'nan'} lr 0.1\n"
              for i in range(60))
# A training, linked so that it needs no library either.
TRAINING = r"""
#include <stdio.h>
int main(void) {
  for (int i = 0; i < 60; ++i)
    printf("step %d loss %s lr 0.1\n", i, i < 50 ? "2.5" : "nan");
  return 5;
}
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """The pure one, and the one with programs."""
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run([ROOT / "deploy" / "wheel", out],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (pure,) = out.glob("*-none-any.whl")
    (whole,) = out.glob("*linux*.whl")
    return pure, whole


@pytest.fixture(scope="module")
def installed(wheels, tmp_path_factory):
    """An environment that has the whole wheel, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel") / "venv"
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "-q",
                    "--no-deps", "--no-index", wheels[1]], check=True)
    return folder


def elf_files(folder):
    found = [path for path in folder.rglob("*") if path.is_file()
             and not path.is_symlink() and path.open("rb").read(4) == b"\x7fELF"]
    return {path.name: path for path in found}


def test_every_program_and_library_finds_its_own_in_the_wheel(wheels, tmp_path):
    with zipfile.ZipFile(wheels[1]) as wheel:
        wheel.extractall(tmp_path)
    files = elf_files(tmp_path)
    assert {"nanwatch", "nanwatchd", "ld.so", "libc.so.6"} <= set(files)
    missing = {}
    for name, path in files.items():
        said = subprocess.run(["readelf", "-dlW", path], capture_output=True,
                              text=True, check=True).stdout
        gone = [n for n in LIBRARIES.findall(said)
                if n not in files and not LOADER.fullmatch(n)]
        if gone:
            missing[name] = gone
        # Its own would come before the programs'.
        assert "RUNPATH" not in said, name
        if name.startswith("nanwatch"):
            assert "INTERP" not in said, "the host's loader would be asked"
            assert "[$ORIGIN/../libexec/nanwatch]" in said
    assert not missing
    licences = [p for p in tmp_path.rglob("libexec/nanwatch/licenses/*")]
    assert len(licences) > 40
    assert list(tmp_path.rglob("*.dist-info/**/LICENSE"))


def test_it_is_small_and_an_index_would_take_it(wheels):
    assert wheels[1].stat().st_size <= MOST_BYTES
    made = subprocess.run([ROOT / "tests/frameworks/environment", "lint"],
                          capture_output=True, text=True, check=True)
    done = subprocess.run(
        [made.stdout.strip(), "-m", "twine", "--no-color", "check", "--strict",
         *wheels], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2


def test_the_pure_one_has_no_programs(wheels):
    with zipfile.ZipFile(wheels[0]) as wheel:
        names = wheel.namelist()
    assert not [n for n in names if ".data/" in n or n.endswith(".so")]


def test_the_programs_are_those_of_this_version(installed):
    for name in ("nanwatch", "nanwatchd"):
        said = subprocess.run([installed / "bin" / name, "--version"],
                              capture_output=True, text=True, check=True).stdout
        python = subprocess.run(
            [installed / "bin/python", "-c",
             "import nanwatch; print(nanwatch.__version__)"],
            capture_output=True, text=True, check=True).stdout.strip()
        assert said.startswith(f"{name}/{python}"), said


def test_autostart_finds_the_daemon_that_came_with_it(installed, tmp_path):
    """By its Python alone, with nothing on PATH."""
    code = "from nanwatch import _autostart; print(_autostart._find_program())"
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    said = subprocess.run([installed / "bin/python", "-c", code],
                          capture_output=True, text=True, check=True,
                          env=environment).stdout.strip()
    assert pathlib.Path(said) == (installed / "bin/nanwatchd").resolve()


# Where the wheel's two folders lie in a root.
PLACE = "opt/nanwatch"
NANWATCH = f"/{PLACE}/bin/nanwatch"
NANWATCHD = f"/{PLACE}/bin/nanwatchd"


class Root:
    """A folder that is / for what runs there: what is in it already, the two
    folders of the wheel, a training, /proc and /dev/null."""

    def __init__(self, path, environment):
        self.path = path
        for name in ("proc", "dev", "tmp", "run", "etc/ssl/certs", "var/lib"):
            (path / name).mkdir(parents=True, exist_ok=True)
        (path / "dev/null").touch()
        self.place = path / PLACE
        for left in (self.place, path / "var/lib/nanwatch"):
            shutil.rmtree(left, ignore_errors=True)
        (self.place / "bin").mkdir(parents=True)
        for name in ("nanwatch", "nanwatchd"):
            shutil.copy(environment / "bin" / name, self.place / "bin")
        shutil.copytree(environment / "libexec", self.place / "libexec")
        source = self.place / "train.c"
        source.write_text(TRAINING)
        subprocess.run(["gcc", "-static", "-O1", "-o", self.place / "train",
                        source], check=True)

    def start(self, *command, **environment):
        """In a process tree of its own, which ends with its first process."""
        return subprocess.Popen(
            ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]),
             "--mount", "--pid", "--fork", "--kill-child",
             "bash", "-c",
             f"mount -t proc proc {self.path}/proc && "
             f"mount --bind /dev/null {self.path}/dev/null && "
             f"exec chroot {self.path} \"$@\"", "bash", *command],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **environment})

    def run(self, *command, **environment):
        process = self.start(*command, **environment)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err


@pytest.fixture(scope="module")
def bullseye(tmp_path_factory):
    """A Debian 11, with glibc 2.31 and none of our libraries."""
    path = tmp_path_factory.mktemp("bullseye") / "root"
    subprocess.run(["mmdebstrap", "--quiet", "--variant=essential", "bullseye",
                    path], check=True)
    yield path
    shutil.rmtree(path)


@pytest.fixture(params=["nothing", "bullseye"])
def root(request, installed, tmp_path):
    if request.param == "nothing":
        return Root(tmp_path / "root", installed)
    if not ALL:
        pytest.skip("an old Debian is fetched with --all")
    return Root(request.getfixturevalue(request.param), installed)


def test_a_log_is_judged_where_nothing_else_is(root):
    (root.path / "tmp/train.log").write_text(LOG)
    status, out, err = root.run(NANWATCH, "check", "/tmp/train.log")
    assert status == 2 and "loss_nonfinite" in out, out + err


def test_run_starts_the_program_and_the_daemon_beside_it(root):
    status, out, err = root.run(NANWATCH, "run", "--", f"/{PLACE}/train")
    assert status == 5, err
    assert out.count("loss") == 60
    assert "CRITICAL" in err and "no daemon" not in err
    assert (root.path / "var/lib/nanwatch/history.db").exists()


def test_run_starts_a_program_of_the_host(root):
    """One that is linked with the host's own C library, and starts another."""
    if not (root.path / "bin/sh").exists():
        pytest.skip("nothing of a host is there")
    (root.path / "tmp/train.log").write_text(LOG)
    status, out, err = root.run(NANWATCH, "run", "--", "/bin/sh", "-c",
                                "/bin/cat /tmp/train.log; exit 5")
    assert status == 5, err
    assert out == LOG and "CRITICAL" in err, err


def test_the_trainings_own_libraries_are_not_taken(root):
    """LD_LIBRARY_PATH is the training's, and may hold a libc that is no libc."""
    bad = root.path / "bad"
    bad.mkdir()
    for name in ("libc.so.6", "libstdc++.so.6", "libssl.so.3"):
        (bad / name).write_text("not a library")
    status, out, err = root.run(NANWATCH, "--version",
                                LD_LIBRARY_PATH="/bad")
    assert status == 0 and out.startswith("nanwatch/"), err


def test_without_its_libraries_it_says_what_is_missing(root):
    shutil.rmtree(root.place / "libexec")
    status, _, err = root.run(NANWATCH, "--version")
    assert status == 127 and "/libexec/nanwatch/ld.so" in err


NAME = "hooks.nanwatch.test"


@pytest.fixture
def authority(tmp_path):
    """A certificate for NAME that is its own authority."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days",
         "2", "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}",
         "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return key, certificate


def answer_names(server):
    """A name server that knows NAME alone, as 127.0.0.1."""
    while True:
        try:
            query, client = server.recvfrom(512)
        except OSError:
            return
        question = query[12:query.index(b"\0", 12) + 5]
        known = NAME.split(".")[0].encode() in question
        address = known and question[-4:-2] == b"\0\1"
        answer = (query[:2] + (b"\x81\x80" if known else b"\x81\x83")
                  + b"\0\1" + (b"\0\1" if address else b"\0\0") + b"\0\0\0\0"
                  + question)
        if address:
            answer += b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1"
        server.sendto(answer, client)


@pytest.fixture(scope="module")
def name_server():
    if os.geteuid() != 0:
        pytest.skip("only root may listen at the port of names")
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.153", 53))
    threading.Thread(target=answer_names, args=(server,), daemon=True).start()
    yield "127.0.0.153"
    server.close()


def test_names_are_looked_up_and_tls_is_spoken(
        root, authority, name_server):
    """A webhook over HTTPS, at a host that only DNS knows."""
    key, certificate = authority
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))
    posted = []

    def take():
        while True:
            try:
                plain, _ = listener.accept()
                with context.wrap_socket(plain, server_side=True) as client:
                    posted.append(client.recv(65536).split(b"\r\n")[0])
                    client.sendall(b"HTTP/1.1 200 OK\r\n"
                                   b"Content-Length: 0\r\n\r\n")
            except ssl.SSLError as error:
                posted.append(str(error))
            except OSError:
                return

    threading.Thread(target=take, daemon=True).start()
    (root.path / "etc/resolv.conf").write_text(f"nameserver {name_server}\n")
    shutil.copy(certificate, root.path / "etc/ssl/certs/ca-certificates.crt")
    (root.path / "etc/nanwatch.yaml").write_text(
        "notify:\n  webhook:\n    urls: ["
        f"https://{NAME}:{listener.getsockname()[1]}/hook]\n")
    daemon = root.start(
        NANWATCHD, "--config", "/etc/nanwatch.yaml", "--socket",
        "/tmp/in.sock", "--history", "off", "--listen", "off")
    try:
        at = root.path / "tmp/in.sock"
        wait_for("the daemon listens", at.exists)
        code = """
import sys, nanwatch
run = nanwatch.init(run="bad", address=sys.argv[1])
for i in range(60):
    run.step(i, loss=2.5 if i < 50 else float("nan"))
run.flush(10)
"""
        subprocess.run(["/usr/bin/python3", "-c", code, f"unix:{at}"],
                       check=True, timeout=60,
                       env={**os.environ, "PYTHONPATH": str(SOURCE)})
        wait_for("the webhook is called", lambda: posted, seconds=30)
        assert posted[0] == b"POST /hook HTTP/1.1", posted
    finally:
        daemon.kill()  # unshare, which takes it along (--kill-child)
        daemon.communicate(timeout=20)
        listener.close()
