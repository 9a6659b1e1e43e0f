"""deploy/kubernetes without a cluster: pods are as "restricted" asks, what was
generated is of today's sources, keys and tokens are named and never held.
tests/kubernetes asks helm, kubeconform and an API server."""

import functools
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "deploy/kubernetes"
BIN = pathlib.Path(os.environ.get("NANWATCH_BIN", ROOT / "build/release/bin"))
RENDERED = sorted(path for path in HERE.glob("kustomize/*/*.yaml")
                  if path.name not in ("values.yaml", "kustomization.yaml"))
EXAMPLES = sorted(HERE.glob("examples/*.yaml"))
# What says who a pod is, by where it comes from.
DOWNWARD = {
    "NANWATCH_NAMESPACE": r"metadata\.namespace",
    "NANWATCH_POD": r"metadata\.name",
    "NANWATCH_NODE": r"spec\.nodeName",
    "NANWATCH_JOB": r"metadata\.labels\['[\w.-]+/(job|jobset)-name'\]",
}
VOLUMES = {"configMap", "downwardAPI", "emptyDir", "ephemeral",
           "persistentVolumeClaim", "projected", "secret"}
rendered = pytest.mark.parametrize("path", RENDERED, ids=lambda p: "/".join(
    p.parts[-2:]))
each_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)


def module(path):
    loader = importlib.machinery.SourceFileLoader("generate", str(path))
    it = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("generate", loader))
    it.__file__ = str(path)
    loader.exec_module(it)
    return it


GENERATOR = module(HERE / "generate")


@functools.cache
def objects(path):
    return [thing for thing in yaml.safe_load_all(path.read_text()) if thing]


def pods(thing):
    """Each spec of a pod within it, however deep."""
    if isinstance(thing, list):
        for item in thing:
            yield from pods(item)
    elif isinstance(thing, dict):
        if isinstance(thing.get("containers"), list):
            yield thing
        for value in thing.values():
            yield from pods(value)


def containers(pod):
    return pod["containers"] + pod.get("initContainers", [])


ALL_PODS = [(path.stem, pod) for path in (*RENDERED, *EXAMPLES)
            for pod in pods(objects(path))]


def test_there_are_pods():
    assert len(ALL_PODS) >= 9


@pytest.mark.parametrize("name, pod", ALL_PODS, ids=lambda v: v if isinstance(
    v, str) else "")
