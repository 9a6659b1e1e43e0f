"""The site of the documentation: it is built without a dead link, it asks nobody
outside for anything, and every rule and cause has its page there."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("NANWATCH_BIN", ROOT / "build/release/bin"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    into = tmp_path_factory.mktemp("docs")
    done = subprocess.run([ROOT / "deploy/docs", "--into", into, BIN],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return into / "site"


def test_what_is_detected_has_its_pages(site):
    for kind in ("rules", "causes"):
        folder = ROOT / "deploy/runbooks" / kind
        names = {path.stem for path in folder.glob("*.md")} - {"README"}
        assert len(names) > 20
        for name in names:
            assert (site / f"deploy/runbooks/{kind}/{name}.html").exists(), name


def test_every_metric_and_command_is_listed(site):
    metrics = re.findall(r'"(nanwatch_\w+)"',
                         (ROOT / "daemon/model/metric_names.h").read_text())
    page = (site / "metrics.html").read_text()
    assert not [name for name in metrics if name not in page]
    assert "nanwatch bench clear" in (site / "cli.html").read_text()


def test_the_python_api_has_its_docstrings(site):
    page = (site / "python_api.html").read_text()
    for name in ("nanwatch.init", "nanwatch.Run.requests", "nanwatch.torch.watch"):
        assert f'id="{name}"' in page, name


def test_nothing_comes_from_elsewhere(site):
    """Scripts, styles, fonts, pictures; a link that a person follows may."""
    for path in site.rglob("*.html"):
        outside = re.findall(
            r'<(?:script|img|iframe|link)\b[^>]*(?:src|href)="((?:https?:)?//[^"]+)"',
            path.read_text())
        assert not outside, f"{path.name}: {outside}"


def test_the_search_has_every_page(site):
    index = (site / "search/search_index.js").read_text()
    for page in ("docs/INSTALL.html", "deploy/runbooks/causes/divergence.html",
                 "cli.html"):
        assert f'"{page}"' in index


def test_a_long_paragraph_of_a_rule_is_a_list(site):
    page = (site / "deploy/runbooks/rules/loss_spike.html").read_text()
    fires = page.split('id="fires-when"')[1].split("</h2>")[1].split("<h2")[0]
    assert fires.count("<li>") > 5 and "<p>" not in fires
    assert "<code>critical_nats</code>" in fires
