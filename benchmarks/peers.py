"""askwhen and what you would take instead, on the same arrays, in turns, in one run.

    python benchmarks/peers.py [--quick] [--json OUT] [passes] [singles] [files]

*passes*: a whole stream, predicted and learnt. *singles*: one instance at a time from Python. *files*: from a file to a
result. Every number is the best of several, run in turns. A peer is compared with the sampler of ours that does the
same. Slow peers see only the head of the stream. A peer that is not installed is left out with a line:
``pip install 'askwhen[peers]'`` has them all. The JSON holds the versions, and for every part and workload the
instances per second and the ratios.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import importlib
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import askwhen as aw
from workloads import WORKLOADS, best, scale_for

SELECTIVE = "askwhen SEL-P, 10 % asked"
HEAD = {"vowpal_wabbit_next": 20_000, "river": 4_000, "sklearn": 1_000, "skactiveml": 200}
"""How many instances of a stream a slow peer sees."""


class Runner(NamedTuple):
    """Something to be timed: what it runs, over how many instances, and which of ours it stands beside."""

    call: Callable[[], Any]
    instances: int
    beside: str = ""


PACKAGES = (
    "askwhen",
    "numpy",
    "numba",
    "scikit-learn",
    "river",
    "scikit-activeml",
    "vowpalwabbit",
    "vowpal-wabbit-next",
)


def installed_version(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


@cache
def installed(package: str) -> bool:
    try:
        importlib.import_module(package)
    except Exception as error:  # absent, or broken
        print(f"{package} is left out: {error}", file=sys.stderr)
        return False
    return True


def contest(title: str, runners: dict[str, Runner], repeats: int, ours: str) -> dict[str, Any]:
    """Time all, and print each peer beside the one of ours that does the same, which is ``ours`` unless it says so."""
    print(f"{title}: {len(runners)} contestants, {repeats} turns", file=sys.stderr, flush=True)
    print(f"\n{title}\n\n| | instances/s | microseconds | ratio | of |", flush=True)
    print("|---|---:|---:|---:|---|")
    times = best({name: runner.call for name, runner in runners.items()}, repeats)
    rates = {name: runners[name].instances / seconds for name, seconds in times.items()}
    ratios = {}
    for name, rate in rates.items():
        beside = runners[name].beside or ours
        known = not name.startswith("askwhen")
        if known:
            ratios[name] = rates[beside] / rate
        ratio = f"{short(ratios[name])} | {beside.removeprefix('askwhen ').removeprefix('askwhen, ')}" if known else "|"
        shown = f"{rate / 1e6:.2f} M" if rate >= 1e6 else f"{rate / 1e3:.3g} k"
        print(f"| {name} | {shown} | {short(1e6 / rate)} | {ratio} |", flush=True)
    return {"instances per second": rates, "ratios": ratios}


def short(value: float) -> str:
    """Three digits, and no powers of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def sel_p(b: float) -> aw.Sampler:
    return aw.paper("SEL-P", b=b, seed=0)


def lasec_ss(a: float) -> aw.Sampler:
    return aw.paper("LASEC-SS", b=1.0, c=300.0, a=a, seed=0)


def our_passes(X: Any, y: np.ndarray) -> dict[str, Runner]:
    n, b = len(y), scale_for(sel_p, X, y)
    head = n if sp.issparse(X) else min(n, 10_000)
    found = {
        "askwhen Perceptron": Runner(lambda: aw.Sampler(aw.Perceptron(), aw.Always(), seed=0).run(X, y), n),
        "askwhen PA-I": Runner(lambda: aw.Sampler(aw.PassiveAggressive1(1.0), aw.Always(), seed=0).run(X, y), n),
        SELECTIVE: Runner(lambda: sel_p(b).run(X, y), n),
    }
    if not sp.issparse(X):
        a = scale_for(lasec_ss, X, y)
        found["askwhen LASEC-SS, 10 % asked, margins=False"] = Runner(lambda: lasec_ss(a).run(X, y, margins=False), n)
    default = Runner(lambda: aw.Sampler(seed=0).run(X[:head], y[:head], margins=False), head)
    return found | {"askwhen, the default, 10 % asked": default}


