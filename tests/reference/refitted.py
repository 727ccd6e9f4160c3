"""A refitted model on a stream, naively: one row after the other, every recent gap computed again for every row."""

import math

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from threadpoolctl import threadpool_limits


def play(X, y, labels, seed, kind, by_margin):
    """Predictions, the rows that were asked about, and the number of fits; ``kind`` is logistic, ridge or trees."""
    with threadpool_limits(1):
        return _play(X, y, labels, seed, kind, by_margin)


def _play(X, y, labels, seed, kind, by_margin):
    n, draws = len(X), np.random.default_rng(seed).random(len(X))
    numbers = y.dtype.kind == "f"
    predictions, asked, fits, due, model, seen = [], [], 0, 1, None, 0
    growth = max(1.15, labels ** (1 / 50))

    def features(rows):
        rows = np.atleast_2d(rows)
        if kind == "trees":
            return rows
        spread = X[:seen].std(axis=0)
        return np.clip((rows - X[:seen].mean(axis=0)) / np.where(spread > 0, spread, 1), -10, 10)

    def gap(x):
        if model is None or isinstance(model, (int, float)):
            return 0.0
        chances = np.sort(model.predict_proba(features(x))[0])
        return chances[-1] - chances[-2]

    for t in range(n):
        x = X[t]
        if model is None or isinstance(model, (int, float)):
            predictions.append(model or 0)
        else:
            predictions.append(model.predict(features(x))[0])
        rate = (labels - len(asked)) / (n - t)
        if len(asked) < min(10, labels // 2):
            asks = draws[t] < max(rate, 0.5)
        elif by_margin:
            here, recent = gap(x), [gap(each) for each in X[max(t - 200, 0) : t]]
            smaller, equal = sum(g < here for g in recent), sum(g == here for g in recent) + 1
            asks = (smaller + draws[t] * equal) / (len(recent) + 1) < rate
        else:
            asks = draws[t] < rate
        if not asks:
            continue
        asked.append(t)
        if len(asked) < due:
            continue
        told = y[asked]
        if not numbers and len(set(told)) == 1:
            model, due = int(told[0]), len(asked) + 1
            continue
        leaf = max(1, min(20, len(asked) // 10))
        trees = {"min_samples_leaf": leaf, "early_stopping": False, "random_state": 0}
        if kind == "trees":
            new = HistGradientBoostingRegressor(**trees) if numbers else HistGradientBoostingClassifier(**trees)
        else:
            new = Ridge(alpha=1.0) if kind == "ridge" else LogisticRegression(C=1.0, max_iter=1000)
        seen = t + 1
        model = new.fit(features(X[asked]), told)
        fits, due = fits + 1, max(len(asked) + 2, math.ceil(growth * len(asked)))
    return np.array(predictions), np.array(asked), fits
