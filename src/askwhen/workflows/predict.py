"""Predictions of a saved sampler for instances without labels, as columns that are ready to be written.

The probability of a label is that of ``Sampler.probabilities``: learnt from the labels that were asked for, whatever
the learner.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..contracts.sampler import SamplerLike
from ..errors import owned_by
from ..one_vs_rest import OneVsRest
from ..sampler import Sampler
from ..snapshot import file_format


def load(path: str | os.PathLike[str]) -> Sampler:
    """Load a saved sampler: for two labels, for numbers, for several classes, or the model of a stream of the service.

    A model that was downloaded from the service takes texts, records or arrays as its stream did, and predicts the
    labels of the stream: ``aw.load("mails.askwhen").predict(["win a prize now"])``.

    Parameters
    ----------
    path : str or path
        The file.
    """
    header, _ = file_format.read(path)
    return (OneVsRest if "one_vs_rest" in header else Sampler).load(path)


def predictions(sampler: SamplerLike, X: Any, words: Any = None, advice: Any = None) -> dict[str, np.ndarray]:
    """Columns with one prediction for each row of X; nothing is learnt.

    Parameters
    ----------
    sampler : Sampler, or anything that does what it does
        The model.
    X : array or CSR matrix
        The instances.
    words : (negative, positive), optional
        What -1 and +1 stand for; by default themselves.
    advice : dict, optional
        What advisers say, as for ``predict``.

    Returns
    -------
    dict of arrays
        ``value`` for a regressor. Otherwise ``label``, its ``margin``, and its ``probability``, by the labels that were
        asked for; with several classes also ``margin_`` and the class, for each.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> from askwhen.workflows.predict import predictions
    >>> X, y = aw.data.switching(500, 3, seed=0)
    >>> sampler = aw.Sampler(seed=0)
    >>> _ = sampler.run(X, y)
    >>> found = predictions(sampler, X[:2], words=("ham", "spam"))
    >>> found["label"].tolist(), bool((found["probability"] > 0.5).all())
    (['ham', 'spam'], True)
    """
    more = {} if advice is None else {"advice": advice}
    with owned_by("predictions"):
        p = sampler.margins(X, **more)
    if sampler.classes is None:
        return {"value": p}
    several = p.ndim == 2
    classes = list(words or sampler.classes)
    each = p if several else np.column_stack([-p, p])
    best = np.where(p > 0.0, 1, 0) if not several else each.argmax(axis=1)
    row = np.arange(len(best))
    found = {"label": np.array(classes)[best], "margin": each[row, best] if several else p}
    chance = sampler.probabilities(X, **more)
    found["probability"] = chance[row, best] if several else np.where(best == 1, chance, 1.0 - chance)
    if several:
        found |= {f"margin_{label}": each[:, k] for k, label in enumerate(classes)}
    return found
