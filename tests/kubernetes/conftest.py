"""What several tests of Kubernetes need, made once."""

import os

import pytest

from programs import module_folder, tool

# Custom resources, in their projects' modules. Those of JobSet and Volcano could
# not be had this way.
CRDS = {
    "github.com/prometheus-operator/prometheus-operator@v0.85.0": (
        "example/prometheus-operator-crd",
        ("servicemonitors", "podmonitors", "prometheusrules")),
    "github.com/kubeflow/training-operator@v1.8.1": (
        "manifests/base/crds", ("pytorchjobs",)),
    "github.com/cert-manager/cert-manager@v1.21.2": (
        "deploy/crds", ("certificates",)),
}


@pytest.fixture(scope="session")
def helm():
    it = tool("helm")
    os.environ["HELM"] = str(it)  # for deploy/kubernetes/generate
    return it


@pytest.fixture(scope="session")
def crds():
    """Their files."""
    found = []
    for module, (folder, names) in CRDS.items():
        for name in names:
            found += (module_folder(module) / folder).glob(f"*_{name}.yaml")
    assert len(found) == 5, found
    return found
