"""A real API server on the loopback, over a real etcd, with the custom resources
of the charts and examples. It schedules and runs nothing."""

import contextlib
import json
import pathlib
import secrets
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request

import yaml

# What an API group calls its kinds.
PLURALS = {"NetworkPolicy": "networkpolicies"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class ApiServer:
    def __init__(self, folder, server):
        self.folder, self.server = pathlib.Path(folder), server
        self.token = secrets.token_hex(16)
        self.port = free_port()
        self.processes = []
        # Its certificate is its own; it is asked over the loopback.
        self.trust = ssl.create_default_context()
        self.trust.check_hostname = False
        self.trust.verify_mode = ssl.CERT_NONE

    def start(self):
        etcd, peer = free_port(), free_port()
        self._run("etcd", "etcd", "--data-dir", self.folder / "etcd",
                  "--listen-client-urls", f"http://127.0.0.1:{etcd}",
                  "--advertise-client-urls", f"http://127.0.0.1:{etcd}",
                  "--listen-peer-urls", f"http://127.0.0.1:{peer}",
                  "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
                  "--initial-cluster", f"default=http://127.0.0.1:{peer}")
        key = self.folder / "accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True,
                       capture_output=True)
        tokens = self.folder / "tokens.csv"
        tokens.write_text(f'{self.token},test,test,"system:masters"\n')
        self._run("api", self.server,
                  f"--etcd-servers=http://127.0.0.1:{etcd}",
                  "--bind-address=127.0.0.1", f"--secure-port={self.port}",
                  f"--cert-dir={self.folder}/certificates",
                  f"--token-auth-file={tokens}",
                  "--service-account-issuer=https://kubernetes.test",
                  f"--service-account-key-file={key}",
                  f"--service-account-signing-key-file={key}",
                  "--service-cluster-ip-range=10.0.0.0/24",
                  # Accounts are made by a controller, which is not here.
                  "--disable-admission-plugins=ServiceAccount")
        self._wait(self._ready, 120)
        return self

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(30)

    def _run(self, name, *command):
        with open(self.folder / f"{name}.log", "wb") as log:
            self.processes.append(subprocess.Popen(
                [str(part) for part in command], stdout=log, stderr=log))

    def _wait(self, condition, seconds):
        end = time.monotonic() + seconds
        while not condition():
            for process in self.processes:
                assert process.poll() is None, self._logs()
            assert time.monotonic() < end, self._logs()
            time.sleep(0.2)

    def _logs(self):
        return "".join(path.read_text()[-3000:]
                       for path in self.folder.glob("*.log"))

    def _ready(self):
        with contextlib.suppress(OSError):
            return self.ask("GET", "/readyz")[0] == 200
        return False

    def ask(self, method, path, body=None, kind="application/json"):
        """Returns status, answer and warnings."""
        request = urllib.request.Request(
            f"https://127.0.0.1:{self.port}{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}",
                     "Content-Type": kind})
        try:
            reply = urllib.request.urlopen(request, context=self.trust,
                                           timeout=30)
        except urllib.error.HTTPError as error:
            reply = error
        with reply:
            text = reply.read().decode()
            return reply.status, text, reply.headers.get_all("Warning") or []

    def path_of(self, thing, namespace):
        group = thing["apiVersion"]
        root = f"/api/{group}" if "/" not in group else f"/apis/{group}"
        kind = thing["kind"]
        plural = PLURALS.get(kind, kind.lower() + "s")
        if kind not in ("Namespace", "CustomResourceDefinition"):
            space = thing["metadata"].get("namespace", namespace)
            root += f"/namespaces/{space}"
        return f"{root}/{plural}"

    def apply(self, thing, namespace="nanwatch", dry=True):
        """Server-side, strict on unknown fields; dry: nothing is kept. Returns
        what it warns of; fails with its words."""
        path = (f"{self.path_of(thing, namespace)}/{thing['metadata']['name']}"
                f"?fieldManager=test&fieldValidation=Strict"
                + ("&dryRun=All" if dry else ""))
        status, text, warnings = self.ask("PATCH", path, thing,
                                          "application/apply-patch+yaml")
        assert status in (200, 201), f"{thing['kind']}: {text}"
        return warnings

    def take(self, crds):
        """Makes the custom resources of files known."""
        for path in crds:
            crd = yaml.safe_load(path.read_text())
            self.apply(crd, dry=False)
            name = crd["metadata"]["name"]
            where = ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                     + name)
            self._wait(lambda where=where: '"type":"Established","status":"True"'
                       in self.ask("GET", where)[1].replace(" ", ""), 60)
