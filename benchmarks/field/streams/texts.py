"""Texts, seen as vectors of all-MiniLM-L6-v2, shuffled."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.csv as arrow_csv

from ..contract import Source


def vectors(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    folder = Path(os.environ["ASKWHEN_DATA"])
    labels = np.array(arrow_csv.read_csv(folder / f"{name}.csv.gz")["label"].to_pylist())
    found = np.load(folder / f"{name}_minilm.npz")["vectors"].astype(float)
    order = rng.permutation(min(len(labels), len(found)))
    return found[order], labels[order]


STREAMS = [
    Source("agnews", "News of four kinds.", partial(vectors, "agnews")),
    Source("banking77", "Questions to a bank, 77 intents.", partial(vectors, "banking77")),
    Source("stance", "Sentences about the climate: agrees, disagrees, neutral.", partial(vectors, "stance")),
]
