"""nanwatch check: logs of other programs, judged without a daemon."""

import gzip
import json
import math
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import BIN

HERE = pathlib.Path(__file__).parent
CALM, BROKEN, PROSE = "calm.log", "broken.log", "prose.log"


def megatron(step, loss, scale=65536.0, skipped=0):
    shown = f" lm loss: {loss:.6E} |" if loss is not None else ""
    return (f" iteration {step:8d}/    2000 | consumed samples: {step * 16:12d}"
            f" | elapsed time per iteration (ms): 912.3 | learning rate: "
            f"1.500E-04 |{shown} loss scale: {scale:.1f} | grad norm: 0.713 | "
            f"number of skipped iterations: {skipped:3d} | number of nan "
            f"iterations:   0 |\n")


def falling(step):
    return 2 + 8 * math.exp(-step / 200) + 0.02 * math.sin(step * 1.7)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """A healthy log, one that collapses, and one that is no training's."""
    folder = tmp_path_factory.mktemp("logs")
    calm = "".join(megatron(step, falling(step)) for step in range(1, 601))
    (folder / CALM).write_text("> building train dataset\n" + calm)
    broken = "".join(megatron(step, falling(step)) for step in range(1, 301))
    scale = 65536.0
    for step in range(301, 601):
        scale = max(scale / 2, 1.0)
        broken += megatron(step, None, scale, skipped=1)
    (folder / BROKEN).write_text(broken)
    (folder / PROSE).write_text("Dear diary,\nnothing was trained today.\n" * 9)
    return folder


def check(*arguments, stdin=None, environment=None):
    return subprocess.run(
        [str(BIN / "nanwatch"), "check", *map(str, arguments)],
        capture_output=True, input=stdin, timeout=60,
        env={**os.environ, **(environment or {})})


def answer(*arguments, **options):
    return json.loads(check(*arguments, "--json", **options).stdout)


def test_exit_status_is_the_verdict(logs):
    assert check(logs / CALM).returncode == 0
    assert check(logs / BROKEN).returncode == 2
    assert check(logs / PROSE).returncode == 3
    assert check(logs / "missing.log").returncode == 3
    # Of several, the worst; what could not be judged hides nothing.
    assert check(logs / CALM, logs / BROKEN, logs / PROSE).returncode == 2
    assert check(logs / CALM, logs / PROSE).returncode == 0


@pytest.mark.parametrize("rise, records, worst", [(4, 20, "warning"),
                                                  (40, 100, "critical")])
def test_what_is_over_is_a_warning(folder, rise, records, worst):
    (folder / "spike.log").write_text("".join(
        megatron(step, falling(step) + rise * (600 <= step < 600 + records))
        for step in range(1, 1201)))
    got = answer(folder / "spike.log")
    assert got["verdict"] == "warning" and got["worst"] == worst, got
    assert got["at_end"] == "none" and got["condition"] == "healed", got
    [spike] = [i for i in got["incidents"] if i["severity"] == worst]
    assert 600 <= spike["opened_step"] <= 620
    assert spike["opened_step"] < spike["resolved_step"] <= 1200
    assert check(folder / "spike.log").returncode == 1


@pytest.mark.parametrize("arguments, word", [
    ([], "path"),
    (["--format", "nonsense", "x.log"], "--list-formats"),
    (["--map", "loss", "x.log"], "grad_norm"),
    (["--map", "loss=a,lose=b", "x.log"], "lose"),
    (["--nonsense", "x.log"], "nonsense"),
])
def test_wrong_usage_is_told(arguments, word):
    done = check(*arguments)
    assert done.returncode == 4
    assert word in done.stderr.decode()


def test_json_of_one_is_an_object_and_of_several_an_array(logs):
    one = answer(logs / BROKEN)
    assert one["file"] == str(logs / BROKEN)
    assert one["emitter"] == "megatron"
    assert one["scaler"] == "megatron"
    assert one["steps"] == 600
    assert one["worst"] == "critical" and one["at_end"] == "critical"
    assert one["diagnosis"]
    assert one["incidents"]
    for incident in one["incidents"]:
        assert {"rule", "family", "severity", "opened_step", "resolved_step",
                "summary"} <= incident.keys()
        assert incident["opened_step"] >= 300 or incident["severity"] == "info"
    several = answer(logs / CALM, logs / PROSE)
    assert [one["worst"] for one in several] == ["none", "none"]
    assert several[0]["steps"] == 600 and several[0]["incidents"] == []
    assert several[1]["steps"] == 0 and several[1]["emitter"] == ""