def sklearn_passes(X: Any, y: np.ndarray) -> dict[str, Runner]:
    from sklearn.linear_model import SGDClassifier

    def perceptron() -> Any:
        return SGDClassifier(loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0, shuffle=False)

    def pa1() -> Any:
        return SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, shuffle=False)

    def in_chunks(n: int, size: int = 100) -> None:
        model = perceptron()
        for first in range(0, n, size):
            if first:
                model.predict(X[first : first + size])
            model.partial_fit(X[first : first + size], y[first : first + size], classes=[-1, 1])

    n, head = len(y), min(len(y), 20_000)
    return {
        "scikit-learn perceptron, bulk, predicts nothing": Runner(
            lambda: perceptron().partial_fit(X, y, classes=[-1, 1]), n
        ),
        "scikit-learn pa1, bulk, predicts nothing": Runner(
            lambda: pa1().partial_fit(X, y, classes=[-1, 1]), n, "askwhen PA-I"
        ),
        "scikit-learn, predict then learn chunks of 100": Runner(partial(in_chunks, head), head),
    }


def vw_lines(X: Any, y: np.ndarray, n: int) -> Iterator[str]:
    """The first n instances as Vowpal Wabbit's text."""
    for i in range(min(n, len(y))):
        row = X[i]
        pairs = zip(row.indices.tolist(), row.data.tolist(), strict=True) if sp.issparse(X) else enumerate(row.tolist())
        yield f"{y[i]:.0f} | " + " ".join(f"{j}:{v:.6f}" for j, v in pairs) + "\n"


