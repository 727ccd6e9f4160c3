"""A one-sentence summary of a run or a comparison."""

from __future__ import annotations

import math

import askwhen as aw


def in_percent(value: float) -> str:
    """A share in percent, or "unknown" for NaN."""
    return "unknown" if math.isnan(value) else f"{100 * value:.1f} %"


def of_run(sampler: aw.Sampler, progress: aw.evaluate.Progress, name: str | None, words: list[str]) -> str:
    """The result of a run compared with that of a simple rule, by cost where costs are given.

    ``name`` is the algorithm's, where it is known; ``words`` are the labels -1 and +1 in the file.
    """
    who = _who(sampler) if name is None else spoken(name)
    n, found = int(progress.rounds[-1]), progress.baselines
    labels = f"With {round(float(progress.running.question_rate[-1]) * n):,} of {n:,} labels {who}"
    if progress.estimate is None:
        simple = f"; always saying the mean so far would have been off by {found['mean so far']:.4g}" if found else ""
        least = min(progress.refitted, key=lambda each: each.score, default=None)
        other = "" if least is None else f"; {least.name}, by {least.score:.4g}"
        return f"{labels} was off by a mean squared error of {progress.error:.4g}{simple}{other}."
    if progress.cost is not None:
        simple = " and ".join(
            f"{cost:.3g} always to predict {word}"
            for word, cost in zip(words, progress.baseline_costs.values(), strict=True)
        )
        return f"{labels} had a cost of {progress.cost:.3g} per row; it would have cost {simple}."
    simple = f"; {_by_majority(found['majority so far'])}" if found else ""
    best = max(progress.refitted, key=lambda each: each.score, default=None)
    other = "" if best is None else _by_refitted(best.name, best.score)
    return f"{labels} was right in {in_percent(1 - progress.error)}{simple}{other}."


def _by_majority(accuracy: float) -> str:
    return f"always saying the more frequent label would have been right in {in_percent(accuracy)}"


def _by_refitted(name: str, accuracy: float) -> str:
    return f"; {name}, in {in_percent(accuracy)}"


def of_comparison(comparison: aw.evaluate.Comparison) -> str:
    """The best algorithm at the largest share, and the accuracy of a simple rule."""
    best, n = comparison.best, int(comparison.rounds[-1])
    labels = f"With {100 * best.share:.3g} % of {n:,} labels" if best.share < 1 else f"With all {n:,} labels"
    alone = sum(cell.share == best.share for cell in comparison.cells) == 1
    simple = "" if comparison.majority is None else f"; {_by_majority(comparison.majority)}"
    others = [cell for cell in comparison.refitted if cell.share == best.share]
    refitted = max(others, key=lambda cell: cell.mean, default=None)
    other = "" if refitted is None else _by_refitted(refitted.algorithm, refitted.mean)
    did = "was" if alone else "did best,"
    return f"{labels} {spoken(best.algorithm)} {did} right in {in_percent(best.mean)}{simple}{other}."


def spoken(name: str) -> str:
    """The name of an algorithm in a sentence."""
    return "the default" if name == "default" else name.upper()


def _who(sampler: aw.Sampler) -> str:
    """The name of a sampler in a sentence where the name of its algorithm is not known."""
    from ...workflows.run import parts_of

    budget = isinstance(sampler.rule, aw.BudgetRule)
    if budget and parts_of(sampler) == parts_of(aw.Sampler(rule=sampler.rule)):
        return "the default"
    return type(sampler.learner).__name__
