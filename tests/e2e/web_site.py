"""A daemon whose HTTP is protected by deploy/web-config.yml, and clients that
speak with it."""

import base64
import hashlib
import http.client
import json
import os
import re
import secrets
import signal
import socket
import ssl
import subprocess

from conftest import BIN, ROOT, Daemon, wait_for
from tls_site import HERE, Authority, replace

EXAMPLE = ROOT / "deploy/web-config.yml"
PASSWORD = "change-me"  # of both users of the example
ANN = ("ann", PASSWORD)
PROMETHEUS = ("prometheus", PASSWORD)


class WebSite:
    def __init__(self, folder, more="", listen="0.0.0.0:0", web=None):
        self.folder = folder
        self.listen = listen
        self.authority = Authority(folder)
        self.certificate = folder / "nanwatch.crt"
        self.key = folder / "nanwatch.key"
        self.show(*self.authority.sign("server", HERE))
        self.file = folder / "web.yml"
        self.file.write_text(EXAMPLE.read_text() if web is None else web)
        self.tokens = folder / "tokens"
        self.token_files = {}
        self.tokens.write_text("".join(map(self._token, ("ann", "bob"))))
        self.daemon = Daemon(folder, config=f"""
ingest: {{tcp: "127.0.0.1:0", tokens: {self.tokens}}}
web: {{config_file: {self.file}}}
{more}
""")

    def _token(self, name):
        token = secrets.token_hex(32)
        self.token_files[name] = self.folder / f"{name}.token"
        self.token_files[name].write_text(token)
        return f"{name} {hashlib.sha256(token.encode()).hexdigest()}\n"

    def show(self, certificate, key):
        """As the server's own, a file after the other."""
        replace(self.key, key)
        replace(self.certificate, certificate)

    def start(self):
        self.daemon.start(wait=False, extra=("--listen", self.listen))
        self.daemon.http = wait_for(
            "HTTP", lambda: self.daemon._http_after(0))
        self.port = int(self.daemon.http.rpartition(":")[2])
        self.ingest = re.findall(r"127.0.0.1:\d+",
                                 self.daemon.log.read_text())[0]
        return self

    def feed(self, name, run, *more):
        """A training of the user `name`."""
        return subprocess.Popen(
            [str(BIN / "nanwatch-feed"), "--address", self.ingest, "--run", run,
             *more], stdout=subprocess.DEVNULL,
            env={**os.environ,
                 "NANWATCH_TOKEN_FILE": str(self.token_files[name])})

    def reload(self, taken=True):
        """HUP; what the log says of it."""
        at = len(self.daemon.log.read_text())
        self.daemon.process.send_signal(signal.SIGHUP)
        word = "configuration reloaded" if taken else "not reloaded"
        wait_for(word, lambda: word in self.daemon.log.read_text()[at:])
        return self.daemon.log.read_text()[at:]

    def context(self, ca=None, client=None):
        it = ssl.create_default_context(cafile=str(
            ca or self.authority.certificate))
        if client:
            it.load_cert_chain(*map(str, client))
        return it

    def ask(self, path, user=ANN, method="GET", body=None, headers=None,
            **context):
        """(status, headers, text)."""
        connection = http.client.HTTPSConnection(
            "localhost", self.port, timeout=20,
            context=self.context(**context))
        headers = dict(headers or {})
        if user:
            said = base64.b64encode(":".join(user).encode()).decode()
            headers["Authorization"] = "Basic " + said
        try:
            connection.request(method, path, body=body, headers=headers)
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read().decode()
        finally:
            connection.close()

    def json(self, path, user=ANN, **more):
        status, _, text = self.ask(path, user, **more)
        assert status == 200, text
        return json.loads(text)

    def annotate(self, run, incident, user=ANN, **more):
        body = {"kind": "acknowledge", "incident": incident, "by": "", **more}
        status, _, text = self.ask(
            f"/api/v1/runs/{run}/annotations", user, "POST", json.dumps(body),
            {"X-Nanwatch": "annotate", "Content-Type": "application/json"})
        return status, json.loads(text)

    def metric(self, name, user=PROMETHEUS):
        status, _, text = self.ask("/metrics", user)
        assert status == 200, text
        return sum(map(float, re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text,
                                         re.M)))

    def raw(self, data, encrypted=True):
        """What comes back to bytes of any kind."""
        with socket.create_connection(("127.0.0.1", self.port),
                                      timeout=20) as plain:
            it = self.context().wrap_socket(
                plain, server_hostname="localhost") if encrypted else plain
            it.sendall(data)
            told = b""
            while True:
                try:
                    more = it.recv(65536)
                except (ConnectionError, ssl.SSLError):
                    return told
                if not more:
                    return told
                told += more
