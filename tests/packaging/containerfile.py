"""A Containerfile, read as far as ours goes: stages, and what each line says."""

import json
import re
import shlex

KNOWN = ("FROM", "ARG", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "CMD")


def lines_of(text):
    """Every instruction with what follows it, continued lines joined."""
    joined = re.sub(r"\\\n\s*", "", re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE))
    for line in filter(str.strip, joined.splitlines()):
        word, _, rest = line.partition(" ")
        assert word in KNOWN, f"the tests know no {word}"
        yield word, rest.strip()


def words_of(rest):
    """The words of a command in brackets."""
    return json.loads(rest[rest.index("[") :])


def options_of(rest):
    """--name=value at the beginning of a line, and its other words."""
    words = shlex.split(rest)
    options = dict(word[2:].split("=", 1) for word in words if word.startswith("--"))
    return options, [word for word in words if not word.startswith("--")]
