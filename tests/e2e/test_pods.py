"""What deploy/kubernetes starts, started without a cluster: the daemons of the
job, of a node and of a pod with their very configurations, trainings with the environment that
the examples' pods have. Where a rank runs reaches the run and its incidents."""

import os
import re
import subprocess
import sys

import pytest
import yaml

from conftest import BIN, ROOT, Daemon, counted, free_port, wait_for
from relays import forwarded
from test_topologies import Place

HERE = ROOT / "deploy/kubernetes"
EXAMPLES = ("pytorchjob-sidecar", "jobset-node", "volcano-mindx-job")
POD = {"metadata.namespace": "team-a", "metadata.name": "llama-worker-3",
       "spec.nodeName": "gpu7"}
# A rank whose loss becomes NaN, by the Python client.
TRAINING = """
import nanwatch
run = nanwatch.init(rank=1, world_size=2)
for step in range(60):
    run.step(step, loss=2.5 if step < 30 else float("nan"))
assert run.flush(30)
print("sick", flush=True)
input()
assert run.close(30)
assert run.stats.acked == 60, run.stats
"""


def objects(name):
    return {(thing["kind"], thing["metadata"]["name"]): thing
            for thing in yaml.safe_load_all((HERE / name).read_text()) if thing}


def containers(thing):
    """Of the first pod within it."""
    if isinstance(thing, dict) and "containers" in thing:
        return thing["containers"]
    inner = thing.values() if isinstance(thing, dict) else thing
    return next(filter(None, (containers(each) for each in inner
                              if isinstance(each, (dict, list)))), None)


def environment(example):
    """What its training's container gets from a cluster."""
    (job,) = objects(f"examples/{example}.yaml").values()
    values = {}
    for entry in containers(job)[0]["env"]:
        if "value" in entry:
            text = re.sub(r"\$\((\w+)\)", lambda m: values[m[1]], entry["value"])
        else:
            path = entry["valueFrom"]["fieldRef"]["fieldPath"]
            text = example if "labels[" in path else POD[path]
        values[entry["name"]] = text
    return values


def mount(folder, files):
    """Files as a cluster mounts those of a secret: links into a folder that is
    put in the place of the one before."""
    (folder / "..data").mkdir(parents=True)
    for name, text in files.items():
        (folder / "..data" / name).write_text(text)
        (folder / name).symlink_to(f"..data/{name}")


def tokens(folder):
    """As the page makes them: the loop of its first commands."""
    (folder / "tokens").unlink()
    page = (ROOT / "docs/KUBERNETES.md").read_text()
    loop = re.search(r"```sh secrets\n.*?(^for .*?^done\n)", page, re.S | re.M)[1]
    subprocess.run(["bash", "-euc", loop], cwd=folder, check=True, timeout=30)
    return {path.name: path.read_text() for path in folder.iterdir()
            if path.name in ("tokens", "relay", "training")}


class Cluster:
    """The job's daemon, a node's and a sidecar, with certificates and tokens."""

    def __init__(self, folder):
        self.daemons = []
        port = free_port()
        (folder / "keys").mkdir()
        Place(folder / "keys", port).certify()
        key = {path.name: path.read_text()
               for path in (folder / "keys").iterdir() if path.is_file()}
        mount(folder / "tls", {"tls.crt": key["server.crt"],
                               "tls.key": key["server.key"]})
        mount(folder / "ca", {"ca.crt": key["ca.crt"]})
        made = tokens(folder / "keys")
        mount(folder / "tokens", {"tokens": made["tokens"]})
        mount(folder / "relay", {"token": made["relay"]})
        mount(folder / "token", {"token": made["training"]})
        self.place = Place(folder, port)
        self.place.swaps["nanwatch-job.nanwatch.svc:9766"] = f"localhost:{port}"

    def start(self):
        port = free_port()
        self.place.swaps["nanwatch-node.nanwatch.svc:9766"] = f"localhost:{port}"
        self.job = self.daemon("job")
        self.sidecar = self.daemon("sidecar")
        self.place.swaps["0.0.0.0:9766"] = f"127.0.0.1:{port}"
        self.node = self.daemon("node")

    def daemon(self, name):
        config = objects(f"kustomize/base/{name}.yaml")[
            "ConfigMap", f"nanwatch-{name}"]
        own = self.place.folder / f"of-{name}"
        own.mkdir()
        text = self.place.fit(config["data"]["nanwatch.yaml"])
        assert "json: true" in text  # log lines; the test reads the others
        self.daemons.append(Daemon(own, config=text.replace("json: true",
                                                            "json: false")))
        return self.daemons[-1].start()

    def train(self, example, command):
        """A training's process, in the environment of the example's pod."""
        values = {name: self.place.fit(text).replace(
            "unix:/run/nanwatch/ingest.sock", self.sidecar.address)
            for name, text in environment(example).items()}
        return subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={
                **os.environ, **values,
                "PYTHONPATH": str(ROOT / "client_lib/python/src")})

    def sick(self, example):
        """A rank that goes on, after its loss became NaN."""
        training = self.train(example, [sys.executable, "-c", TRAINING])
        said = training.stdout.readline()
        assert said == "sick\n", said + training.communicate(timeout=60)[1]
        return training

    def stop(self):
        for daemon in self.daemons:
            daemon.kill()


