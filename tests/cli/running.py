"""The command as a user runs it: another process, real files, real pipes."""

import json
import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
from click.testing import CliRunner

import askwhen as aw
from askwhen.cli.main import main
from tests.forking import Forked

COMMAND = [sys.executable, "-m", "askwhen"]
N, D = 3000, 6


def environment(**more):
    return os.environ | {"NO_COLOR": "1", "COLUMNS": "120"} | more


class Done(NamedTuple):
    """What a command printed and returned."""

    returncode: int
    stdout: str
    stderr: str


def askwhen(*args, stdin=None):
    """What the command printed and returned, in the current folder."""
    process = Forked([*map(str, args)], environment())
    out, err = process.communicate(stdin or "")
    return Done(process.returncode, out, err)


def from_scratch(*args, stdin=None, **more):
    """The same with the start and the end of an interpreter, and with an environment that it starts in."""
    return subprocess.run(
        [*COMMAND, *map(str, args)],
        input=stdin,
        capture_output=True,
        text=not isinstance(stdin, bytes),
        env=environment(**more),
    )


def inside(*args, stdin=None, **more):
    """The same without a process of its own, where only the outcome matters and not the way to it."""
    found = CliRunner().invoke(main, [*map(str, args)], input=stdin, env={"NO_COLOR": "1", **more}, prog_name="askwhen")
    return Done(found.exit_code, found.stdout, found.stderr)


def facts(*args, by=inside, **more):
    """What the command found, as JSON; nothing may be said besides."""
    done = by(*args, "--json", "--quiet", **more)
    assert (done.returncode, len(done.stderr)) == (0, 0), done.stderr
    return json.loads(done.stdout)


def refused(*args, code=1, by=inside, **more):
    """The one sentence with which the command refuses."""
    done = by(*args, "--quiet", **more)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    said = done.stderr.strip().splitlines()
    if code == 1:
        assert len(said) == 1
        assert said[0].startswith("askwhen: ")
        assert said[0].endswith(".")
    return said[-1]


def stream():
    return aw.data.switching(N, D, 1000, seed=5)


def as_read(X):
    """Numbers as a table of them is read: with the feature that marks missing ones, of which there are none."""
    return np.column_stack([X, np.zeros(len(X))])


def svmlight_lines(X, y):
    rows = (" ".join(f"{j + 1}:{float(value)!r}" for j, value in enumerate(x)) for x in X)
    return [f"{label:+.0f} {row}\n" for label, row in zip(y, rows, strict=True)]


def write_svmlight(path):
    X, y = stream()
    path.write_text("".join(svmlight_lines(X, y)))
    return path


def write_csv(path, label="spam"):
    X, y = stream()
    header = ",".join([*(f"f{j}" for j in range(D)), label])
    words = np.where(y > 0, "yes", "no")
    rows = [",".join([*(repr(float(value)) for value in x), word]) for x, word in zip(X, words, strict=True)]
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def write_table(path, names, rows):
    """A CSV file of numbers in full."""
    lines = [",".join(repr(float(value)) for value in row) for row in rows]
    path.write_text("\n".join([",".join(names), *lines]) + "\n")
    return path
