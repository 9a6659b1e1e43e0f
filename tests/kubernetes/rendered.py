"""What helm makes of the chart, and pods out of any job."""

import subprocess

import yaml

from programs import HERE

CHART = HERE / "chart"
# The defaults, and each set of values that the chart ships for its tests.
VALUES = [None, *sorted(CHART.glob("ci/*-values.yaml")),
          *sorted(HERE.glob("kustomize/*/values.yaml"))]


def name_of(values):
    if values is None:
        return "defaults"
    return (values.parent.name if values.name == "values.yaml"
            else values.stem.removesuffix("-values"))


def helm_text(helm, *arguments, values=None, check=True):
    more = [] if values is None else ["--values", values]
    done = subprocess.run([helm, *arguments, *more], capture_output=True,
                          text=True, timeout=120)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done.stdout if check else done


def template(helm, values, *more):
    return helm_text(helm, "template", "nanwatch", CHART, "--namespace",
                     "nanwatch", *more, values=values)


def documents(text):
    return [thing for thing in yaml.safe_load_all(text) if thing]


def pods_of(thing, path="pod"):
    """A Pod of each template within it, with a name of its own."""
    if isinstance(thing, list):
        for number, item in enumerate(thing):
            yield from pods_of(item, f"{path}-{number}")
    elif isinstance(thing, dict):
        spec = thing.get("spec")
        if isinstance(spec, dict) and "containers" in spec:
            # What its controller adds.
            for volume in {mount["name"] for container in (
                    spec["containers"] + spec.get("initContainers", []))
                    for mount in container.get("volumeMounts", [])} - {
                        volume["name"] for volume in spec.get("volumes", [])}:
                spec.setdefault("volumes", []).append(
                    {"name": volume,
                     "persistentVolumeClaim": {"claimName": volume}})
            yield {"apiVersion": "v1", "kind": "Pod",
                   "metadata": {"name": path.lower()[-60:].strip("-"),
                                "labels": thing.get("metadata", {}).get(
                                    "labels", {})},
                   "spec": spec}
        for key, value in thing.items():
            yield from pods_of(value, f"{path}-{key}")
