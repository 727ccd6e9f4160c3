"""The papers' pseudocode typed out naively, with explicit inverses; written from the papers, not from the package.

Every function takes instances, labels, one coin for each round and the paper's letters, and gives a Played.
"""

from typing import NamedTuple

import numpy as np


class Played(NamedTuple):
    margin: np.ndarray
    probability: np.ndarray
    queried: np.ndarray
    updated: np.ndarray
    switches: list


def sgn(p):
    return 1.0 if p > 0 else -1.0


class Notes:
    """Collects what happened, round by round."""

    def __init__(self):
        self.rows = []
        self.switches = []

    def add(self, margin, probability, queried, updated):
        self.rows.append((margin, probability, queried, updated))

    def played(self):
        margin, probability, queried, updated = zip(*self.rows, strict=True)
        return Played(
            np.array(margin), np.array(probability), np.array(queried), np.array(updated), list(self.switches)
        )
