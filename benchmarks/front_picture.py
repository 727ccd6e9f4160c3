"""The picture on the first page: wrong labels for labels, on the pile of ``askwhen demo``.

python benchmarks/front_picture.py docs/errors-for-labels.svg
"""

import sys
from pathlib import Path

import numpy as np

import askwhen as aw
from askwhen.report.figures import FigureLine, line_figure
from askwhen.workflows.demo import SEED, pile

ERRORS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
REPEATS = 5


def at_random(X: np.ndarray, y: np.ndarray, share: float) -> tuple[float, float]:
    """The share of labels that were asked for at random, and that of wrong labels where the others are predictions."""
    traces = [aw.Sampler(rule=aw.FixedRate(share), seed=SEED + k).run(X, y) for k in range(REPEATS)]
    wrong = [np.mean(trace.mistaken & ~trace.queried) for trace in traces]
    return float(np.mean([trace.questions for trace in traces])) / len(y), float(np.mean(wrong))


def main(path: str) -> None:
    """Draw what promises take and give, beside labels at random."""
    X, y = pile()
    curve = aw.evaluate.promise_curve(X, y, ERRORS, repeats=REPEATS, seed=SEED)
    print(curve)
    asked = [point.asked for point in curve.points][::-1]
    certified = [float(point.certified.mean()) for point in curve.points][::-1]
    wrong = [point.errors for point in curve.points][::-1]
    random = [at_random(X, y, share) for share in SHARES]
    print(*(f"{share:.1%} at random: {error:.1%} wrong" for share, error in random), sep="\n")
    lines = [
        FigureLine("askwhen: certified at most", asked, certified),
        FigureLine("labels at random: wrong", *zip(*random, strict=True)),
        FigureLine("askwhen: wrong", asked, wrong),
    ]
    title = f"Wrong labels in a pile of {len(y):,}, against the labels that a person gives"
    across = "share of the labels that a person gives"
    text = line_figure(lines, title=title, across=across, up="share of wrong labels", shares_across=True)
    Path(path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
