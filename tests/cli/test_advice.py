"""``--advice``: columns in which others answered, in run, predict, compare, label and plan."""

import contextlib
import csv

import numpy as np
import pandas as pd
import pytest

import askwhen as aw
from askwhen.workflows.advice_columns import AdviceColumn
from askwhen.workflows.label import LabelOptions, label_file
from tests.cli.running import askwhen, facts, inside, refused

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
    said = askwhen("run", "items.csv", "--advice", "gpt=answer", "--labels", "50%").stdout.splitlines()
    at = next(i for i, line in enumerate(said) if line.startswith("gpt"))
    assert "right of the 342 rows in which it says something, from asked labels" in said[at]
    assert "the predictions were better by +" in said[at + 1]


def test_advisers_are_compared_with_the_best_of_them():
    write(1500)
    frame = pd.read_csv("items.csv")
    frame["rules"] = np.where(np.random.default_rng(1).random(1500) < 0.5, "yes", "no")
    frame.to_csv("items.csv", index=False)
    advice = ("--advice", "rules=rules", "--advice", "gpt=answer", "--labels", "50%")
    found = facts("run", "items.csv", *advice, "--model", "m.askwhen")["advisers"]
    assert [each["name"] for each in found] == ["gpt", "rules"]
    known = aw.evaluate.advisers(aw.Sampler.load("m.askwhen")).compare("rules", "gpt")
    assert found[1]["against"] == {"gpt": {"value": known.value, "low": known.low, "high": known.high}}
    assert found[0]["against"]["rules"]["low"] == -known.high > 0.0
    said = askwhen("run", "items.csv", *advice).stdout
    low, high = 100.0 * known.low, 100.0 * known.high
    assert said.count("compared with ") == 1
    assert f"compared with gpt: {100.0 * known.value:+.1f} points ({low:+.1f} to {high:+.1f})" in said


def test_predictions_take_the_advice_of_the_columns_that_were_learnt_with():
    _, says, stated = write()
    facts("run", "items.csv", "--advice", "gpt=answer:how_sure", "--labels", "30%", "--model", "m.askwhen")
    sampler = aw.Sampler.load("m.askwhen")
    X, _ = aw.data.read("items.csv", label="label", drop=("answer", "how_sure")).load()
    for more, advice in (([], (says, stated)), (["--advice", "gpt=answer"], says), (["--skip", 30], None)):
        found = inside("predict", "m.askwhen", "items.csv", *more, "--quiet")
        margins = [float(row["margin"]) for row in csv.DictReader(found.stdout.splitlines())]
        advice = (says, stated) if advice is None else advice
        assert margins == sampler.margins(X, advice={"gpt": advice})[400 - len(margins) :].tolist()
    pd.read_csv("items.csv").drop(columns=["answer", "how_sure"]).to_csv("bare.csv", index=False)
    found = inside("predict", "m.askwhen", "bare.csv")
    assert "There is no column 'answer', 'how_sure' here: nothing is known of what gpt says." in found.stderr
    margins = [float(row["margin"]) for row in csv.DictReader(found.stdout.splitlines())]
    assert margins == sampler.margins(X).tolist()
    facts("run", "bare.csv", "--label", "label", "--model", "bare.askwhen")
    sentence = "--advice: bare.askwhen has learnt without advisers"
    assert sentence in refused("predict", "bare.askwhen", "items.csv", "--advice", "gpt=answer")


def test_a_resumed_run_takes_the_same_advice_as_one_that_was_not_stopped():
    write()
    frame = pd.read_csv("items.csv")
    frame[:150].to_csv("some.csv", index=False)
    advice = ("--advice", "gpt=answer:how_sure", "--labels", "30%")
    facts("run", "some.csv", *advice, "--model", "half.askwhen")
    frame.to_csv("some.csv", index=False)
    resumed = facts("run", "some.csv", "--resume", "half.askwhen", "--model", "end.askwhen")
    assert resumed["advisers"][0]["rows"] == frame.answer.notna().sum()
    assert aw.Sampler.load("end.askwhen").round == len(frame)


