"""What a terminal shows of a result."""

import dataclasses
import io

import numpy as np
from rich.console import Console

import askwhen as aw
from askwhen.cli.terminal import show
from tests.cli.running import facts, inside, stream

NOTHING = {"model": None, "trace": None, "report": None}


def shown(*parts):
    text = io.StringIO()
    console = Console(file=text, width=160, highlight=False)
    for part in parts:
        console.print(part)
    return text.getvalue()


def played(sampler, X, y, **settings):
    return sampler, aw.evaluate.progressive(sampler, X, y, **settings)


def test_a_sentence_comes_first_and_holds_the_accuracy_against_the_majority():
    sampler, progress = played(aw.paper("SEL-P", b=0.5, seed=3), *stream(), everything=True)
    found = show.run_facts(sampler, progress, 1.0, 3000.0, name="sel-p")
    accuracy, beside = f"{100 * (1 - progress.error):.1f} %", progress.baselines
    assert found["baselines"] == beside
    assert found["summary"] == (
        f"With {sampler.questions:,} of 3,000 labels SEL-P was right in {accuracy}; always saying the more frequent "
        f"label would have been right in {100 * beside['majority so far']:.1f} %."
    )
    text = shown(show.run_table(found | NOTHING))
    assert text.splitlines()[0] == found["summary"]
    assert [line.split(maxsplit=1)[-1].strip() for line in text.splitlines() if "baselines" in line] == [
        f"{100 * beside['majority so far']:.1f} %, majority so far"
    ]
    for name, value in beside.items():
        assert f"{100 * value:.1f} %, {name}" in text


def test_the_sentence_names_the_algorithm_or_else_the_default_or_the_learner():
    X, y = stream()
    for sampler, name, who in (
        (aw.paper("LASEC-SS", b=1.0, c=100.0, a=0.1, seed=0), "lasec-ss", "LASEC-SS"),
        (aw.paper("LASEC-SS", b=1.0, c=100.0, a=0.1, seed=0), None, "Lasec"),
        (aw.Sampler(rule=aw.BudgetRule(0.2), seed=0), "default", "the default"),
        (aw.Sampler(rule=aw.BudgetRule(0.2), seed=0), None, "the default"),
        (aw.Sampler(rule=aw.FixedRate(0.2), seed=0), None, "Mixture"),
    ):
        found = show.run_facts(*played(sampler, X, y), 1.0, 1.0, name=name)
        assert f" of 3,000 labels {who} was right in " in found["summary"]


def test_a_regressor_is_held_against_the_mean():
    X, _ = stream()
    made = aw.Sampler(aw.LeastSquares(regression=True), aw.FixedRate(0.1), seed=1)
    sampler, progress = played(made, X, X @ np.arange(6.0) + 2)
    found = show.run_facts(sampler, progress, 1.0, 1.0, name="regression")
    assert found["order_warning"] is None
    mean = f"{progress.baselines['mean so far']:.4g}"
    assert found["summary"].endswith(f"; always saying the mean so far would have been off by {mean}.")
    assert f"{mean}, mean so far" in shown(show.run_table(found | NOTHING))
    bare = dataclasses.replace(progress, baseline_counts={})
    assert "always" not in show.run_facts(sampler, bare, 1.0, 1.0)["summary"]


def test_labels_in_blocks_are_told_by_every_command_that_plays_them(tmp_path):
    X, y = stream()
    order = np.argsort(y, kind="stable")
    rows = [",".join([*(f"{value:.6g}" for value in X[k]), f"{y[k]:.0f}"]) for k in order]
    path = tmp_path / "sorted.csv"
    path.write_text("\n".join([",".join([*"abcdef", "label"]), *rows]) + "\n")
    said = "The labels come sorted or in blocks: they change once in 3,000 rows, where in a mixed order"
    for args in (
        ("run", path, "-a", "sel-p", "--set", "b=1"),
        ("compare", path, "-a", "sel-p", "--labels", "20%", "--repeats", 1),
        ("tune", path, "-a", "sel-p", "--repeats", 1),
    ):
        assert facts(*args)["order_warning"].startswith(said)
        assert said in " ".join(inside(*args).stdout.split())
    assert (
        facts("compare", path, "-a", "sel-p", "--labels", "20%", "--shuffle", "--repeats", 1)["order_warning"] is None
    )