@contextmanager
def vw_passes(X: Any, y: np.ndarray) -> Iterator[dict[str, Runner]]:
    from vowpalwabbit import pyvw

    n = min(len(y), 50_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.vw"
        path.write_text("".join(vw_lines(X, y, n)))
        learns = f"--quiet -b 18 --loss_function hinge -d {path}"

        def run(command: str) -> None:
            pyvw.Workspace(command).finish()

        run(f"{learns} -c -k")
        asks, asked = vw_asking(path, n)
        yield {
            "Vowpal Wabbit, every label, from its cache": Runner(lambda: run(f"{learns} -c"), n),
            f"Vowpal Wabbit --active, {asked}, from its cache": Runner(lambda: run(f"{asks} -c"), n, SELECTIVE),
            f"Vowpal Wabbit --active, {asked}, from text": Runner(lambda: run(asks), n, SELECTIVE),
        }


def vw_asking(path: Path, n: int, share: float = 0.1) -> tuple[str, str]:
    """The command that asks for the share nearest to this that bisection finds, and what it asks for."""
    from vowpalwabbit import pyvw

    base = f"-b 18 --loss_function logistic --active --simulation --invariant --normalized -d {path}"
    low, high, tries = 1e-12, 1e4, []
    for _ in range(12):
        knob = (low * high) ** 0.5
        model = pyvw.Workspace(f"{base} --mellowness {knob:.9g}", enable_logging=True)
        model.finish()
        asked = next(int(line.split("=")[1]) for line in model.get_log() if line.startswith("total queries")) / n
        tries.append((abs(asked - share), knob, asked))
        low, high = (low, knob) if asked > share else (knob, high)
    _, knob, asked = min(tries)
    return f"--quiet {base} --mellowness {knob:.9g}", f"{asked:.0%} asked"


def next_runners(X: Any, y: np.ndarray) -> dict[str, Runner]:
    """Predict and learn examples that were parsed before, or lines of text as they come."""
    from vowpal_wabbit_next import TextFormatParser, Workspace

    n = min(len(y), HEAD["vowpal_wabbit_next"])
    parser = TextFormatParser(Workspace(["--quiet"]))
    lines = list(vw_lines(X, y, n))
    examples = [parser.parse_line(line) for line in lines]

    def new() -> Any:
        return Workspace(["--quiet", "-b", "18", "--loss_function", "logistic"])

    def parsed() -> None:
        model = new()
        for example in examples:
            model.predict_then_learn_one(example)

    def read() -> None:
        model = new()
        reader = TextFormatParser(model)
        for line in lines:
            model.predict_then_learn_one(reader.parse_line(line))

    return {
        "vowpal_wabbit_next, lines of text": Runner(read, n),
        "vowpal_wabbit_next, examples parsed before": Runner(parsed, n),
    }


def as_dicts(X: Any, y: np.ndarray, n: int) -> list[tuple[dict[int, float], bool]]:
    found = []
    for i in range(min(n, len(y))):
        row = X[i]
        pairs = zip(row.indices.tolist(), row.data.tolist(), strict=True) if sp.issparse(X) else enumerate(row.tolist())
        found.append((dict(pairs), bool(y[i] > 0)))
    return found


def river_runners(X: Any, y: np.ndarray, pa: str = "") -> dict[str, Runner]:
    from river.active import EntropySampler
    from river.linear_model import LogisticRegression, PAClassifier, Perceptron
    from river.optim import SGD

    rows = as_dicts(X, y, HEAD["river"])

    def each(build: Callable[[], Any]) -> None:
        model = build()
        for x, label in rows:
            model.predict_one(x)
            model.learn_one(x, label)

    def asks(discount: float) -> float:
        model: Any = EntropySampler(LogisticRegression(SGD(1.0)), discount_factor=discount, seed=0)
        asked = 0
        for x, label in rows:
            _, ask = model.predict_one(x)
            if ask:
                asked += 1
                model.learn_one(x, label)
        return asked / len(rows)

    low, high = 1e-2, 1e4
    for _ in range(12):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if asks(middle) > 0.1 else (low, middle)
    return {
        "river Perceptron": Runner(partial(each, Perceptron), len(rows)),
        "river PAClassifier": Runner(partial(each, partial(PAClassifier, C=1.0, mode=1)), len(rows), pa),
        f"river EntropySampler, {asks(high):.0%} asked": Runner(partial(asks, high), len(rows), SELECTIVE),
    }


def sklearn_single(X: Any, y: np.ndarray) -> Runner:
    from sklearn.linear_model import SGDClassifier

    n = min(len(y), HEAD["sklearn"])

    def call() -> None:
        model = SGDClassifier(loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0)
        model.partial_fit(X[:1], y[:1], classes=[-1, 1])
        for i in range(1, n):
            model.predict(X[i : i + 1])
            model.partial_fit(X[i : i + 1], y[i : i + 1])

    return Runner(call, n)


def activeml_single(X: Any, y: np.ndarray) -> Runner:
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.stream import VariableUncertainty
    from sklearn.linear_model import SGDClassifier

    n = min(len(y), HEAD["skactiveml"])

    def call() -> None:
        model = SklearnClassifier(SGDClassifier(loss="log_loss", random_state=0), classes=[-1, 1])
        model.fit(X[:2], y[:2])
        strategy = VariableUncertainty(budget=0.1, random_state=0)
        for i in range(2, n):
            x = X[i : i + 1]
            model.predict(x)
            chosen = strategy.query(x, model)
            strategy.update(x, chosen)
            if len(chosen):
                model.partial_fit(x, y[i : i + 1])

    return Runner(call, n, SELECTIVE)


def our_singles(X: Any, y: np.ndarray) -> dict[str, Runner]:
    n = min(len(y), 10_000)
    rows, labels = [X[i] for i in range(n)], y[:n].tolist()

    def all_told() -> None:
        sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)
        for x, label in zip(rows, labels, strict=True):
            sampler.tell(sampler.ask(x), label)

    def some_told(build: Callable[[], aw.Sampler]) -> None:
        sampler = build()
        for x, label in zip(rows, labels, strict=True):
            ask = sampler.ask(x)
            if ask.query:
                sampler.tell(ask, label)

    b = scale_for(sel_p, X[:n], y[:n])
    found = {
        "askwhen Perceptron, every label": Runner(all_told, n),
        SELECTIVE: Runner(partial(some_told, lambda: sel_p(b)), n),
    }
    if not sp.issparse(X):
        found["askwhen, the default, 10 % asked"] = Runner(partial(some_told, lambda: aw.Sampler(seed=0)), n)

        def bare() -> None:
            w = np.zeros(X.shape[1])
            for x, label in zip(rows, labels, strict=True):
                if label * (w @ x) <= 0:
                    w += label * x

        found["numpy, three lines that check nothing"] = Runner(bare, n)
    return found