def test_a_comparison_measures_advisers_and_runs_without_them_too():
    y, says, stated = write()
    options = ("--advice", "gpt=answer:how_sure", "--labels", "30%", "--repeats", 2, "-a", "default,perceptron-ss")
    found = facts("compare", "items.csv", "--label", "label", *options)
    X, labels = aw.data.read("items.csv", label="label", drop=("answer", "how_sure")).load()
    known = aw.evaluate.compare(
        X, labels, ["default"], [0.3], repeats=2, prepare=aw.Prepare(), advice={"gpt": (says, stated)}
    )
    assert found["cells"][0]["accuracy"] == known.cells[0].mean
    assert [each["algorithm"] for each in found["baselines"]][-1] == "default, without advice"
    (adviser,) = found["advisers"]
    speaks = np.array([label is not None for label in says])
    assert adviser["accuracy"] == pytest.approx((says == y)[speaks].mean())
    estimates = [
        [each[name] for name in ("algorithm", "share", "low", "high", "held")] for each in adviser["estimates"]
    ]
    assert estimates == [[part.algorithm, *part[1:2], *part[3:]] for part in known.advisers[0].estimates]
    text = inside("compare", "items.csv", "--label", "label", *options).stdout
    assert "right, from asked labels" in text


class Person:
    """Answers as the file says, and looks at what is shown."""

    def __init__(self, truth):
        self.truth, self.seen = truth, []

    def listening(self):
        return contextlib.nullcontext()

    waiting = listening

    def answer(self, question, session, note):
        self.seen.append((question.row, question.record))
        return self.truth[question.row]


def test_people_who_label_a_file_do_not_see_the_advice():
    y, says, stated = write(120)
    truth = np.where(y > 0, "yes", "no").tolist()
    pd.read_csv("items.csv").drop(columns="label").to_csv("pile.csv", index=False)
    options = LabelOptions(
        classes=("no", "yes"),
        labels=None,
        errors=0.3,
        delivered="labels.csv",
        advice=[AdviceColumn("gpt", "answer", "how_sure")],
    )
    person = Person(truth)
    found = label_file("pile.csv", person, None, options)
    assert {name for _, record in person.seen for name in record} == {"a", "b"}
    sampler = aw.Sampler(rule=found.sampler.rule, advisers=["gpt"], seed=0)
    X, _ = aw.data.read("items.csv", label="label", drop=("answer", "how_sure")).load()
    trace = sampler.run(X, y, advice={"gpt": (says, stated)})
    assert [row for row, _ in person.seen] == np.flatnonzero(trace.queried).tolist()
    delivered = pd.read_csv("labels.csv").label.tolist()
    assert delivered == np.where(trace.delivered > 0, "yes", "no").tolist()
    assert aw.evaluate.advisers(found.sampler)["gpt"].rounds == aw.evaluate.advisers(sampler)["gpt"].rounds
    again = label_file("pile.csv", Person(truth), None, LabelOptions(classes=("no", "yes"), labels=None, errors=0.3))
    assert again.sampler.advisers == ["gpt"]  # as before, without naming the columns again
    assert again.counts == found.counts


def test_the_guess_would_show_the_advice():
    write(20)
    said = ("label", "items.csv", "--classes", "no,yes", "--advice", "gpt=answer", "--guess")
    assert "--guess would show you what the advice says" in refused(*said, code=2)


@pytest.mark.parametrize(
    ("advice", "code", "sentence"),
    [
        (["gpt"], 2, "is not advice; write a name and the column of its labels"),
        (["gpt=nothing"], 1, "items.csv has no column 'nothing', which --advice gpt=nothing names; it has 'a', 'b', "),
        (["gpt=answr:how_sure"], 1, "items.csv has no column 'answr', perhaps 'answer', which --advice "),
        (["gpt=label"], 1, "column 'label' holds the labels of items.csv, and cannot be advice too, as --advice gpt="),
        (["gpt=answer:answer"], 1, "column 'answer' must hold numbers for --advice, got "),
        (["gpt=odd"], 1, "column 'odd' has 'perhaps' in instance 2 of items.csv, which is not one of the labels"),
        (
            ["gpt=answer:percent"],
            1,
            "column 'percent' has 85 in instance 0 of items.csv; a confidence is a number from",
        ),
        (["gpt=answer", "gpt=odd"], 2, "must have a different name for each adviser, got 'gpt', 'gpt'"),
    ],
)
@pytest.mark.parametrize("command", ["run", "compare", "plan"])
def test_advice_that_cannot_be_read_is_refused_in_a_sentence(advice, code, sentence, command):
    write(20)
    frame = pd.read_csv("items.csv")
    frame["odd"], frame["percent"] = frame.label.where(frame.index != 2, "perhaps"), 85
    frame.to_csv("items.csv", index=False)
    options = [word for each in advice for word in ("--advice", each)]
    drop = ("--drop", ",".join({"odd", "percent", "answer", "how_sure"} - {*advice[0].partition("=")[2].split(":")}))
    assert sentence in refused(command, "items.csv", "--label", "label", *drop, *options, code=code)


