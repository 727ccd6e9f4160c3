"""How far is each loop from what the machine can do? Memory traffic and arithmetic against our rounds, in one run.

    python benchmarks/limits.py [--json OUT]

*read*: bytes per second that one core reads from memory (numpy's sum over an array that no cache holds), which bounds
first-order rounds: they read every row once. *gemv*: products of a d x d matrix with a vector per second by BLAS, which
bounds second-order rounds that compute q = x'Qx: BLAS may add in any order, our rounds must give the same bits
everywhere. *C*: SEL-P as a plain C loop (see core.py).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import askwhen as aw
from core import c_loop
from workloads import best, text_like, unit_norm


def sparse_rows(repeats: int) -> dict[str, float]:
    n = 200_000
    X, y = text_like(n)
    row_bytes = (12 * X.nnz + 8 * (n + 1)) / n + 8 + 8 + 8 + 8 + 4  # the row, its label and coin, what is written
    long = np.ones(50_000_000)
    trace = aw.paper("SEL-P", b=0.1, seed=0).run(X, y)
    calls: dict[str, Any] = {
        "ours": lambda: aw.paper("SEL-P", b=0.1, seed=0).run(X, y),
        "read": long.sum,
    }
    loop = c_loop(X, y, trace.coin, 0.1)
    if loop is not None:
        calls["C"] = loop
    times = best(calls, repeats)
    bandwidth = long.nbytes / times["read"]
    found = {"bytes per round": row_bytes, "GB/s read": bandwidth / 1e9, "limit, M/s": bandwidth / row_bytes / 1e6}
    found |= {f"{name}, M/s": n / times[name] / 1e6 for name in ("ours", "C") if name in times}
    found["ours of the limit"] = found["ours, M/s"] / found["limit, M/s"]
    return found


def second_order(d: int, repeats: int) -> dict[str, float]:
    """Rounds that compute q and never learn, beside matrix times vector."""
    n = max(200, 20_000_000 // d**2)
    X, y = unit_norm(n, d)
    never = aw.Sampler(aw.SecondOrderPerceptron(1.0), aw.FixedRate(1e-9), seed=0)
    never.run(X[:1], y[:1])
    Q = np.ascontiguousarray(np.eye(d) + 0.1)

    def gemv() -> None:
        for x in X:
            x @ (Q @ x)

    times = best({"ours": lambda: never.run(X, y, trace=False), "gemv": gemv}, repeats)
    ours, theirs = n / times["ours"], n / times["gemv"]
    return {"ours, k/s": ours / 1e3, "gemv, k/s": theirs / 1e3, "ratio": ours / theirs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found: dict[str, Any] = {"SEL-P on W3": sparse_rows(7)}
    for d in (50, 256, 1024):
        found[f"second order, d = {d}"] = second_order(d, 7)
    for name, facts in found.items():
        print(f"{name}: " + ", ".join(f"{what} {value:.4g}" for what, value in facts.items()))
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