def passes(names: list[str], repeats: int) -> dict[str, Any]:
    found = {}
    for name in names:
        X, y = WORKLOADS[name]()
        runners = our_passes(X, y)
        if installed("sklearn"):
            runners |= sklearn_passes(X, y)
        if installed("river"):
            runners |= river_runners(X, y, "askwhen PA-I")
        if installed("skactiveml") and name == "W1":
            runners["scikit-activeml VariableUncertainty"] = activeml_single(X, y)
        title = f"{name}: a whole pass through {X.shape[0]:,} x {X.shape[1]:,}"
        if installed("vowpalwabbit"):
            with vw_passes(X, y) as more:
                found[name] = contest(title, runners | more, repeats, "askwhen Perceptron")
        else:
            found[name] = contest(title, runners, repeats, "askwhen Perceptron")
    return found


def singles(names: list[str], repeats: int) -> dict[str, Any]:
    found = {}
    for name in names:
        X, y = WORKLOADS[name]()
        runners = our_singles(X, y)
        if installed("vowpal_wabbit_next"):
            runners |= next_runners(X, y)
        if installed("river"):
            runners |= river_runners(X, y)
        if installed("sklearn"):
            runners["scikit-learn predict, partial_fit"] = sklearn_single(X, y)
        if installed("skactiveml") and not sp.issparse(X):
            runners["scikit-activeml VariableUncertainty"] = activeml_single(X, y)
        title = f"{name}: one instance at a time, {X.shape[1]:,} features"
        found[name] = contest(title, runners, 3 * repeats, "askwhen Perceptron, every label")
    return found


def files(repeats: int, rows: int) -> dict[str, Any]:
    found = {}
    X, y = WORKLOADS["W3"]()
    X, y = X[:rows], y[:rows]
    with tempfile.TemporaryDirectory() as folder:
        svm, vw = Path(folder) / "w3.svm", Path(folder) / "w3.vw"
        lines = list(vw_lines(X, y, rows))
        vw.write_text("".join(lines))
        svm.write_text("".join(line.replace(" | ", " ") for line in lines))

        def ours(path: Path) -> None:
            sampler = sel_p(0.1)
            for A, b in aw.data.read(path, n_features=X.shape[1], zero_based=True):
                sampler.run(A, b, trace=False)

        runners = {"askwhen, svmlight to SEL-P": Runner(lambda: ours(svm), rows)}
        if installed("vowpalwabbit"):
            from vowpalwabbit import pyvw

            command, asked = vw_asking(vw, rows)
            runners[f"Vowpal Wabbit --active, {asked}, its text"] = Runner(
                lambda: pyvw.Workspace(command).finish(), rows
            )
        if installed("sklearn"):
            from sklearn.datasets import load_svmlight_file
            from sklearn.linear_model import SGDClassifier

            def read_and_learn() -> None:
                A, b = load_svmlight_file(str(svm), n_features=X.shape[1], zero_based=True)
                A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)  # or it is refused
                SGDClassifier(loss="perceptron", penalty=None, shuffle=False).partial_fit(A, b, classes=[-1, 1])

            runners["scikit-learn, svmlight to a bulk pass, no predictions"] = Runner(read_and_learn, rows)
        title = f"W3 from a text file of {svm.stat().st_size / 1e6:.0f} MB to a result"
        found["W3"] = contest(title, runners, repeats, "askwhen, svmlight to SEL-P")
        found["W1"] = csv_file(Path(folder) / "w1.csv", repeats)
    return found