def test_advice_needs_a_file_with_named_columns():
    assert "is for files with named columns, got elec2" in refused("run", "elec2", "--advice", "gpt=a", code=2)


@pytest.mark.parametrize(
    ("labels", "says", "options"),
    [
        (["0", "1"], ["0.0", "1.0"], ()),
        (["no", "yes"], ["false", "1"], ()),
        (["ham", "spam"], ["ham", "spam"], ()),
        (["ham", "spam"], ["ham", "spam"], ("--positive", "ham")),
        (["Ham", "spam"], ["ham ", "SPAM"], ("--fold-labels",)),
        (["a", "spam", "b"], ["c", "spam", "a"], ("--positive", "spam")),
        (["a", "b", "c"], ["a", "b", "c"], ("--classes", "a,b,c")),
        (["a", "b", "c"], ["a", "d", "c"], ("--classes", "open")),
    ],
)
def test_advice_names_labels_as_the_file_does(labels, says, options):
    rng = np.random.default_rng(5)
    y = rng.integers(len(labels), size=200)
    frame = pd.DataFrame({"x": rng.standard_normal(200), "label": np.array(labels)[y], "says": np.array(says)[y]})
    frame.to_csv("f.csv", index=False)
    found = facts("run", "f.csv", "--label", "label", "--advice", "gpt=says", "--labels", "90%", *options)
    right = (np.array(says) == np.array(labels))[y].mean() if "open" in options else 1.0
    assert found["advisers"][0]["estimate"]["low"] <= right <= found["advisers"][0]["estimate"]["high"]
    assert right < 1.0 or found["advisers"][0]["estimate"]["value"] == 1.0


def test_two_labels_that_are_texts_need_not_be_named_in_any_command():
    write(120)
    frame = pd.read_csv("items.csv").replace({"yes": "spam", "no": "ham"})
    frame.to_csv("items.csv", index=False)
    advice = ("--advice", "gpt=answer:how_sure")
    found = facts("run", "items.csv", *advice, "--labels", "50%", "--model", "m.askwhen")
    spoke = frame.answer.notna()
    right = (frame.answer == frame.label)[spoke].mean()
    estimate = found["advisers"][0]["estimate"]
    assert estimate["low"] <= right <= estimate["high"]
    compared = facts("compare", "items.csv", "--label", "label", *advice, "--repeats", 1, "-a", "default")
    assert compared["advisers"][0]["accuracy"] == pytest.approx(right)
    planned = facts("plan", "items.csv", "--label", "label", *advice, "--repeats", 1, "--errors", "0.3")
    assert planned["rows"] == len(frame)
    predicted = inside("predict", "m.askwhen", "items.csv", "--quiet").stdout
    assert {row["label"] for row in csv.DictReader(predicted.splitlines())} == {"ham", "spam"}
    sampler = aw.Sampler.load("m.askwhen")
    X, _ = aw.data.read("items.csv", label="label", drop=("answer", "how_sure")).load()
    said = frame.answer.map({"ham": -1, "spam": 1}).astype(object).where(spoke, None)
    margins = sampler.margins(X, advice={"gpt": (said.to_numpy(), frame.how_sure.to_numpy())})
    assert [float(row["margin"]) for row in csv.DictReader(predicted.splitlines())] == margins.tolist()
    person = Person(frame.label.tolist())
    frame.drop(columns="label").to_csv("pile.csv", index=False)
    options = LabelOptions(
        classes=("ham", "spam"), labels=0.5, model="l.askwhen", advice=[AdviceColumn("gpt", "answer", "how_sure")]
    )
    labelled = label_file("pile.csv", person, None, options)
    assert aw.evaluate.advisers(labelled.sampler)["gpt"].rounds == spoke.sum()
