"""The chart by helm and kubeconform, the bases by kustomize."""

import json
import shutil
import subprocess
import venv

import pytest
import yaml

from programs import HERE, ROOT, tool
from rendered import CHART, VALUES, documents, helm_text, name_of, template

by_values = pytest.mark.parametrize("values", VALUES, ids=name_of)
DASHBOARDS = len(list((ROOT / "dashboards/grafana/json").glob("*.json")))
PACKAGES = ("kubernetes-validate==1.37.0", "kubeflow-trainer-api==2.3.0")


@pytest.fixture(scope="session")
def packages():
    """A Python with packages that bring schemas; made once."""
    place = ROOT / "build/kubernetes/python"
    python = place / "bin/python"
    if not python.exists():
        venv.create(place, with_pip=True)
        done = subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES],
                              capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(place)
        assert done.returncode == 0, done.stderr
    return python


@pytest.fixture(scope="session")
def schemas(packages, crds, tmp_path_factory):
    """Places where kubeconform finds one: of Kubernetes, of custom resources."""
    folder = tmp_path_factory.mktemp("schemas")
    for crd in crds:
        definition = yaml.safe_load(crd.read_text())
        kind = definition["spec"]["names"]["kind"].lower()
        for version in definition["spec"]["versions"]:
            schema = version["schema"]["openAPIV3Schema"]
            (folder / f"{kind}_{version['name']}.json").write_text(
                json.dumps(strict(schema)))
    (own,) = (ROOT / "build/kubernetes/python").glob(
        "lib/python*/site-packages/kubernetes_validate/kubernetes-json-schema/"
        "v1.37.*-local-strict")
    # They name each other by addresses that only the package knows.
    for path in own.glob("*.json"):
        schema = json.loads(path.read_text())
        schema.pop("$id", None)
        (folder / path.name).write_text(json.dumps(schema).replace(
            '"/api/_definitions.json', '"_definitions.json'))
    return [f"{folder}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json",
            f"{folder}/{{{{.ResourceKind}}}}_{{{{.ResourceAPIVersion}}}}.json"]


def strict(schema, top=True):
    """Without keys that it does not name, as an API server that is asked to be."""
    if isinstance(schema, list):
        return [strict(item, False) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value, False) for key, value in schema.items()}
    free = schema.get("x-kubernetes-preserve-unknown-fields")
    if isinstance(made.get("properties"), dict) and not free and not top:
        made.setdefault("additionalProperties", False)
    return made


@pytest.fixture(scope="session")
def conforms(schemas):
    program = tool("kubeconform")

    def check(text, *more):
        places = [word for place in schemas
                  for word in ("-schema-location", place)]
        done = subprocess.run([program, "-strict", "-summary", *places, *more],
                              input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Valid: 0," not in done.stdout, done.stdout
    return check


@by_values
def test_helm_lints_it(helm, values):
    said = helm_text(helm, "lint", "--strict", CHART, values=values)
    assert "1 chart(s) linted, 0 chart(s) failed" in said


@by_values
def test_it_conforms(helm, conforms, values):
    conforms(template(helm, values))


def test_another_name_and_namespace_run_through(helm):
    """No object and no address keeps the names of the others."""
    text = helm_text(helm, "template", "watch", CHART, "--namespace", "team-a",
                     values=CHART / "ci/all-values.yaml")
    for thing in documents(text):
        assert thing["metadata"]["name"].startswith("watch"), thing["metadata"]
    assert "tls://watch-job.team-a.svc:9766" in text
    assert "nanwatch-job" not in text


def test_a_package_of_it_brings_rules_and_dashboards(helm, tmp_path):
    """Which are links in the checkout."""
    values = CHART / "ci/all-values.yaml"
    helm_text(helm, "package", CHART, "--destination", tmp_path)
    (package,) = tmp_path.glob("nanwatch-*.tgz")
    made = helm_text(helm, "template", "nanwatch", package, "--namespace",
                     "nanwatch", values=values)
    assert documents(made) == documents(template(helm, values))
    kinds = [thing["kind"] for thing in documents(made)]
    assert "PrometheusRule" in kinds and kinds.count("ConfigMap") == 2 + DASHBOARDS


def test_what_is_secret_stands_in_no_config_map(helm):
    """An address of a webhook is one: who knows it may post there."""
    things = documents(template(helm, CHART / "ci/all-values.yaml"))
    (job,) = [thing for thing in things if thing["kind"] == "Secret"]
    assert "a-secret" in job["stringData"]["nanwatch.yaml"]
    for thing in things:
        assert thing is job or "a-secret" not in json.dumps(thing)
    (pod,) = [thing["spec"]["template"]["spec"] for thing in things
              if thing["kind"] == "StatefulSet"]
    assert job["metadata"]["name"] in [
        volume["secret"]["secretName"] for volume in pod["volumes"]
        if volume["name"] == "nanwatch-config"]


@pytest.mark.parametrize("key, value", [
    ("job.enable", "true"), ("relay.token", "abc"), ("tls.secret", ""),
    ("upstream.address", "nanwatch:9766"), ("job.storage.size", "20 GB"),
    ("image.pullPolicy", "Sometimes"), ("monitoring.interval", "15"),
    ("sidecar.tls.key", "abc")])
def test_values_that_cannot_be_are_refused(helm, key, value):
    done = helm_text(helm, "template", CHART, "--set", f"{key}={value}",
                     check=False)
    assert done.returncode != 0
    assert "values don't meet the specifications of the schema" in done.stderr


def test_a_monitor_of_what_nobody_reaches_is_refused(helm):
    done = helm_text(helm, "template", CHART, "--set",
                     "monitoring.serviceMonitor=true", check=False)
    assert done.returncode != 0 and "web.insecure" in done.stderr


def test_generating_the_bases_again_changes_nothing(helm, tmp_path):
    done = subprocess.run([HERE / "generate", tmp_path], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    made = {path.relative_to(tmp_path): path.read_text()
            for path in tmp_path.rglob("*.yaml")}
    assert len(made) >= 12
    for path, text in made.items():
        assert (HERE / "kustomize" / path).read_text() == text, path


@pytest.mark.parametrize("base", ["base", "monitored"])
def test_kustomize_builds_it(conforms, base):
    done = subprocess.run([tool("kustomize"), "build", HERE / "kustomize" / base],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    conforms(done.stdout)
    kinds = [thing["kind"] for thing in documents(done.stdout)]
    assert {"StatefulSet", "DaemonSet", "NetworkPolicy", "Namespace"} <= set(kinds)
    assert kinds.count("ConfigMap") == (
        3 if base == "base" else 3 + DASHBOARDS)


def test_the_pytorchjob_conforms(conforms):
    conforms((HERE / "examples/pytorchjob-sidecar.yaml").read_text())


def test_the_jobset_is_one(packages):
    """By the models of Kubeflow's package: what they do not know is lost."""
    example = HERE / "examples/jobset-node.yaml"
    script = ("import json, sys\n"
              "from kubeflow_trainer_api.models import JobsetV1alpha2JobSet\n"
              "given = json.load(sys.stdin)\n"
              "print(json.dumps(JobsetV1alpha2JobSet.from_dict(given).to_dict()))")
    given = yaml.safe_load(example.read_text())
    done = subprocess.run([packages, "-c", script], input=json.dumps(given),
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(done.stdout) == given
