"""What alert/past_tense rewrites must be what rules and causes say."""

import pathlib
import re

DAEMON = pathlib.Path(__file__).resolve().parents[2] / "daemon"


def literals(text):
    """The text with adjacent string literals joined."""
    return re.sub(r'"\s*\n\s*"', "", text)


SAID = "\n".join(
    literals(path.read_text())
    for folder in ("detect", "diagnose")
    for path in sorted((DAEMON / folder).glob("*.cc"))
)


def is_said(phrase):
    """In one piece, or in two, with an optimizer's name between them."""
    words = phrase.split()
    return any(
        " ".join(words[:at]) in SAID and " ".join(words[at:]) in SAID
        for at in range(1, len(words) + 1)
    )


def test_each_phrase_is_said_by_a_rule_or_a_cause():
    table = literals((DAEMON / "alert/past_tense.cc").read_text())
    phrases = re.findall(r'\{\s*"([^"]*)",\s*"[^"]*"\s*\}', table)
    assert len(phrases) > 10
    for phrase in phrases:
        told = re.sub(r" since( step)?$", "", phrase.strip(" :,."))
        assert is_said(told), phrase
    assert not is_said("The loss lies at")
