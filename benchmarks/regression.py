"""Numbers from few labels: the default regressor compared with online regressors of river and scikit-learn.

    python benchmarks/regression.py [--shares 0.1,0.2] [--seeds 5]

Squared error over all rounds, each predicted before its label, as a share of the labels' variance: 100 is what the mean
gets. askwhen asks within its budget; the peers learn a random share of the same size, on features that they standardise
online, with their usual settings and three rates of river's linear regression.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import askwhen as aw
from askwhen.data import load

Stream = tuple[np.ndarray, np.ndarray]


def prices(rng: np.random.Generator) -> Stream:
    """Electricity prices of New South Wales from the other columns, half-hourly; they drift."""
    X = load("elec2").X[:10_000]
    return np.delete(X, 3, axis=1), X[:, 3]


def approval(rng: np.random.Generator) -> Stream:
    """A president's approval from polls, day by day (river's TrumpApproval)."""
    from river import datasets

    polls: Any = datasets.TrumpApproval
    rows = list(polls())
    return np.array([list(x.values()) for x, _ in rows], float), np.array([y for _, y in rows])


def diabetes(rng: np.random.Generator) -> Stream:
    """The progression of diabetes, shuffled (scikit-learn's)."""
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    order = rng.permutation(len(y))
    return X[order], y[order]


STREAMS = {"prices": prices, "approval": approval, "diabetes": diabetes}


def _river(make: Callable[[], Any]) -> Callable[[Stream, float, int], float]:
    def play(stream: Stream, share: float, seed: int) -> float:
        from river import preprocessing

        (X, y), rng = stream, np.random.default_rng(seed)
        model: Any = preprocessing.StandardScaler() | make()
        squares = 0.0
        for x, label in zip(X.tolist(), y.tolist(), strict=True):
            row = dict(enumerate(x))
            squares += (model.predict_one(row) - label) ** 2
            if rng.random() < share:
                model.learn_one(row, label)
        return squares / len(y)

    return play


def _peers() -> Iterator[tuple[str, Callable[[Stream, float, int], float]]]:
    from river import forest, linear_model, neighbors, optim, tree

    def linear(rate: float) -> Callable[[], Any]:
        return lambda: linear_model.LinearRegression(optim.SGD(rate))

    for rate in (0.003, 0.01, 0.03):
        yield f"river linear, rate {rate}", _river(linear(rate))
    yield "river Bayesian linear", _river(linear_model.BayesianLinearRegression)
    yield "river PA", _river(linear_model.PARegressor)
    yield "river adaptive Hoeffding tree", _river(lambda: tree.HoeffdingAdaptiveTreeRegressor(seed=1))
    yield "river adaptive random forest", _river(lambda: forest.ARFRegressor(seed=1))
    yield "river nearest neighbours", _river(neighbors.KNNRegressor)


def _sgd(stream: Stream, share: float, seed: int) -> float:
    from sklearn.linear_model import SGDRegressor
    from sklearn.preprocessing import StandardScaler

    (X, y), rng = stream, np.random.default_rng(seed)
    scaler, model, squares, begun = StandardScaler(), SGDRegressor(random_state=seed), 0.0, False
    for x, label in zip(X[:, None], y, strict=True):
        scaler.partial_fit(x)
        z = scaler.transform(x)
        squares += ((model.predict(z)[0] if begun else 0.0) - label) ** 2
        if rng.random() < share:
            model.partial_fit(z, [label])
            begun = True
    return squares / len(y)


def _ours(build: Callable[[float, int], aw.Sampler]) -> Callable[[Stream, float, int], float]:
    def play(stream: Stream, share: float, seed: int) -> float:
        trace = build(share, seed).run(*stream)
        return float(np.mean((trace.prediction - stream[1]) ** 2))

    return play


def _budget(share: float) -> aw.BudgetRule:
    return aw.BudgetRule(share, by="uncertainty")


OURS = {
    "askwhen, the default": _ours(lambda share, seed: aw.Sampler(rule=_budget(share), seed=seed, regression=True)),
    "askwhen, the default asking at random": _ours(
        lambda share, seed: aw.Sampler(rule=aw.FixedRate(share), seed=seed, regression=True)
    ),
    "askwhen, LeastSquares": _ours(
        lambda share, seed: aw.Sampler(
            aw.LeastSquares(regression=True), _budget(share), prepare=aw.Prepare(), seed=seed
        )
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shares", default="0.1,0.2")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    players = OURS | dict(_peers()) | {"scikit-learn SGDRegressor": _sgd}
    for share in map(float, options.shares.split(",")):
        print(f"\nSquared error in percent of the variance at {share:.0%} of the labels (standard error)\n")
        print("| | " + " | ".join(STREAMS) + " |")
        print("|---" * (len(STREAMS) + 1) + "|")
        for name, play in players.items():
            cells = []
            for make in STREAMS.values():
                found = []
                for seed in range(options.seeds):
                    stream = make(np.random.default_rng(1000 + seed))
                    found.append(100.0 * play(stream, share, seed) / stream[1].var())
                cells.append(f"{np.mean(found):.1f} ({np.std(found) / np.sqrt(len(found)):.1f})")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
