"""Raw columns: what those cost that say nothing, and a raw table beside logistic regression.

    python benchmarks/raw_columns.py [--sets reuters,spam,...]     five columns of no use, beside words or numbers
    python benchmarks/raw_columns.py --telco                       Telco churn, all columns as they are in the file

The columns are the number of a row, a length, a price, a time and a constant, none of which says anything about the
label. The default sees words and numbers as two kinds. Numbers are an array, in which all five columns are features,
and a data frame, of which the sampler leaves out the number of the row and the constant, and makes features of the
time. ``kinds.py`` has texts and vectors.
Logistic regression sees Telco's numbers standardised and a feature for each of the other values (the identifier left
out), prepared by hand; it is refitted whenever the asked labels have grown by 15 %.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

import askwhen as aw
import classes
from askwhen.contracts.kinds import MixedRows
from kinds import refitted, spread_of
from streams import DRIFTING, STILL

OF_WORDS: dict[str, Callable[[np.random.Generator], Any]] = {
    "reuters": classes.reuters,
    "spam": DRIFTING["spam"],
    "rcv1": classes.rcv1,
}
OF_NUMBERS = DRIFTING | STILL
SETS = ("reuters", "spam", "rcv1", "spambase", "svmguide1", "a9a", "elec2", "usenet2")


def columns_of_no_use(n: int, seed: int) -> np.ndarray:
    """The number of a row, a length, a price, a time and a constant."""
    rng = np.random.default_rng(seed + 77)
    times = 1.6e9 + 3600.0 * np.arange(n)
    return np.column_stack(
        [np.arange(n) + 1000.0, rng.integers(5, 300, n), np.exp(rng.normal(3, 1, n)), times, np.full(n, 7.0)]
    )


AS_IT_IS, WITH_THEM, IN_A_FRAME = range(3)


def accuracy(name: str, share: float, seed: int, form: int) -> float:
    """Percent right of the default, with columns of no use or without."""
    X, y = (OF_NUMBERS | OF_WORDS)[name](np.random.default_rng(1000 + seed))
    more = columns_of_no_use(len(y), seed)
    if name in OF_WORDS:
        X = sp.csr_matrix(X)
        if form != AS_IT_IS:
            X = MixedRows.of(sp.hstack([more, X], "csr"), aw.Kinds(more.shape[1], (), X.shape[1]))
    elif form == WITH_THEM:
        X = np.hstack([more, X])
    elif form == IN_A_FRAME:
        names = ("id", "length", "price", "seconds", "constant")
        when = pl.from_epoch(pl.Series("when", more[:, 3].astype(int)))
        columns = dict(zip(names, more.T, strict=True)) | {"id": more[:, 0].astype(int)}
        X = pl.DataFrame(columns | {f"x{j}": X[:, j] for j in range(X.shape[1])}).replace_column(3, when)
    labels = sorted(set(y.tolist()))
    found = labels if len(labels) > 2 else None
    trace = aw.Sampler(rule=aw.BudgetRule(share), seed=seed, classes=found).run(X, y)
    return 100.0 * (1.0 - trace.mistakes / trace.rounds)


def beside(options: argparse.Namespace, seeds: range) -> None:
    """Print what the columns cost."""
    print(f"percent right at {options.share:.0%} of the labels (standard error)\n")
    print("| | as it is | with five columns of no use | they cost | in a data frame they cost |\n|---|---|---|---|---|")
    for name in options.sets.split(","):
        forms = range(2 if name in OF_WORDS else 3)
        found = np.array([[accuracy(name, options.share, seed, form) for form in forms] for seed in seeds])
        shown = [*found.T[:2], *(found[:, :1] - found[:, 1:]).T]
        cells = [f"{each.mean():.1f} ({spread_of(each.tolist()):.1f})" for each in shown]
        print(f"| {name} | " + " | ".join([*cells, "-"][:4]) + " |", flush=True)


def f_of(prediction: np.ndarray, y: np.ndarray) -> float:
    """The harmonic mean of precision and recall of +1."""
    found, said, there = ((prediction > 0) & (y > 0)).sum(), (prediction > 0).sum(), (y > 0).sum()
    return float(2.0 * found / max(said + there, 1))


def prepared_by_hand(table: pl.DataFrame) -> np.ndarray:
    """Telco as it is prepared by hand for logistic regression."""
    parts = []
    for name in table.columns:
        if name in ("customerID", "Churn"):
            continue
        column = table[name].cast(pl.String).str.strip_chars()
        numbers = column.cast(pl.Float64, strict=False).to_numpy()
        if np.isnan(numbers).mean() < 0.05 and len(np.unique(numbers)) > 2:
            known = np.nan_to_num(numbers, nan=float(np.nanmean(numbers)))
            parts.append(((known - known.mean()) / known.std())[:, None])
        else:
            parts.append(column.to_dummies().to_numpy().astype(float))
    return np.hstack([*parts, np.ones((len(table), 1))])


def telco(seeds: range) -> None:
    """Print accuracy and F of the default from the raw file, by what columns it is given as categories."""
    table = pl.read_csv(Path(os.environ["ASKWHEN_DATA"]) / "telco_churn.csv.gz", infer_schema=False)
    names = [name for name in table.columns if name not in ("customerID", "Churn", "tenure", "MonthlyCharges")]
    names.remove("TotalCharges")
    asked: dict[str, dict[str, Any]] = {"as it is": {}}
    for count in (1, 6, 7, 8, 12, len(names)):
        asked[f"--categories of {count}"] = {"categories": names[:count]}
    asked["--categories of all but the identifier"] = {"categories": [*names, "tenure", "MonthlyCharges"]}
    scores: dict[str, list[tuple[float, float]]] = {}
    for seed in seeds:
        mixed = table[np.random.default_rng(seed).permutation(len(table))]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "telco.csv"
            mixed.write_csv(path)
            for who, given in asked.items():
                X, y = aw.data.read(path, label="Churn", positive="Yes", **given).load()
                trace = aw.Sampler(rule=aw.BudgetRule(0.1), seed=seed).run(X, y)
                scores.setdefault(who, []).append((1.0 - trace.mistakes / trace.rounds, f_of(trace.signs, y)))
        X, y = prepared_by_hand(mixed), np.where(mixed["Churn"] == "Yes", 1.0, -1.0)
        for who, at_random in (("at random", True), ("by margin", False)):
            said = refitted(X, y, 0.1, seed, at_random, 1.0)
            scores.setdefault(f"logistic regression, {who}", []).append(((said == y).mean(), f_of(said, y)))
    print("| Telco churn, 10% of the labels | percent right (standard error) | F (standard error) |\n|---|---|---|")
    for who, found in scores.items():
        right, f = np.array(found).T
        errors = [spread_of((100.0 * right).tolist()), spread_of(f.tolist())]
        print(f"| {who} | {100.0 * right.mean():.1f} ({errors[0]:.1f}) | {f.mean():.3f} ({errors[1]:.3f}) |")


def main() -> None:
    parser = argparse.ArgumentParser(description="Raw columns.")
    parser.add_argument("--telco", action="store_true", help="a raw table beside logistic regression")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    if options.telco:
        telco(seeds)
    else:
        beside(options, seeds)


if __name__ == "__main__":
    main()