def test_json_lists_a_trouble_once_a_family(folder):
    """A NaN in the loss whose overflows take the scale down: one incident, and
    who looks for either finds it."""
    text = "".join(
        f"step={step} loss={falling(step):.4f} loss_scale=65536 overflow=0\n"
        for step in range(1, 301))
    scale = 65536.0
    for step in range(301, 601):
        scale = max(scale / 2, 1.0)
        text += f"step={step} loss=nan loss_scale={scale:.1f} overflow=1\n"
    (folder / "nan.log").write_text(text)
    got = answer(folder / "nan.log")
    whole = [i for i in got["incidents"] if "child_of" not in i]
    assert len([i for i in whole if i["severity"] == "critical"]) == 1, whole
    families = {i["family"]: i for i in got["incidents"]
                if i["severity"] == "critical"}
    assert set(families) == {"loss", "scale"}, families
    for incident in families.values():
        assert 301 <= incident["opened_step"] <= 320
        assert incident["cause"] == "nan_from_forward"
    parents = {i["rule"] for i in whole}
    assert {i["child_of"] for i in got["incidents"] if "child_of" in i} <= (
        parents)


def test_the_report_is_readable_in_80_columns(logs):
    done = check(logs / BROKEN)
    text = done.stdout.decode()
    first, *rest = text.splitlines()
    assert first.startswith("CRITICAL") and str(logs / BROKEN) in first
    # The file's name is as long as it is; all else is wrapped.
    assert max(map(len, rest)) <= 80, max(rest, key=len)
    assert "megatron (recognised for sure" in text
    assert "What to do" in text and "█" in text
    assert "\x1b" not in text


def test_several_files_end_with_one_table(logs):
    text = check(logs / CALM, logs / BROKEN, logs / PROSE).stdout.decode()
    where, head, *rows, total = text.splitlines()[-6:]
    assert where == f"In {logs}/"
    assert head.split()[:3] == ["Verdict", "File", "Program"]
    assert [row.split()[:2] for row in rows] == [
        ["HEALTHY", CALM], ["CRITICAL", BROKEN], ["NOTHING", PROSE]]
    assert total == "3 logs: 1 critical, 1 healthy, 1 nothing."
    assert "from step 301" in rows[1]
    assert text.count(CALM) == 1 and text.count(BROKEN) == 2


def test_a_log_is_one_screen_and_all_shows_the_rest(logs):
    short = check(logs / BROKEN).stdout.decode().splitlines()
    whole = check(logs / BROKEN, "--all").stdout.decode().splitlines()
    assert len(short) <= 40 < len(whole) and short[0] == whole[0]
    assert short[-1] == f"{len(whole) - len(short) + 1} more lines: --all"


@pytest.mark.parametrize("words, worst", [("None", "none"), ("N/A", "none"),
                                          ("nanxxx", "critical")])
def test_a_value_that_turns_into_words_is_news(folder, words, worst):
    """What is not read is not healthy; NaN is NaN in any dress."""
    (folder / "words.log").write_text("".join(
        f"step: {step}, loss: {2.5 - step / 50 if step <= 30 else words}\n"
        for step in range(1, 41)))
    got = answer(folder / "words.log")
    assert got["worst"] == worst
    done = check(folder / "words.log")
    text = done.stdout.decode()
    if worst == "critical":
        assert got["coverage"]["unread"] == 0 and done.returncode == 2
        return
    assert done.returncode == 1 and text.startswith("UNREAD")
    assert got["condition"] == "not_read" and "Healthy" not in text
    assert got["coverage"] == {
        "lines": 40, "step_lines": 40, "read": 30, "unread": 10,
        "examples": [{"line": 31, "name": "loss", "text": words}]}
    assert words in text


def test_coverage_is_told_of_every_log(logs):
    got = answer(logs / CALM)
    assert got["coverage"]["read"] == got["coverage"]["step_lines"] == 600
    text = " ".join(check(logs / CALM).stdout.decode().split())
    assert "read all 600 step lines" in text


def test_a_map_that_changes_nothing_says_so(logs):
    got = answer(logs / CALM, "--format", "megatron", "--map", "loss=x")
    assert "megatron" in got["map"] and got["steps"] == 600
    assert "map" not in answer(logs / CALM)


