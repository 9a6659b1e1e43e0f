"""Tests assert fields; sentences stand in tests/golden/words alone."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"

ASSERTION = re.compile(r"\b(?:EXPECT|ASSERT)_\w+\(")
SAYS = re.compile(
    r"(?:\.|->|::)(?:sentence|headline|summary|sentence_over)\b")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# A comment, a raw literal, a character; or a literal, which stays.
NO_CODE = re.compile(
    r"""//[^\n]*|R"\w*\(.*?\)\w*"|'(?:[^'\\\n]|\\.)+'|("(?:[^"\\\n]|\\.)*")""", re.S)
ADJACENT = re.compile(r'"\s*\n?\s*"')


def arguments(text, at):
    """What stands between the bracket before `at` and its partner."""
    depth, end = 1, at
    while depth and end < len(text):
        literal = LITERAL.match(text, end)
        if literal:
            end = literal.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return text[at:end - 1]


def sentences(text):
    """(offset, literal) of each sentence that the text asserts."""
    text = NO_CODE.sub(lambda m: m[1] or re.sub(r"[^\n]", " ", m[0]), text)
    asserted, told, end = [], "", 0
    for match in ASSERTION.finditer(text):
        inside = arguments(text, match.end())
        told += text[end:match.start()]
        end = max(end, match.end() + len(inside))
        if SAYS.search(LITERAL.sub('""', inside)):
            asserted += [(match.start(), literal) for literal in
                         LITERAL.findall(ADJACENT.sub("", inside))]
    told = ADJACENT.sub("", told + text[end:])
    return [(at, literal) for at, literal in asserted
            if re.search(r"[A-Za-z]", literal) and literal not in told]


def test_no_test_asserts_a_sentence():
    """Except where it put the sentence in itself."""
    wrong = []
    for path in sorted(TESTS.rglob("*")):
        under = path.relative_to(TESTS)
        if path.suffix not in (".cc", ".h") or under.parts[0] == "golden":
            continue
        text = path.read_text()
        wrong += [
            f'tests/{under}:{text[:at].count(chr(10)) + 1}: "{literal}": '
            "assert a field, or say ExpectWords() (tests/golden/words.h)"
            for at, literal in sentences(text)
        ]
    assert not wrong, "\n".join(wrong)


def test_a_sentence_is_seen():
    bad = 'EXPECT_THAT(d.headline,\n    HasSubstr("is NaN " // why\n  "now"));'
    assert sentences(bad) == [(0, "is NaN now")]
    assert sentences('EXPECT_EQ(f().sentence, "It grew.") << "why";')
    assert len(sentences('EXPECT_TRUE(f);\n'
                         'EXPECT_EQ(f.sentence, "It grew.");')) == 1
    assert not sentences('f.sentence = "It grew.";\n'
                         'EXPECT_EQ(g.sentence, "It grew.");')
    assert not sentences('EXPECT_TRUE(f.sentence.ends_with("."));')
    assert not sentences('EXPECT_EQ(cause.name, "loss") << c.sentence;')
