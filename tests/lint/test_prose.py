"""Plain English on the pages that people read first: no word of the list, and no
sentence that runs on."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "client_lib/python/README.md",
         *sorted((ROOT / "docs").rglob("*.md"))]
# What is wrong, and what says it better.
WORDS = {
    r"\b(?:is|are|was|were|been|be|gets?) (?:not )?told\b": "is reported, is sent",
    r"\bof which\b": "begin a sentence of its own",
    r"\b(?:is|are) (?-i:none)\b": "there is no ...",
    r"\bas ever\b": "as before",
    r"\bby design\b": "say why",
    r"\bnot un\w+\b": "say it without the two negations",
    r"\bnot without\b": "say it without the two negations",
    r"\bin order to\b": "to",
    r"\butili[sz]e": "use",
    r"\bsimply\b|\bobviously\b|\bof course\b": "leave it out",
    r"\be\.g\.|\bi\.e\.": "for example; that is",
}
LONGEST = 40  # words of a sentence, at most
SHORT = 25  # words, as a rule
RULE = 0.85  # of the sentences


def prose(text):
    """Paragraphs and entries of lists, without code, tables and headings."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    text = re.sub(r"`[^`\n]*`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^(?:#|\||<!--).*$", "", text, flags=re.M)
    blocks = re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.) ", text, flags=re.M)
    return [re.sub(r"\s+", " ", block).strip() for block in blocks]


def sentences(text):
    """What ends in a full stop, a colon or a semicolon is one thought."""
    for block in prose(text):
        for sentence in re.split(r"(?<=[.:;!?])\s+", block):
            if sentence:
                yield sentence


def length(sentence):
    return len(re.findall(r"[\w/'-]+", sentence))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_no_word_of_the_list(page):
    wrong = [f"{match[0]!r} in {sentence!r}: {better}"
             for sentence in sentences(page.read_text())
             for pattern, better in WORDS.items()
             for match in re.finditer(pattern, sentence, re.I)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_sentences_are_short(page):
    found = list(sentences(page.read_text()))
    too_long = [f"{length(s)} words: {s}" for s in found if length(s) > LONGEST]
    assert not too_long, "\n".join(too_long)
    short = sum(length(s) <= SHORT for s in found)
    assert not found or short >= RULE * len(found), sorted(
        (s for s in found if length(s) > SHORT), key=length)


def test_the_list_finds_what_it_names():
    text = ("The daemon is told of it. There are two, of which none ends. As ever.\n"
            "\n| a cell is told |\n\n`is told`\n")
    found = [s for s in sentences(text)
             if any(re.search(p, s, re.I) for p in WORDS)]
    assert len(found) == 3
    assert length("one two-three don't /four") == 4
