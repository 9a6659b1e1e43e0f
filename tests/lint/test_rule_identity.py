"""A rule is a RuleId: its number stands in model/rule_id.h and in its own
RuleSpec, and nowhere else."""

import pathlib
import re

import pytest

import cxx_text

ROOT = pathlib.Path(__file__).resolve().parents[2]
DAEMON = ROOT / "daemon"
NAMES = re.findall(r"^  (k\w+) = [1-9]\d*,$",
                   (DAEMON / "model/rule_id.h").read_text(), re.M)

IN_CODE = [
    (re.compile(r"\b\w*[rR]ule(?:\.number|_?[nN]umber(?:\(\))?|_?|\(\))"
                r" *(?:[!=]=|[<>]=?) *[1-9]"),
     "compare with a RuleId"),
    (re.compile(r"\b[1-9]\d* *(?:[!=]=|[<>]=?) *\w*rule\b"), "compare with a RuleId"),
    (re.compile(r"\bRuleIdOf\( *\d"), "write RuleId::k..."),
    (re.compile(r"\bRuleId *[({] *\d"), "write RuleId::k..."),
    (re.compile(r"static_cast<RuleId>\( *\d"), "write RuleId::k..."),
    (re.compile(r"\bconstexpr [\w:]+ (?:kRule\w*|%s)\s*(?:=|\{) *\d"
                % "|".join(NAMES)), "use the RuleId of that name"),
    (re.compile(r"\b\w*(?:[rR]ules|RuleSet)\w*(?:\[\d*\])?(?: \w+)? *=? *\{ *\d+ *[,}]"),
     "a set of rules is a RuleSet of RuleIds"),
]
IN_COMMENTS = re.compile(r"\brules? #?\d+", re.I)


def sources():
    for path in sorted(DAEMON.rglob("*")):
        rel = str(path.relative_to(DAEMON))
        if path.suffix in (".cc", ".h") and rel != "model/rule_id.h" and (
                not rel.startswith("detect/")):
            yield path


def literal_numbers(text):
    """Line and advice for each number of a rule that stands in the code."""
    code = cxx_text.bare(text)
    return [(code.count("\n", 0, match.start()) + 1, instead)
            for pattern, instead in IN_CODE
            for match in pattern.finditer(code)]


def numbers_in_comments(text):
    """Lines of comments that call a rule by its number."""
    bare = cxx_text.without_comments(text).splitlines()
    return [number
            for number, (line, code) in enumerate(zip(text.splitlines(), bare),
                                                  1)
            if IN_COMMENTS.search(line) and not IN_COMMENTS.search(code)]


def test_the_names_of_rules_were_found():
    assert len(NAMES) > 45


def test_no_rule_is_a_literal_number():
    wrong = [f"{path.relative_to(ROOT)}:{line}: {instead}"
             for path in sources()
             for line, instead in literal_numbers(path.read_text())]
    assert not wrong, "\n".join(wrong)


def test_comments_call_rules_by_their_names():
    wrong = [f"{path.relative_to(ROOT)}:{line}: a rule's number says nothing "
             "to who reads this; write its name"
             for path in sources()
             for line in numbers_in_comments(path.read_text())]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("text, count", [
    ("if (finding.rule == 27) return;", 1),
    ("if (finding.rule == kGnormSpike) return;", 0),
    ("return rule.number >= 1 && 5 == rule;", 2),
    ("Has(RuleIdOf(5)); Has(RuleId{5}); Has(static_cast<RuleId>(5));", 3),
    ("constexpr int kOverflowStreak = 5;", 1),
    ("constexpr RuleId kStreak = RuleId::kOverflowStreak;", 0),
    ("constexpr int kRules[] = {4, 5, 6};", 1),
    ("RuleSet set{4, 5}; RuleSet none{};", 1),
    ("if (from.rule() != 0) {}", 0),
    ('const char* text = "rule == 5";  // rule == 5', 0),
    ("for (size_t rule = 0; rule < kRuleIds; ++rule) {}", 0),
])
def test_numbers_are_found(text, count):
    assert len(literal_numbers(text)) == count


def test_numbers_in_comments_are_found():
    text = 'int a;  // as of rule 27\nf("rule 27");\n// Rules 4, 5.\n// ruled\n'
    assert numbers_in_comments(text) == [1, 3]
