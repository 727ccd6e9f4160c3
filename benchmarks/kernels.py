"""What do kernels and high dimension cost? Ratios within one run.

1. SEL-2ND on the RCV1 subset (27,613 x 47,236, the 50 most frequent topics without M143 and MCAT, b = 0.04): all topics
   as tasks over one stream, with and without the shortcut of margins=False.
2. PA-I with a Gaussian kernel on a9a, beside its kernel evaluations alone and beside libsvm's training.

The data is looked for in the folder that ASKWHEN_DATA names; a part whose data is absent says so.

    python benchmarks/kernels.py [--quick] [--json OUT]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import askwhen as aw
from askwhen.compiled.steps import apart
from askwhen.linalg.rows import row
from askwhen.linalg.vectors import look
from askwhen.weights.expansion import fill_row, keep, new_expansion


def find(name: str) -> Path | None:
    """A data file, or None after saying how to get it."""
    folder = os.environ.get("ASKWHEN_DATA")
    if folder is not None and (Path(folder) / name).exists():
        return Path(folder) / name
    print(f"\n{name} is absent: set ASKWHEN_DATA to a folder that holds it")
    return None


def timed(call: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def news(topics: int, quick: bool) -> dict[str, float] | None:
    path = find("rcv1_subsets_dedup.npz")
    if path is None:
        return None
    found = np.load(path)
    X = sp.csr_matrix((found["data"].astype(float), found["indices"], found["indptr"]), tuple(found["shape"]))
    labels = np.unpackbits(found["Y_packed"], axis=1)[:, :103]
    counts = labels.sum(axis=0, dtype=np.int64)
    counts[np.isin(found["topics"], ["M143", "MCAT"])] = -1
    chosen = np.argsort(-counts, kind="stable")[:topics]
    rows = 3000 if quick else X.shape[0]
    X, Y = X[:rows], np.where(labels[:rows, chosen] > 0, 1, -1)
    aw.paper("SEL-2ND", b=0.04, seed=0).run_tasks(X[:100], Y[:100], margins=False)
    aw.paper("SEL-2ND", b=0.04, seed=0).run_tasks(X[:100], Y[:100])
    seconds, traces = timed(lambda: aw.paper("SEL-2ND", b=0.04, seed=0).run_tasks(X, Y, margins=False))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    share = float(np.mean([1 - np.isnan(trace.margin).mean() for trace in traces]))
    asked = float(np.mean([trace.questions / rows for trace in traces]))
    updates = [trace.updates for trace in traces]
    print(f"\nSEL-2ND, b = 0.04, {rows:,} documents x {X.shape[1]:,} features, {topics} topics as tasks")
    print(f"  asked {asked:.1%}, {min(updates)} to {max(updates)} updates a topic")
    print(
        f"  margins=False: {seconds:.1f} s for the whole job, peak memory {memory:.2f} GB, q in {share:.1%} of rounds"
    )
    slow, full = timed(lambda: aw.paper("SEL-2ND", b=0.04, seed=0).run_tasks(X, Y))
    same = all(
        (a.queried == b.queried).all() and (a.updated == b.updated).all() for a, b in zip(traces, full, strict=True)
    )
    print(f"  every margin:  {slow:.1f} s, {slow / seconds:.1f} times as long; same decisions: {same}")
    return {"seconds": seconds, "every margin": slow, "share of q": share, "peak GB": memory}


@apart
def rows_alone(w: Any, rows: Any, updated: Any) -> None:
    """The kernel evaluations of a run whose updates are known, and nothing else."""
    for i in range(len(updated)):
        x = row(rows, i)
        _, norm2, _ = look(w.scratch, x)
        fill_row(w, x, norm2)
        if updated[i]:
            keep(w, w.counts[0], x, 0.0)


def census(quick: bool, repeats: int) -> dict[str, float] | None:
    from sklearn.datasets import load_svmlight_file
    from sklearn.svm import SVC

    from askwhen.contracts.learner import grow
    from askwhen.engine.inputs.instance_checks import check_instances
    from askwhen.linalg.rows import part_of

    path = find("a9a.xz")
    if path is None:
        return None
    import lzma

    with lzma.open(path) as file:
        X, y = load_svmlight_file(file, n_features=123)
    rows = 4000 if quick else X.shape[0]
    X, y = X[:rows], y[:rows]
    X.sort_indices()
    kernel = aw.Gaussian(0.05)
    learner = aw.PassiveAggressive1(0.1, kernel=kernel)
    aw.Sampler(learner, aw.Always(), seed=0).run(X[:200], y[:200])
    part = part_of(check_instances("benchmark", X), 0, rows)
    best = {"run": np.inf, "rows": np.inf}
    for _ in range(repeats):
        seconds, trace = timed(lambda: aw.Sampler(learner, aw.Always(), seed=0).run(X, y))
        best["run"] = min(best["run"], seconds)
        w = new_expansion(123, True, kernel, None, "random")
        while len(w.slots) < trace.updates:
            w.counts[0] = len(w.slots)
            w = grow(w, X.nnz, np.random.default_rng(0))
        w.counts[0] = 0
        rows_alone(w, part_of(check_instances("benchmark", X[:10]), 0, 10), trace.updated[:0])
        seconds, _ = timed(lambda w=w, trace=trace: rows_alone(w, part, trace.updated))
        best["rows"] = min(best["rows"], seconds)
    svm, model = timed(lambda: SVC(C=1.0, gamma=0.05, cache_size=500).fit(X, y))
    print(f"\nPA-I (C = 0.1) with Gaussian(0.05) on a9a, {rows:,} x 123, every label")
    print(
        f"  run                     {best['run']:.2f} s, {trace.updates:,} kept, {trace.mistakes / rows:.1%} mistakes"
    )
    print(
        f"  kernel evaluations only {best['rows']:.2f} s: the run takes {best['run'] / best['rows']:.2f} times as long"
    )
    print(f"  libsvm, training only   {svm:.2f} s, {model.support_.size:,} support vectors")
    return {**best, "libsvm": svm}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rows, topics and repeats")
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    options = parser.parse_args()
    print(f"askwhen {aw.__version__} on {os.cpu_count()} cores")
    found = {
        "rcv1": news(5 if options.quick else 50, options.quick),
        "a9a": census(options.quick, 1 if options.quick else 2),
    }
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
