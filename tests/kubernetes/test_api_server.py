"""A real API server takes what the chart, the bases and the examples make, and
its admission finds every pod restricted. Nothing is scheduled."""

import shutil

import pytest
import yaml

from api_server import ApiServer
from programs import HERE, tool
from rendered import (CHART, VALUES, documents, helm_text, name_of, pods_of,
                      template)

RESTRICTED = {f"pod-security.kubernetes.io/{mode}": "restricted"
              for mode in ("enforce", "warn")}


@pytest.fixture(scope="module")
def api(tmp_path_factory, crds):
    assert shutil.which("etcd"), "apt-get install etcd-server"
    server = ApiServer(tmp_path_factory.mktemp("api"), tool("kube-apiserver"))
    try:
        server.start()
        server.take(crds)
        server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": "nanwatch", "labels": RESTRICTED}}, dry=False)
        yield server
    finally:
        server.stop()


def admitted(api, thing):
    warnings = api.apply(thing)
    assert not warnings, f"{thing['kind']} {thing['metadata']}: {warnings}"


@pytest.mark.parametrize("values", VALUES, ids=name_of)
def test_it_takes_the_chart(api, helm, values):
    things = documents(template(helm, values))
    assert len(things) >= 2
    for thing in things:
        admitted(api, thing)
        for pod in pods_of(thing):
            admitted(api, pod)


@pytest.mark.parametrize("values", VALUES, ids=name_of)
def test_helm_installs_it_and_notes_name_what_is_there(api, helm, values):
    """Every address that they give is of a service that is made."""
    shown = helm_text(
        helm, "install", "nanwatch", CHART, "--namespace", "nanwatch",
        "--dry-run=server", "--kube-insecure-skip-tls-verify",
        "--kube-apiserver", f"https://127.0.0.1:{api.port}",
        "--kube-token", api.token, values=values)
    notes = shown.partition("\nNOTES:\n")[2]
    services = {thing["metadata"]["name"]
                for thing in documents(template(helm, values))
                if thing["kind"] == "Service"}
    assert notes
    for name in ("nanwatch-job", "nanwatch-node"):
        assert (f"{name}.nanwatch.svc" in notes) == (name in services)


def test_it_takes_the_namespace_of_the_bases(api):
    admitted(api, yaml.safe_load(
        (HERE / "kustomize/base/namespace.yaml").read_text()))


@pytest.mark.parametrize("path", sorted(HERE.glob("examples/*.yaml")),
                         ids=lambda p: p.stem)
def test_it_takes_the_pods_of_the_examples(api, path):
    job = yaml.safe_load(path.read_text())
    if job["kind"] == "PyTorchJob":
        admitted(api, job)
    elif job["kind"] == "JobSet":  # its own kind is not known there
        for part in job["spec"]["replicatedJobs"]:
            admitted(api, {"apiVersion": "batch/v1", "kind": "Job", "metadata": {
                "name": part["name"]}, **part["template"]})
    pods = list(pods_of(job))
    assert pods
    for pod in pods:
        pod["spec"].setdefault("restartPolicy", "Never")
        admitted(api, pod)


def test_a_pod_that_is_not_restricted_is_refused(api, helm):
    """So that an admission that looks at nothing would be seen."""
    (pod, *_) = [pod for thing in documents(template(helm, None))
                 for pod in pods_of(thing)]
    del pod["spec"]["containers"][0]["securityContext"]
    with pytest.raises(AssertionError, match="violates PodSecurity"):
        api.apply(pod)


def test_a_field_that_does_not_exist_is_refused(api):
    with pytest.raises(AssertionError, match="unknown field|field not declared"):
        api.apply({"apiVersion": "v1", "kind": "ConfigMap",
                   "metadata": {"name": "x"}, "date": {}})