def test_packed_logs_and_standard_input_are_the_same(logs, folder):
    plain = (logs / BROKEN).read_bytes()
    (folder / "a.log.gz").write_bytes(gzip.compress(plain))
    want = answer(logs / BROKEN)
    forms = [(answer(folder / "a.log.gz"), str(folder / "a.log.gz")),
             (answer("-", stdin=plain), "-"),
             (answer("-", stdin=gzip.compress(plain)), "-")]
    if shutil.which("zstd"):
        subprocess.run(["zstd", "-q", str(logs / BROKEN), "-o",
                        str(folder / "a.zst")], check=True)
        forms.append((answer(folder / "a.zst"), str(folder / "a.zst")))
    for got, name in forms:
        assert got == {**want, "file": name}
    torn = gzip.compress(plain)[:-20]
    done = check("-", stdin=torn)
    assert done.returncode == 2 and b"ends in its middle" in done.stderr


def test_formats_are_listed_and_chosen(logs):
    listed = check("--list-formats")
    assert listed.returncode == 0
    names = [line.split()[0] for line in listed.stdout.decode().splitlines()]
    assert {"megatron", "key_value", "json_lines", "csv", "wandb_history",
            "tensorboard"} <= set(names)
    assert check("--format", "csv", logs / BROKEN).returncode == 3
    told = answer("--format", "megatron", logs / BROKEN)
    assert told["worst"] == "critical" and told["certainty"] == "as told"


def test_a_map_names_the_columns(folder):
    rows = "".join(f"{step},{falling(step) if step < 400 else 70},0.5\n"
                   for step in range(1, 501))
    (folder / "table.csv").write_text("row,objective,gn\n" + rows)
    assert check(folder / "table.csv").returncode == 3
    done = answer("--map", "step=row,loss=objective", "--map", "grad_norm=gn",
                  folder / "table.csv")
    assert done["emitter"] == "csv" and done["worst"] == "critical"
    assert any(i["opened_step"] == 400 for i in done["incidents"])


def search(first, steps, scale, overflows):
    """Megatron's lines of a job that searches its scale at first."""
    lines = []
    for step in range(first, first + steps):
        skipped = step - first < overflows
        scale = scale / 2 if skipped else scale
        lines.append(megatron(step, None if skipped else falling(step), scale,
                              int(skipped)))
    return lines


@pytest.mark.parametrize("first", [1, 101, 951, 5001])
def test_a_resumed_job_has_no_attempts_before_its_log(folder, first):
    lines = search(first, 300, 2.0**31, 15)
    (folder / "resumed.log").write_text("".join(lines))
    done = answer(folder / "resumed.log")
    assert done["worst"] in ("none", "info"), done["incidents"]


def test_a_search_that_eight_ranks_print_is_one(folder):
    lines = search(1, 300, 2.0**31, 15)
    (folder / "one.log").write_text("".join(lines))
    (folder / "eight.log").write_text(
        "".join(f"[default{rank}]:{line}" for line in lines
                for rank in range(8)))
    one, eight = (answer(folder / f"{name}.log") for name in ("one", "eight"))
    assert eight["worst"] == one["worst"] and eight["steps"] == one["steps"]
    assert eight["worst"] in ("none", "info"), eight["incidents"]
    # One of them whose loss is NaN is heard.
    sick = [line.replace("lm loss: ", "lm loss: nan |x: ")
            if "[default5]" in line and " 200/" in line else line
            for line in (folder / "eight.log").read_text().splitlines(True)]
    (folder / "sick.log").write_text("".join(sick))
    found = answer(folder / "sick.log")
    assert found["worst"] == "critical"
    assert found["incidents"][-1]["opened_step"] == 200


@pytest.mark.parametrize("torn", [
    "step={step} loss={loss:.4f} scale=4", "step={step} loss={loss:.4f} scale=40"])
def test_a_line_that_was_cut_is_no_fall_of_the_scale(folder, torn):
    lines = [f"step={step} loss={falling(step):.4f} scale=4096.0\n"
             for step in range(1, 301)]
    lines[199] = torn.format(step=200, loss=falling(200)) + "\n"
    lines[299] = torn.format(step=300, loss=falling(300))
    (folder / "torn.log").write_text("".join(lines))
    done = answer(folder / "torn.log")
    assert done["worst"] == "none" and done["steps"] == 300


def test_a_column_that_is_not_there_is_said(folder):
    rows = "".join(json.dumps({"it": step, "loss": falling(step), "s": 8}) + "\n"
                   for step in range(1, 301))
    (folder / "rows.json").write_text(rows)
    assert check("--map", "step=it,scale=s", folder / "rows.json").returncode == 0
    done = check("--map", "step=it,loss=nothere", folder / "rows.json")
    assert done.returncode == 3
    assert "loss=nothere" in done.stdout.decode()


