"""nanwatch explain: the pages of the rules."""

import subprocess

from conftest import BIN


def explain(*arguments):
    return subprocess.run([str(BIN / "nanwatch"), "explain", *map(str, arguments)],
                          capture_output=True, text=True, timeout=60)


def test_by_name_or_number():
    page = explain("scale_collapse")
    assert page.returncode == 0
    assert page.stdout == explain("4").stdout
    assert "warning_ratio = 16" in page.stdout
    assert "megatron: --bf16; or a higher --min-loss-scale" in page.stdout


def test_no_such_rule():
    wrong = explain("scale_colapse")
    assert wrong.returncode == 4 and wrong.stdout == ""
    assert "perhaps you mean scale_collapse" in wrong.stderr
    assert explain("127").returncode == 4
    assert explain("4x").returncode == 4


def test_numbers_that_have_no_rule_say_why():
    for number in (23, 37, 45, 46, 47, 48, 50, 52):
        why = explain(number)
        assert why.returncode == 0, number
        assert why.stdout.startswith(f"There is no rule {number}, ")
    assert "left out" in explain(37).stdout
    assert explain("loss_oscillation").stdout == explain(37).stdout
    # Every number of the survey has an answer.
    assert all(explain(n).returncode == 0 for n in range(1, 64))


def test_without_a_rule_all_are_listed():
    listed = explain().stdout
    assert "scale_collapse" in listed and "telemetry_gap" in listed


def test_pages_are_what_markdown_prints(folder):
    pages = folder / "runbooks" / "rules"
    done = explain("--pages", pages)
    assert done.returncode == 0, done.stderr
    written = {p.name for p in pages.iterdir()}
    index = (pages / "README.md").read_text()
    for name in written - {"README.md"}:
        rule = name.removesuffix(".md")
        assert f"[{rule}]({name})" in index
        assert (pages / name).read_text() == explain(rule, "--markdown").stdout
    assert index == explain("--markdown").stdout
    assert len(written) == index.count(".md)") + 1


def test_a_folder_that_cannot_be_written(folder):
    (folder / "file").write_text("")
    done = explain("--pages", folder / "file")
    assert done.returncode == 3 and "file" in done.stderr