def ended(training):
    said = training.communicate("\n", timeout=60)
    assert training.returncode == 0, said


@pytest.fixture
def cluster(folder):
    it = Cluster(folder)
    try:
        it.start()
        yield it
    finally:
        it.stop()


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_pod_reaches_its_run_and_its_incidents(cluster, example):
    """Rank 0 by the C client, rank 1 by the Python client."""
    name = f"team-a/{example}"
    healthy = cluster.train(example, [BIN / "nanwatch-feed", "--steps", "60", "--rate",
                            "0", "--world", "2", "--run", name, "--job", ""])
    ended(healthy)
    training = cluster.sick(example)
    forwarded(cluster.sidecar, cluster.node)
    job = cluster.job
    wait_for("the incident is there",
             lambda: job.show(name).get("incidents"))
    run = job.show(name)
    pod = {"name": "llama-worker-3", "namespace": "team-a", "node": "gpu7"}
    assert run["info"]["job"] == example
    assert [rank["pod"] for rank in run["ranks"]] == [pod, pod]
    assert run["incidents"][0]["subject"]["rank"] == 1
    assert run["incidents"][0]["subject"]["pod"] == pod
    # And over HTTP, in words, in metrics.
    assert "pod team-a/llama-worker-3 on node gpu7" in job.nanwatch(
        "diagnose", name).stdout
    assert counted(job, "nanwatch_run_info", job_name=example,
                   pod_namespace="team-a") == 1
    assert counted(job, "nanwatch_condition_origin_pod_info", condition="loss",
                   pod_namespace="team-a", pod_name="llama-worker-3",
                   node_name="gpu7") == 1
    ended(training)


def test_a_log_is_of_its_pod_and_job_too(cluster):
    """A program without a hook, under `nanwatch run`."""
    lines = "".join(f"step {n} loss 2.{n % 7}1 lr 1e-4\n" for n in range(1, 61))
    log = cluster.place.folder / "log"
    log.write_text(lines)
    ended(cluster.train("pytorchjob-sidecar", [
        BIN / "nanwatch", "run", "--", "cat", log]))
    run = cluster.sidecar.show("team-a/pytorchjob-sidecar")
    assert run["info"]["job"] == "pytorchjob-sidecar"
    assert run["ranks"][0]["pod"]["name"] == "llama-worker-3"


def test_a_pod_outlives_a_restart_of_its_daemon(cluster):
    """Of the history, as a checkpoint and as a sent incident."""
    ended(cluster.sick("pytorchjob-sidecar"))
    name = "team-a/pytorchjob-sidecar"
    before = cluster.sidecar.show(name)["incidents"]
    assert before[0]["subject"]["pod"]["node"] == "gpu7"
    cluster.sidecar.stop()
    cluster.sidecar.start()
    assert cluster.sidecar.show(name)["incidents"] == before


def test_probes_ask_the_daemon(cluster):
    template = objects("kustomize/base/sidecar.yaml")[
        "PodTemplate", "nanwatch-sidecar"]
    (container,) = template["template"]["spec"]["initContainers"]
    program, *arguments = container["startupProbe"]["exec"]["command"]
    assert program == "/bin/nanwatch"
    probe = [str(BIN / "nanwatch"), *arguments]
    # As the image sets it.
    settings = {**os.environ, "NANWATCH_ADDRESS": cluster.sidecar.address}
    assert subprocess.run(probe, env=settings, capture_output=True,
                          timeout=60).returncode == 0
    cluster.sidecar.kill()
    assert subprocess.run(probe, env=settings, capture_output=True,
                          timeout=60).returncode != 0
