"""``askwhen run --advice``: columns in which others answered, with the numbers that the library gives."""

import numpy as np
import pandas as pd
import pytest

import askwhen as aw
from tests.cli.running import askwhen, facts, refused

pytestmark = pytest.mark.xdist_group("cli")  # they share what is compiled


def write(n=400):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    y = np.where(X[:, 0] > 0, "yes", "no")
    says = np.where(rng.random(n) < 0.8, y, "no").astype(object)
    says[::7] = None
    stated = rng.choice([0.6, 0.9], n)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": y, "answer": says, "how_sure": stated})
    frame.to_csv("items.csv", index=False)
    return np.where(y == "yes", 1, -1), np.where(pd.isna(says), None, np.where(says == "yes", 1, -1)), stated


@pytest.mark.parametrize("more", [[], ["--shuffle"]])
def test_advice_in_columns_gives_the_librarys_numbers(more):
    y, says, stated = write()
    options = ("--advice", "gpt=answer:how_sure", "--labels", "30%", "--seed", 3, "--model", "m.askwhen", *more)
    found = facts("run", "items.csv", *options)
    order = np.random.default_rng(3).permutation(len(y)) if more else np.arange(len(y))
    saved = aw.Sampler.load("m.askwhen")
    X, _ = aw.data.read("items.csv", label="label", drop=("answer", "how_sure")).load()
    sampler = aw.Sampler(*saved.parts, advisers=["gpt"], seed=3)
    trace = sampler.run(X[order], y[order], advice={"gpt": (says[order], stated[order])})
    assert (found["mistakes"], found["questions"]) == (trace.mistakes, trace.questions)
    assert saved.weights.tolist() == sampler.weights.tolist()
    known = aw.evaluate.advisers(sampler)["gpt"]
    (shown,) = found["advisers"]
    assert (shown["name"], shown["rows"]) == ("gpt", known.rounds)
    assert shown["estimate"]["low"] == pytest.approx(known.overall.low)
    assert shown["gain"]["value"] == pytest.approx(known.gain.value)


def test_a_person_reads_how_good_an_adviser_is():
    write()
    said = askwhen("run", "items.csv", "--advice", "gpt=answer", "--labels", "50%").stdout
    assert "from asked labels; this run" in next(line for line in said.splitlines() if line.startswith("gpt"))


@pytest.mark.parametrize(
    ("advice", "code", "sentence"),
    [
        ("gpt", 2, "is not advice; write a name and the column of its labels"),
        ("gpt=nothing", 1, "items.csv has no column 'nothing'"),
        ("gpt=answer:answer", 1, "column 'answer' must hold numbers for --advice"),
    ],
)
def test_advice_that_cannot_be_read_is_refused_in_a_sentence(advice, code, sentence):
    write(20)
    assert sentence in refused("run", "items.csv", "--advice", advice, code=code)
