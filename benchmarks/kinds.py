"""Rows of several kinds: words, vectors, and numbers beside them that say nothing.

    python benchmarks/kinds.py                     accuracy on texts, by what is seen of them, beside a refitted model
    python benchmarks/kinds.py --frozen            the last 30 % of ordered streams, predicted without labels
    python benchmarks/kinds.py --cost              processor time of a round by the width of vectors, and of texts

Texts are those of agnews, banking77 and stance in the folder that ASKWHEN_DATA names, shuffled by each seed, 6,000 rows
at most. *Beside* is the number of a row, a length, a price, a time and a constant, none of which says anything about
the label. *Direction view* is one view of the default by itself, the vector scaled to length 1 and a constant, which
``AutoLasec(b=1)`` learns. Logistic regression is refitted whenever the asked labels have grown by 15 %, and asks by
margin. Settings of the default were chosen on seeds 0 and 1; ``--first-seed 2`` reports others.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as arrow_csv
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import askwhen as aw
from askwhen.contracts.kinds import MixedRows
from askwhen.data import hash_text
from askwhen.learners.view_blocks import SCORED
from askwhen.linalg.single import form_in_single
from streams import DRIFTING

ROWS = 6000
SETS = ("agnews", "banking77", "stance")
SEEN = {
    "words": ("words",),
    "static": ("static",),
    "words, static": ("static", "words"),
    "words, beside": ("beside", "words"),
    "static, beside": ("beside", "static"),
    "words, static, beside": ("beside", "static", "words"),
    "MiniLM": ("minilm",),
    "MiniLM, plain array": (384,),
    "MiniLM, 768": (768,),
    "MiniLM, 1,536": (1536,),
}
VECTORS = ("static", "MiniLM", "MiniLM, 768", "MiniLM, 1,536")
ALONE, REFITTED = "direction view", "logistic regression by margin"
"""What the default is compared with, on vectors; six matrices of 1,536 x 1,536 in double precision take too long."""


@lru_cache(1)
def parts_of(name: str, seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """What can be seen of each text, by its name, and the labels."""
    folder = Path(os.environ["ASKWHEN_DATA"])
    table = arrow_csv.read_csv(folder / f"{name}.csv.gz")
    texts, y = table["text"].to_pylist(), np.array(table["label"].to_pylist())
    minilm = np.load(folder / f"{name}_minilm.npz")["vectors"].astype(float)
    order = np.random.default_rng(seed).permutation(min(len(texts), len(minilm)))[:ROWS]
    texts, rng, n = [texts[i] for i in order], np.random.default_rng(seed + 77), len(order)
    times = 1.6e9 + 3600.0 * np.arange(n)
    beside = [np.arange(n) + 1000.0, rng.integers(5, 300, n), np.exp(rng.normal(3, 1, n)), times, np.full(n, 7.0)]
    static = aw.encoders.load("static").encode(texts).astype(float)
    return {
        "words": hash_text(texts),
        "static": static,
        "minilm": minilm[order],
        "beside": np.column_stack(beside),
    }, y[order]


def rows_of(seen: str, parts: dict[str, Any], seed: int) -> Any:
    """Instances with these parts, which know their kinds; a plain array for vectors that were repeated with noise."""
    wanted = SEEN[seen]
    if isinstance(wanted[0], int):
        rng, minilm = np.random.default_rng(seed), parts["minilm"]
        noisy = [minilm + 0.02 * k * rng.standard_normal(minilm.shape) for k in range(wanted[0] // 384)]
        return np.hstack(noisy)
    numbers = parts["beside"].shape[1] if "beside" in wanted else 0
    vectors = tuple(parts[name].shape[1] for name in ("static", "minilm") if name in wanted)
    words = parts["words"].shape[1] if "words" in wanted else 0
    joined = sp.hstack([sp.csr_matrix(parts[str(name)]) for name in wanted], "csr")
    return MixedRows.of(joined, aw.Kinds(numbers, vectors, words))


def refitted(X: Any, y: np.ndarray, share: float, seed: int, at_random: bool = False, C: float = 10.0) -> np.ndarray:
    """What a refitted model says of each row before its label; it asks by margin, or at random."""
    rng, asked, due, gaps = np.random.default_rng(seed), list[int](), 10.0, list[float]()
    said, gap = np.full(len(y), y[0], y.dtype), np.full(len(y), np.nan)
    for i in range(len(y)):
        wanted = rng.random() < (0.5 if len(asked) < 10 and not at_random else share)
        if gap[i] == gap[i]:
            gaps.append(gap[i])
            wanted = wanted if at_random else bool(gap[i] <= np.quantile(gaps[-200:], share))
        if wanted and len(asked) < share * len(y):
            asked.append(i)
            if len(asked) >= due and len(set(y[asked])) > 1:
                model, due = LogisticRegression(C=C, max_iter=300).fit(X[asked], y[asked]), 1.15 * len(asked)
                p = model.predict_proba(X[i + 1 :]) if i + 1 < len(y) else np.zeros((0, 2))  # until the next refit
                said[i + 1 :], p = model.classes_[p.argmax(axis=1)], np.sort(p)
                gap[i + 1 :] = p[:, -1] - p[:, -2]
    return said


def of_length_one(X: Any) -> np.ndarray:
    """Dense rows scaled to length 1."""
    X = X.toarray() if sp.issparse(X) else X
    return np.asarray(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300))


def direction_view(X: Any, y: np.ndarray, share: float, seed: int, classes: list[str]) -> Any:
    """The trace of one view alone, of vectors of length 1 and a constant."""
    Z = np.hstack([of_length_one(X), np.ones((len(y), 1))])
    return aw.Sampler(aw.AutoLasec(b=1.0), aw.BudgetRule(share), seed=seed, classes=classes).run(Z, y)


def cell(name: str, seen: str, who: str, share: float, seed: int) -> float:
    """Accuracy in percent of the default, or of what it is compared with."""
    parts, y = parts_of(name, seed)
    X, classes = rows_of(seen, parts, seed), sorted(set(y.tolist()))
    if who == REFITTED:
        said = refitted(of_length_one(X), y, share, seed)
        return 100.0 * float((said == y).mean())
    if who == ALONE:
        trace = direction_view(X, y, share, seed, classes)
    else:
        trace = aw.Sampler(rule=aw.BudgetRule(share), seed=seed, classes=classes).run(X, y)
    return float(100.0 * (1.0 - trace.mistakes / trace.rounds))


def accuracies(options: argparse.Namespace) -> None:
    """Print a table for each set."""
    shares = [float(share) for share in options.shares.split(",")]
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    wanted = [(seen, "") for seen in SEEN if seen in options.seen.split(";")]
    compared = [(seen, ALONE) for seen in VECTORS[:-1]] + [(seen, REFITTED) for seen in VECTORS]
    wanted += [(seen, who) for seen, who in compared if seen in options.seen.split(";")]
    for name in options.sets.split(","):
        with ProcessPoolExecutor(options.jobs) as pool:
            work = {
                (each, share, seed): pool.submit(cell, name, *each, share, seed)
                for seed, each, share in itertools.product(seeds, wanted, shares)
            }
            for i, (key, future) in enumerate(work.items()):
                future.result()
                print(f"\r{name}: {i + 1} of {len(work)} cells, last {key}" + 20 * " ", end="", file=sys.stderr)
        print(f"\n{name}: percent right (standard error) at so many labels\n")
        print("| | " + " | ".join(f"{share:.0%}" for share in shares) + " |\n" + "|---" * (len(shares) + 1) + "|")
        for each in wanted:
            cells = []
            for share in shares:
                found = [work[each, share, seed].result() for seed in seeds]
                cells.append(f"{np.mean(found):.1f} ({spread_of(found):.1f})")
            print(f"| {': '.join(filter(None, each[::-1]))} | " + " | ".join(cells) + " |", flush=True)


def spread_of(found: list[float]) -> float:
    """The standard error of a mean."""
    return float(np.std(found, ddof=1) / np.sqrt(len(found))) if len(found) > 1 else 0.0


def occupied(seed: int, n: int = 12_000) -> tuple[np.ndarray, np.ndarray]:
    """A room that is occupied for hours or not: long runs of a label, sensors that follow slowly, days."""
    rng, y, i, sign = np.random.default_rng(seed), np.zeros(n), 0, -1.0
    while i < n:
        length = int(rng.exponential(300)) + 20
        y[i : i + length], sign, i = sign, -sign, i + length
    day, air = 2.0 * np.pi * np.arange(n) / 1440.0, np.zeros(n)
    for i in range(1, n):
        air[i] = air[i - 1] + 0.02 * ((y[i] > 0) - air[i - 1]) + 0.01 * rng.standard_normal()
    light = np.where(y > 0, 400.0, 20.0) + 60.0 * np.sin(day) + 50.0 * rng.standard_normal(n)
    light = np.where(rng.random(n) < 0.1, rng.uniform(0.0, 450.0, n), light)
    warm = 20.0 + 2.0 * np.sin(day) + air + 0.3 * rng.standard_normal(n)
    humid = 30.0 + 5.0 * np.cos(1.3 * day) + rng.standard_normal(n)
    return np.column_stack([warm, humid, light, 500.0 * air + 400.0]), y


def frozen(options: argparse.Namespace) -> None:
    """Print what a model says of the last 30 % of ordered streams: with labels, without, and a refitted model."""
    print("percent right in the last 30 %\n")
    print("| | live | without labels | logistic regression |\n|---|---|---|---|")
    for name in ("elec2", "usenet2", "spam", "occupied"):
        found = []
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            X, y = occupied(seed) if name == "occupied" else DRIFTING[name](np.random.default_rng(seed))
            k = int(0.7 * len(y))
            live = aw.Sampler(rule=aw.BudgetRule(0.1), seed=seed).run(X, y).mistaken[k:]
            sampler = aw.Sampler(rule=aw.BudgetRule(0.1), seed=seed)
            asked = np.flatnonzero(sampler.run(X[:k], y[:k]).queried)
            scale = np.sqrt(np.asarray(sp.csr_matrix(X[asked]).power(2).mean(axis=0)).ravel())
            Z = sp.csr_matrix(X) @ sp.diags(1.0 / np.where(scale > 0.0, scale, 1.0)) if name != "spam" else X
            model = LogisticRegression(max_iter=2000).fit(Z[asked], y[asked])
            found.append((1.0 - live.mean(), (sampler.predict(X[k:]) == y[k:]).mean(), model.score(Z[k:], y[k:])))
        print(
            f"| {name} | " + " | ".join(f"{100.0 * value:.1f}" for value in np.mean(found, axis=0)) + " |", flush=True
        )


def cost() -> None:
    """Print processor time: of a round at 10 % of the labels, of one quadratic form in single precision, of texts."""
    rng = np.random.default_rng(0)
    print("microseconds of processor time, 10% of the labels\n")
    print("| width | a round | one quadratic form | experts scored in a round | a round in forms, for each of them |")
    print("|---|---|---|---|---|")
    for d in (256, 384, 768, 1536):
        centre, n = rng.standard_normal(d), 800
        y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        X = MixedRows.of(sp.csr_matrix(0.3 * np.outer(y, centre) + rng.standard_normal((n, d))), aw.Kinds(0, (d,)))
        trace = aw.Sampler(rule=aw.BudgetRule(0.1, length=n), seed=1).run(X, y)
        scored = (trace.drift_weights >= SCORED * trace.drift_weights.max(axis=1, keepdims=True)).sum(axis=1).mean()
        Q, x = np.eye(d, dtype=np.float32), rng.standard_normal(d).astype(np.float32)
        rounds, forms = [], []
        for _ in range(9):
            sampler = aw.Sampler(rule=aw.BudgetRule(0.1, length=n), seed=1)
            start = time.process_time()
            sampler.run(X, y, trace=False)
            rounds.append((time.process_time() - start) / n)
            forms.append(_form_time(Q, x))
        each = min(rounds) / min(forms)
        cells = f"{1e6 * min(rounds):.0f} | {1e6 * min(forms):.1f} | {scored:.1f} | {each / scored:.1f}"
        print(f"| {d:,} | {cells} |", flush=True)
    encoder = aw.encoders.load("static")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agnews.csv.gz"
        path.write_bytes((Path(os.environ["ASKWHEN_DATA"]) / path.name).read_bytes())
        texts = arrow_csv.read_csv(path)["text"].to_pylist()
        seconds: dict[str, list[float]] = {}
        for step in 3 * ("vectors of texts", "from the file to the result", "the same again, with stored vectors"):
            if step == "from the file to the result":
                for stored in Path(folder).glob("*.parquet"):
                    stored.unlink()
            start = time.process_time()
            if step == "vectors of texts":
                encoder.encode(texts)
            else:
                sampler = aw.Sampler(rule=aw.BudgetRule(0.1), seed=1, classes="open")
                for X, y in aw.data.read(path, label="label", target="class", encoder="static"):
                    sampler.run(X, y)
            seconds.setdefault(step, []).append(time.process_time() - start)
    print("\n| texts of agnews, four classes, 10% of the labels | in a second of processor time |\n|---|---|")
    for step, taken in seconds.items():
        print(f"| {step} | {len(texts) / min(taken):,.0f} |")


def _form_time(Q: np.ndarray, x: np.ndarray) -> float:
    """Seconds of one quadratic form, compiled as learners have it."""
    import numba

    @numba.njit  # type: ignore[untyped-decorator, unused-ignore]
    def forms(Q: Any, x: Any, times: int) -> float:
        total = 0.0
        for _ in range(times):
            total += form_in_single(Q, x)
        return total

    forms(Q, x, 1)
    start = time.process_time()
    forms(Q, x, 100)
    return (time.process_time() - start) / 100


def main() -> None:
    parser = argparse.ArgumentParser(description="Rows of several kinds.")
    parser.add_argument("--frozen", action="store_true", help="models that predict without labels")
    parser.add_argument("--cost", action="store_true", help="microseconds a round")
    parser.add_argument("--shares", default="0.02,0.05,0.1")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seen", default=";".join(SEEN), help="rows of the tables, with ; between them")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.cost:
        cost()
    elif options.frozen:
        frozen(options)
    else:
        accuracies(options)


if __name__ == "__main__":
    main()
