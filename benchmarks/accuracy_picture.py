"""Accuracy for labels on a stream that switches: the default, asking at random, and the papers' algorithms.

python benchmarks/accuracy_picture.py docs/accuracy-for-labels.svg
"""

import sys
from pathlib import Path

import askwhen as aw
from askwhen.report.figures import FigureLine, line_figure

NAMES = ("default", "random", "lasec-ss", "sop-ss", "perceptron-ss", "bbq")
HYPERPARAMETERS = {
    "lasec-ss": {"b": 0.1, "c": 100.0},
    "sop-ss": {"b": 10.0},
}  # the best of a grid on this stream, in hindsight
REPEATS = 10
ROUNDS, DIMENSION, EVERY, SEED = 20_000, 20, 5_000, 3
SHARES = (0.02, 0.05, 0.1, 0.2)


def main(path: str) -> None:
    """Compare the algorithms at every share, and draw the means with their 95 % intervals."""
    X, y = aw.data.switching(ROUNDS, DIMENSION, EVERY, SEED)
    found = aw.evaluate.compare(X, y, NAMES, SHARES, repeats=REPEATS, letters=HYPERPARAMETERS, prepare=aw.Prepare())
    lines = []
    for name in NAMES:
        cells = [cell for cell in found.cells if cell.algorithm == name]
        asked, mean = [float(cell.asked.mean()) for cell in cells], [cell.mean for cell in cells]
        lines.append(FigureLine(name, asked, mean, [cell.margin_of_error for cell in cells]))
        print(name, *(f"{100 * a:.1f} %: {100 * m:.1f} %" for a, m in zip(asked, mean, strict=True)), sep="  ")
    title = f"Accuracy for labels; the target is replaced every {EVERY:,} rounds"
    text = line_figure(lines, title=title, across="share of labels asked for", up="mean accuracy", shares_across=True)
    Path(path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
