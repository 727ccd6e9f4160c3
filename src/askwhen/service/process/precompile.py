"""Compiles in advance what streams of an algorithm need, for container images, so that no instance has to wait."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...evaluate.estimation.accuracy import accuracy
from ..domain.model import Model
from ..events.settings import NEWEST, Features, Settings, TextVectors

_ROUNDS = 12


def compile_streams(algorithm: str) -> None:
    """Play a few rounds of streams with two labels and with more, of numbers and of text."""
    kinds: list[tuple[Features, Any]] = [
        (Features(kind="numbers"), np.ones(3)),
        (Features(kind="text"), sp.csr_matrix(([1.0], [0], [0, 1]), (1, 3))),
    ]
    if algorithm == "default":
        vectors = TextVectors(name="any", width=4)
        kinds.append((Features(kind="text", places=3, vectors=vectors), sp.csr_matrix(np.ones((1, 7)))))
    for labels in (["no", "yes"], ["a", "b", "c"]):
        for features, x in kinds:
            settings = Settings(labels=labels, algorithm=algorithm, features=features, seed=1, version=NEWEST)
            model = Model(settings)
            for time in range(_ROUNDS):
                ask = model.ask(x, float(time)).ask
                if ask.query:
                    model.tell(ask.round, labels[time % 2])
            model.learn(x, labels[0])
            accuracy(model.sampler)
