"""How fast is the core? Rounds per second and bytes per round, as ratios in one run.

Everything that is compared is interleaved, best of several, on one core. The peers are scikit-learn's
SGDClassifier(loss="perceptron") in one bulk partial_fit, which predicts nothing, and a C loop of the same arithmetic
as SEL-P, compiled here by cc -O3 -march=native.

    python benchmarks/core.py [--quick] [--json OUT]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import askwhen as aw
from workloads import best, scale_for, text_like, unit_norm

C_SOURCE = """
#include <math.h>
#include <stdint.h>
void sel_p(double *w, const double *data, const int32_t *indices, const int64_t *indptr, int64_t n, const double *y,
           const double *u, double b, double *margin, double *probability, int8_t *prediction, int8_t *queried,
           int8_t *updated, int8_t *mistaken) {
  for (int64_t i = 0; i < n; i++) {
    double p = 0.0;
    for (int64_t j = indptr[i]; j < indptr[i + 1]; j++) p += w[indices[j]] * data[j];
    int yhat = p > 0.0 ? 1 : -1;
    int asked = u[i] == 0.0 || fabs(p) < b * (1.0 - u[i]) / u[i];
    int wrong = yhat != (int)y[i];
    margin[i] = p; probability[i] = b / (b + fabs(p)); prediction[i] = yhat;
    queried[i] = asked; mistaken[i] = wrong; updated[i] = asked && wrong;
    if (asked && wrong)
      for (int64_t j = indptr[i]; j < indptr[i + 1]; j++) w[indices[j]] += y[i] * data[j];
  }
}
"""


def c_loop(X: Any, y: np.ndarray, u: np.ndarray, b: float) -> Callable[[], Any] | None:
    """SEL-P in C on these arrays, or None without a C compiler."""
    if shutil.which("cc") is None:
        return None
    folder = Path(tempfile.mkdtemp())
    (folder / "loop.c").write_text(C_SOURCE)
    command = ["cc", "-O3", "-march=native", "-shared", "-fPIC", "loop.c", "-o", "loop.so", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    function = ctypes.CDLL(str(folder / "loop.so")).sel_p
    shutil.rmtree(folder)
    n = X.shape[0]
    indptr = X.indptr.astype(np.int64)

    def pointer(array: np.ndarray) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    def call() -> list[np.ndarray]:
        w = np.zeros(X.shape[1])
        out = [np.zeros(n), np.zeros(n)] + [np.zeros(n, np.int8) for _ in range(4)]
        arrays = (w, X.data, X.indices, indptr)
        function(
            *map(pointer, arrays), ctypes.c_int64(n), pointer(y), pointer(u), ctypes.c_double(b), *map(pointer, out)
        )
        return out

    return call


def sparse_first_order(repeats: int, n: int) -> dict[str, Any]:
    from sklearn.linear_model import SGDClassifier

    X, y = text_like(n)
    b = 0.1
    trace = aw.paper("SEL-P", b=b, seed=0).run(X, y)
    calls: dict[str, Callable[[], Any]] = {
        "askwhen SEL-P": lambda: aw.paper("SEL-P", b=b, seed=0).run(X, y),
        "scikit-learn, bulk, no predictions": lambda: SGDClassifier(
            loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0, shuffle=False
        ).partial_fit(X, y, classes=[-1, 1]),
    }
    loop = c_loop(X, y, trace.coin, b)
    if loop is not None:
        assert (loop()[3] == trace.queried).mean() > 0.999, "the C loop does something else"
        calls["C, same arithmetic"] = loop
    times = best(calls, repeats)
    ours = times["askwhen SEL-P"]
    row_bytes = (12 * X.nnz + 8 * (n + 1)) / n + 8 + 8 + 8 + 8 + 4
    print(f"\nSEL-P on CSR, {n:,} x {X.shape[1]:,}, {X.nnz / n:.0f} non-zeros, asked {trace.questions / n:.1%}")
    print(f"  {row_bytes:.0f} bytes per round read and written, not counting the weights")
    for name, seconds in times.items():
        print(f"  {name:36} {n / seconds / 1e6:6.2f} M rounds/s   {seconds / ours:5.2f} x our time")
    return {name: n / seconds for name, seconds in times.items()}


def one_run(build: Callable[[float], aw.Sampler], scale: float, X: np.ndarray, y: np.ndarray, margins: bool) -> None:
    build(scale).run(X, y, margins=margins)


def dense_second_order(repeats: int, sizes: dict[int, int]) -> dict[str, Any]:
    print("\nSecond order on dense unit-norm rows, target switched every 500, about 10 % asked (M rounds/s)")
    print(f"  {'':10}{'d':>6}{'every margin':>14}{'margins=False':>15}{'ratio':>8}{'q computed':>12}{'bytes kept':>12}")
    found = {}
    for d, n in sizes.items():
        X, y = unit_norm(n, d)
        builders: dict[str, Callable[[float], aw.Sampler]] = {
            "SEL-2ND": lambda s: aw.paper("SEL-2ND", b=s, seed=0),
            "LASEC-SS": lambda s: aw.paper("LASEC-SS", b=1.0, c=300.0, a=s, seed=0),
        }
        for name, build in builders.items():
            scale = scale_for(build, X, y, 0.1)
            short = build(scale).run(X, y, margins=False)
            every_margin, few_margins = (partial(one_run, build, scale, X, y, margins) for margins in (True, False))
            times = best({"every": every_margin, "short": few_margins}, repeats)
            every, quick = n / times["every"], n / times["short"]
            computed = float((~np.isnan(short.margin)).mean())
            print(
                f"  {name:10}{d:6}{every / 1e6:14.4f}{quick / 1e6:15.4f}{quick / every:8.2f}{computed:12.1%}"
                f"{8 * d * d:12,}"
            )
            found[f"{name} d={d}"] = {"every": every, "short": quick, "computed": computed}
    return found


def one_by_one(repeats: int, n: int = 20_000, d: int = 50) -> dict[str, float]:
    X, y = unit_norm(n, d)
    rows, labels = list(X), y.tolist()

    def asked_and_told() -> None:
        sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)
        for x, label in zip(rows, labels, strict=True):
            sampler.tell(sampler.ask(x), label)

    def bare_numpy() -> None:
        w = np.zeros(d)
        for x, label in zip(rows, labels, strict=True):
            if label * (w @ x) <= 0:
                w += label * x

    times = best({"ask + tell, checks included": asked_and_told, "bare numpy, no checks": bare_numpy}, repeats)
    print(f"\nOne instance at a time from Python, Perceptron, d = {d}")
    for name, seconds in times.items():
        print(f"  {name:36} {seconds / n * 1e6:6.2f} microseconds")
    return {name: seconds / n for name, seconds in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller streams, fewer repeats")
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    options = parser.parse_args()
    repeats = 3 if options.quick else 7
    share = 5 if options.quick else 1
    sizes = {4: 200_000 // share, 50: 50_000 // share, 256: 20_000 // share, 1024: 4_000 // share}
    print(f"askwhen {aw.__version__}, numpy {np.__version__}, Python {sys.version.split()[0]}")
    found = {
        "sparse": sparse_first_order(repeats, 200_000 // share),
        "dense": dense_second_order(repeats, sizes),
        "one by one": one_by_one(repeats),
    }
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