def test_a_pod_is_restricted(name, pod):
    """As the Pod Security Standards have it."""
    own = pod["securityContext"]
    assert own["runAsNonRoot"] and own["runAsUser"] > 0
    assert own["seccompProfile"]["type"] == "RuntimeDefault"
    assert pod["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    for volume in pod.get("volumes", []):
        assert set(volume) - {"name"} <= VOLUMES, volume
    for container in containers(pod):
        security = container["securityContext"]
        assert security["allowPrivilegeEscalation"] is False
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert not security.get("privileged")
        if container["name"] == "nanwatch":
            assert security["readOnlyRootFilesystem"] is True
            assert container["resources"]["limits"]["memory"]
            assert "startupProbe" in container
        for port in container.get("ports", []):
            assert "hostPort" not in port


@pytest.mark.parametrize("name, pod", ALL_PODS, ids=lambda v: v if isinstance(
    v, str) else "")
def test_what_a_container_mounts_is_there(name, pod):
    volumes = {volume["name"] for volume in pod.get("volumes", [])}
    mounted = {mount["name"] for container in containers(pod)
               for mount in container.get("volumeMounts", [])}
    # A claim's template is a volume of its pods.
    assert mounted - volumes <= {"nanwatch-history"}
    assert volumes <= mounted


@pytest.mark.parametrize("values", sorted(HERE.glob("kustomize/*/values.yaml")),
                         ids=lambda p: p.parent.name)
def test_the_bases_are_of_todays_chart(values):
    wanted = f"from the chart {GENERATOR.digest(values)}."
    names = [name for name in yaml.safe_load(
        (values.parent / "kustomization.yaml").read_text())["resources"]
        if name.endswith(".yaml") and name != "namespace.yaml"]
    assert len(names) >= 5
    for name in names:
        head = (values.parent / name).read_text().partition("\n")[0]
        assert wanted in head, f"{name}: run deploy/kubernetes/generate"


def test_the_chart_has_rules_and_dashboards_and_no_copy_of_them():
    for name, source in (("nanwatch.rules.yml", "deploy/prometheus/nanwatch.rules.yml"),
                         ("dashboards", "dashboards/grafana/json")):
        link = HERE / "chart" / name
        assert link.is_symlink() and link.resolve() == (ROOT / source).resolve()


def test_the_rules_of_the_base_are_those_of_prometheus():
    (rule,) = objects(HERE / "kustomize/monitored/rules.yaml")
    wanted = yaml.safe_load(
        (ROOT / "deploy/prometheus/nanwatch.rules.yml").read_text())
    assert rule["spec"] == wanted


def test_every_dashboard_is_among_those_for_kustomize():
    folder = ROOT / "dashboards/grafana"
    made = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert [file for one in made["configMapGenerator"] for file in one["files"]
            ] and sorted(file for one in made["configMapGenerator"]
                         for file in one["files"]) == sorted(
        f"json/{path.name}" for path in folder.glob("json/*.json"))


@rendered
def test_no_key_and_no_token_stands_in_an_object(path):
    text = path.read_text()
    assert "kind: Secret\n" not in text
    assert not re.search(r"\b[0-9a-f]{64}\b(?!\")", text), "a token's digest"
    assert "PRIVATE KEY" not in text and "$2y$" not in text


CONFIGS = [(f"{path.parent.name}/{thing['metadata']['name']}", thing)
           for path in RENDERED for thing in objects(path)
           if thing["kind"] == "ConfigMap"]


@pytest.mark.parametrize("name, config", CONFIGS, ids=lambda v: v if isinstance(
    v, str) else "")
def test_a_daemon_takes_its_configuration(name, config, tmp_path):
    assert set(config["data"]) == {"nanwatch.yaml"}
    text = config["data"]["nanwatch.yaml"]
    for word in ("password", "bearer", "token:"):
        assert word not in text
    for path in set(re.findall(r"/etc/nanwatch/(\S+)", text)):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("relay " + "0" * 64 + "\n")
    (tmp_path / "tls").mkdir(exist_ok=True)
    key, certificate = tmp_path / "tls/tls.key", tmp_path / "tls/tls.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=x",
                    "-keyout", key, "-out", certificate], check=True,
                   capture_output=True)
    if (tmp_path / "ca").exists():
        (tmp_path / "ca/ca.crt").write_bytes(certificate.read_bytes())
    if (tmp_path / "web").exists():
        (tmp_path / "web/web-config.yml").write_text(
            (ROOT / "deploy/web-config.yml").read_text()
            .replace("nanwatch.crt", str(certificate))
            .replace("nanwatch.key", str(key)))
    file = tmp_path / "nanwatch.yaml"
    file.write_text(text.replace("/etc/nanwatch/", f"{tmp_path}/"))
    done = subprocess.run([BIN / "nanwatchd", "--check-config", "--config", file],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@each_example
def test_an_example_says_who_its_pods_are(path):
    (job,) = objects(path)
    for pod in pods(job):
        (training,) = pod["containers"]
        said = {entry["name"]: entry for entry in training["env"]}
        for name, pattern in DOWNWARD.items():
            field = said[name]["valueFrom"]["fieldRef"]["fieldPath"]
            assert re.fullmatch(pattern, field), field
        assert said["NANWATCH_RUN_ID"]["value"] == \
            "$(NANWATCH_NAMESPACE)/$(NANWATCH_JOB)"
        address = said["NANWATCH_ADDRESS"]["value"]
        if address.startswith("tls://"):
            mounts = [m["mountPath"] for m in training["volumeMounts"]]
            for name in ("NANWATCH_CA", "NANWATCH_TOKEN_FILE"):
                assert any(said[name]["value"].startswith(mount + "/")
                           for mount in mounts)
            assert re.fullmatch(r"tls://nanwatch-(job|node)\.nanwatch\.svc:9766",
                                address)
        else:
            assert address == "unix:/run/nanwatch/ingest.sock"


def test_the_sidecar_of_the_example_is_the_charts():
    (template,) = [thing for thing in objects(
        HERE / "kustomize/base/sidecar.yaml") if thing["kind"] == "PodTemplate"]
    (wanted,) = pods(template)
    (job,) = objects(HERE / "examples/pytorchjob-sidecar.yaml")
    for pod in pods(job):
        (sidecar,), (own,) = pod["initContainers"], wanted["initContainers"]
        for key in ("args", "restartPolicy", "startupProbe", "resources",
                    "volumeMounts"):
            assert sidecar[key] == own[key], key
        there = {volume["name"]: volume for volume in pod["volumes"]}
        for volume in wanted["volumes"]:
            assert there[volume["name"]] == volume
        # The socket is for whom the group is of.
        assert pod["securityContext"]["fsGroup"] == \
            wanted["securityContext"]["fsGroup"]