def test_the_log_of_one_rank_of_eight_misses_nobody(folder):
    (folder / "rank7.csv").write_text("step,loss,rank\n" + "".join(
        f"{step},{falling(step):.4f},7\n" for step in range(1, 301)))
    done = answer(folder / "rank7.csv")
    assert done["steps"] == 300 and done["incidents"] == []


def test_a_job_that_begins_again_every_eight_lines_is_judged(folder):
    lines = [f"step={1000 + n} loss={'nan' if job > 5 else 2.5 + job / 100}\n"
             for job in range(10) for n in range(8)]
    (folder / "again.log").write_text("".join(lines))
    done = answer(folder / "again.log")
    assert done["worst"] == done["at_end"] == "critical"
    # Each restart meets it again: one incident, where it stands at the end.
    assert {(i["attempt"], i["opened_step"], i["reopened"])
            for i in done["incidents"]} == {(9, 1000, 3)}
    assert "loss_nonfinite" in {i["rule"] for i in done["incidents"]}


def test_a_scalers_lines_alone_are_no_verdict(folder):
    apex = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
    (folder / "apex.log").write_text(
        f"{apex}32768.0\n" + "my own words on epoch 1\n" * 20)
    done = check(folder / "apex.log")
    assert done.returncode == 3
    told = " ".join(done.stdout.decode().split())
    assert "apex" in told and "no loss and no step" in told
    assert "Healthy" not in told


def test_overflows_alone_of_a_known_table_are_told(folder):
    rows = "seq,kind,step,loss,scale,prev_scale,grad_norm,skipped_total,"
    rows += "rank_or_scaler,extra\n"
    for i in range(6):
        rows += f"{i},ovf,,,{2.0 ** (31 - i)},{2.0 ** (32 - i)},,,,\n"
    (folder / "start.csv").write_text(rows)
    done = check(folder / "start.csv")
    assert done.returncode == 0, done.stderr
    verdict = answer(folder / "start.csv")
    assert (verdict["condition"], verdict["steps"]) == ("nothing_applied", 6)


def test_few_losses_that_rise_are_judged_where_no_noise_does_that(folder):
    def judged(losses):
        lines = [f"{{'loss': {loss}, 'learning_rate': 1e-05, 'epoch': {i}.0}}"
                 for i, loss in enumerate(losses, 1)]
        (folder / "few.log").write_text("\n".join(lines) + "\n")
        done = check(folder / "few.log")
        return answer(folder / "few.log")["condition"], done.returncode

    assert judged([2.1, 2.0, 1.9, 1.8, 1.8]) == ("healthy", 0)
    assert judged([1.9, 1.9, 3.4, 6.1, 7.3]) == ("unsettled", 1)
    assert judged([1.9, 1.9, 1.8, 1.8, 17000]) == ("trouble", 1)


def test_it_says_why_there_is_nothing_to_judge(logs, folder):
    def why(content):
        (folder / "x").write_bytes(content)
        done = check(folder / "x")
        assert done.returncode == 3
        return done.stdout.decode()

    assert "empty" in why(b"")
    assert answer(folder / "x")["certainty"] == "nothing was recognised"
    assert "Nothing of it could be read" in why(gzip.compress(b"loss")[:10])
    cut = check(folder / "x").stderr.decode()
    assert "nothing can be unpacked" in cut and "was read" not in cut
    assert "18 lines" in why((logs / PROSE).read_bytes())
    assert "binary" in why(bytes(range(256)) * 100)
    assert "zip" in why(b"PK\x03\x04" + bytes(1000))
    hint = why(b"hello\nmy objective loss is about 3\n")
    assert "line 2" in hint and "--map" in hint


def test_event_files_of_the_real_writers(folder):
    path = HERE / "tensorboard" / "writers.tfevents"
    got = answer(path)
    assert got["emitter"] == "tensorboard" and got["steps"] == 60
    assert got["worst"] == "critical"
    assert any(i["family"] == "loss" and i["opened_step"] == 41
               for i in got["incidents"]), got["incidents"]
    # Damage costs the records that it is in, and is told.
    broken = bytearray(path.read_bytes())
    broken[2000] ^= 0xff
    (folder / "broken").write_bytes(broken)
    done = check(folder / "broken")
    told = " ".join(done.stdout.decode().split())
    assert done.returncode == 2 and "damaged at 1 place," in told
