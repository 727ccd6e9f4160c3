"""Plain technical English: phrases of an earlier private vocabulary, each with what to write instead."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
NOUNS = "file|folder|number|label|column|count|sampler|text|object|model|stream|token|address|regular"
PHRASES = {
    r"in earnest": "live, in production",
    r"whoever": "users, the caller, a client",
    r"nobody": "no one who can be named: use the passive, or name the role",
    r"somebody": "a user, an annotator, a client",
    r"of late": "recent",
    r"anew": "again",
    r"drift guards?": "drift detector",
    r"the door": "validation, authorization",
    r"honest accuracy": "estimated from the asked labels",
    r"pass(es|ed) over": "skip",
    r"right on the mean": "mean accuracy",
    r"at every round at once": "at any time, however often you look",
    r"asked labels alone": "what you would know live",
    r"happenings?": "event",
    r"(?<!there )is none( of|(?=[.,;:)]))": "is not one of",
    rf"(?<!there )is no ({NOUNS})\b": "is not a",
    r"the letters of": "the hyperparameters of",
}
"""Patterns, and what to write instead. Ordinary words such as kept or beside are not refused."""

SUFFIXES = {".py", ".pyi", ".md", ".rst", ".js", ".html", ".toml", ".cff", ".css"}


def texts():
    listed = subprocess.run(
        ["git", "ls-files", "--", "src", "docs", "*.md", "CITATION.cff"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("the texts are listed by git, and this is not a repository")
    return [ROOT / name for name in listed.stdout.splitlines() if pathlib.Path(name).suffix in SUFFIXES]


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_of_the_old_vocabulary_is_not_used(phrase):
    pattern = re.compile(rf"\b(?:{phrase})" if not phrase.startswith("(") else phrase, re.IGNORECASE)
    found = []
    for path in texts():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            plain = line.replace("is None", "")
            if pattern.search(plain):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:90]}")
    assert not found, f"write {PHRASES[phrase]!r} instead:\n" + "\n".join(found[:30])


def test_the_test_can_fail():
    assert all(re.search(rf"(?:{phrase})", example, re.IGNORECASE) for phrase, example in EXAMPLES.items())
    assert EXAMPLES.keys() == PHRASES.keys()


EXAMPLES = dict(
    zip(
        PHRASES,
        (
            "used in earnest",
            "whoever asks",
            "nobody knows",
            "somebody else",
            "the labels of late",
            "made anew",
            "a drift guard",
            "at the door",
            "an honest accuracy",
            "are passed over.",
            "90 % right on the mean",
            "holds at every round at once",
            "by asked labels alone",
            "a happening",
            "and X is none.",
            "x is no folder",
            "the letters of an algorithm",
        ),
        strict=True,
    )
)