def csv_file(path: Path, repeats: int) -> dict[str, float]:
    X, y = WORKLOADS["W1"]()
    names = [f"f{j}" for j in range(X.shape[1])]
    np.savetxt(path, np.column_stack([X, y]), "%.7g", ",", header=",".join([*names, "label"]), comments="")

    def ours() -> None:
        sampler = sel_p(0.1)
        for A, b in aw.data.read(path, label="label"):
            sampler.run(A, b, trace=False)

    runners = {"askwhen, CSV to SEL-P": Runner(ours, len(y))}
    if installed("pandas") and installed("sklearn"):
        import pandas
        from sklearn.linear_model import SGDClassifier

        def read() -> tuple[Any, Any, Any]:
            frame = pandas.read_csv(path)
            model = SGDClassifier(loss="perceptron", penalty=None, shuffle=False)
            return model, frame[names].to_numpy(), frame["label"].to_numpy()

        def in_chunks() -> None:
            model, A, b = read()
            for first in range(0, len(b), 100):
                if first:
                    model.predict(A[first : first + 100])
                model.partial_fit(A[first : first + 100], b[first : first + 100], classes=[-1, 1])

        def in_bulk() -> None:
            model, A, b = read()
            model.partial_fit(A, b, classes=[-1, 1])

        runners["pandas, then scikit-learn in chunks of 100"] = Runner(in_chunks, len(y))
        runners["pandas, then scikit-learn in bulk, no predictions"] = Runner(in_bulk, len(y))
    if installed("river"):
        from river.linear_model import Perceptron
        from river.stream import iter_csv

        def stream() -> None:
            model = Perceptron()
            for x, label in iter_csv(str(path), target="label", converters=dict.fromkeys([*names, "label"], float)):
                model.predict_one(x)
                model.learn_one(x, label > 0)

        runners["river, iter_csv to Perceptron"] = Runner(stream, len(y))
    title = f"W1 from a CSV file of {path.stat().st_size / 1e6:.1f} MB to a result"
    return contest(title, runners, repeats, "askwhen, CSV to SEL-P")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="some of passes, singles and files; all of them by default")
    parser.add_argument("--workloads", default="W1,W2,W3,W4", help="for passes, and W1 and W3 for singles")
    parser.add_argument("--quick", action="store_true", help="best of two, fewer rows in files")
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    options = parser.parse_args()
    repeats = 2 if options.quick else 5
    names, parts = options.workloads.split(","), options.parts or ["passes", "singles", "files"]
    if not set(names) <= set(WORKLOADS):
        parser.error(f"--workloads must be some of {', '.join(WORKLOADS)}, got {options.workloads!r}")
    if not set(parts) <= {"passes", "singles", "files"}:
        parser.error(f"there are passes, singles and files, not {' '.join(parts)}")
    if options.json is not None:
        options.json.write_text("{}")  # minutes are too long to find out that it cannot be written
    warnings.simplefilter("ignore")
    print(f"askwhen {aw.__version__}, numpy {np.__version__}, Python {sys.version.split()[0]}; best of {repeats}")
    versions = {name: version(name) for name in PACKAGES if installed_version(name)}
    found: dict[str, Any] = {"python": sys.version.split()[0], "repeats": repeats, "versions": versions}
    if "passes" in parts:
        found["passes"] = passes(names, repeats)
    if "singles" in parts:
        found["singles"] = singles([name for name in names if name in ("W1", "W3")], repeats)
    if "files" in parts:
        found["files"] = files(repeats, 10_000 if options.quick else 100_000)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
