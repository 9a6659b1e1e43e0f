"""No decision reads a sentence: what a headline, a summary or a reason says
stands in fields beside it (condition, cause, severity), and those are asked."""

import pathlib
import re

import pytest

import cxx_text

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACES = (
    ("daemon", (".cc", ".h")),
    ("dashboards/web", (".js",)),
    ("client_lib/python/src", (".py",)),
)

# Where words are looked at and nothing depends on what they say: a file, what
# its line holds, and why. Each must still be there.
ALLOWED = (
    ("daemon/rpc/short_reason.cc", "reason.rfind(' ', end)",
     "cuts a long reason between two words"),
    ("daemon/cli/rule_page.cc", "sentence.find('`')",
     "sets names of thresholds in backticks"),
    ("daemon/json/message.cc", 'summary.contains("skipped")',
     "a JSON object, of a run's numbers"),
    ("daemon/wire/event_codec.cc", 'closed.reason() == "all ranks closed"',
     "histories of 0.1.0 tell by that word alone how a run ended"),
)

# Something whose name says that it is text for people, asked or not as a call.
TEXT = (r"(?<![\w])(?!in_summary\b)(?:\w+_)?"
        r"(?:headline|summary|sentence|reason)(?:_text|_over|_)?(?:\(\))?")
SEARCHES = (r"(?:r?find(?:_\w+)?|starts_with|ends_with|contains|includes"
            r"|startsWith|endsWith|startswith|endswith|indexOf|lastIndexOf"
            r"|index|match|matchAll|search|compare)")
CALLS = (r"(?:\w*(?:[fF]ind|[sS]tarts_?[wW]ith|[eE]nds_?[wW]ith|[cC]ontains"
         r"|[iI]ncludes|[iI]ndex_?[oO]f|regex_\w+|[mM]atch\w*|search|test)"
         r"|StrContains|HasPrefix|HasSuffix)")
LITERAL = r"(?:[\"'`/]|k[A-Z]\w*\b(?!::|\())"
READS = [re.compile(pattern) for pattern in (
    TEXT + r"(?:\.|->)" + SEARCHES + r"\(",
    TEXT + r"(?:\.substr\([^()]*\)|\.slice\([^()]*\))? *[!=]==? *" + LITERAL,
    LITERAL + r"[^\"'`/\n;(){}&|]*[\"'`/]? *[!=]==? *(?:[\w.]|->|\(\))*?" + TEXT
    + r"\b(?!\w|\.(?:size|empty|length)|_)",
    CALLS + r"\((?:[^()]*,)? *(?:[\w.*&]|->)*?" + TEXT + r" *[,)]",
    r"[\"'] (?:not )?in (?:\w+\.)*" + TEXT + r"(?![\w.])",
)]


HINT = re.compile(r"headline|summary|sentence|reason")
# An expression that goes on in the next line.
GOES_ON = re.compile(r"\n\s*(?=\.\w|->|[!=]==? )|(?<=[!=]=)\n\s*|(?<=\()\n\s*")


def reads(text, is_python=False):
    """Lines (from 1) that look into a text for people, each in one piece."""
    if is_python:
        text = re.sub(r"#[^\n]*", "", text)
    else:
        text = cxx_text.without_comments(text)
    found, number = [], 1
    for line in GOES_ON.sub("\f", text).split("\n"):
        whole = line.replace("\f", "")
        if HINT.search(line) and any(r.search(whole) for r in READS):
            found.append((number, whole.strip()))
        number += 1 + line.count("\f")
    return found


def all_reads():
    for folder, suffixes in PLACES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes:
                rel = str(path.relative_to(ROOT))
                for number, line in reads(path.read_text(),
                                          path.suffix == ".py"):
                    yield rel, number, line


def allowed(path, line):
    return any(path == where and what in line for where, what, _ in ALLOWED)


def test_no_decision_reads_a_sentence():
    wrong = [f"{path}:{number}: {line}: ask a field, not what is printed"
             for path, number, line in all_reads() if not allowed(path, line)]
    assert not wrong, "\n".join(wrong)


def test_the_allowed_places_are_there():
    found = list(all_reads())
    gone = [f"{where}: {what}" for where, what, _ in ALLOWED
            if not any(path == where and what in line
                       for path, _, line in found)]
    assert not gone, "take out of ALLOWED: " + "; ".join(gone)


@pytest.mark.parametrize("line", [
    'if (run.headline().starts_with("Healthy")) {}',
    "if (incident.summary.find(kOver) != npos) {}",
    "return view->headline.contains(word);",
    'if (incident.resolved_reason == "cleared") {}',
    "if (kCleared == incident.resolved_reason) {}",
    "if (run.end_reason() != kAllRanksClosed) {}",
    'if (finding.sentence.substr(0, 3) == "The") {}',
    "std::regex_search(finding.sentence, kNumbers)",
    "if (StartsWith(health.headline, kHealthy)) {}",
    "if (run.headline.startsWith('Healthy')) return;",
    "if (run.headline === 'Healthy.') return;",
    "if (incident.resolved_reason ==\n    kCleared) {}",
    "return run.headline()\n    .starts_with(kHealthy);",
    "const bad = /NaN/.test(run.headline);",
    "if (incident.summary.includes(`loss`)) return;",
    '    if "NaN" in reply.reason:',
    '    if reason.startswith("lost"):',
])
def test_reads_are_found(line):
    assert reads(line), line


@pytest.mark.parametrize("line", [
    "if (run.headline().empty()) {}",
    "if (was.summary != now.summary) {}",
    "if (finding.in_summary != InSummary::kNot) {}",
    "if (finding.in_summary() == Name(InSummary::kAll)) {}",
    "if (run.summary().headline_cause() == 0) {}",
    "const said = cause && run.headline_cause === 0;",
    "// reason == kCleared",
    "out += style.Bold(run.headline());",
    'a.Field("end_reason", r.end_reason);',
    "if (run.condition === 'healed') fill(run.headline);",
    'reason = Message(message.blob(4)).text(1) or "no reason"',
])
def test_other_uses_are_not(line):
    assert not reads(line), line
