"""What crowd-kit's Dawid and Skene makes of answers, beside which the service's weights are tested.

crowd-kit needs transformers and nltk to be imported, so it is not among the packages that tests install. In an
environment that has it, ``python -m tests.service.crowd_kit`` writes crowd_kit.json again: the answers, a digit for
each of three people, and the labels that crowd-kit 1.4.2 gave them.
"""

import json
import pathlib

import numpy as np

FILE = pathlib.Path(__file__).with_suffix(".json")
LABELS = 3


def answered(number=900):
    """Labels that are right, and what three people say, of whom one is nearly always right."""
    draw = np.random.default_rng(4)
    truth = draw.integers(LABELS, size=number)
    wrong = (truth[:, None] + draw.integers(1, LABELS, size=(number, 3))) % LABELS
    return truth, np.where(draw.random((number, 3)) < [0.95, 0.6, 0.6], truth[:, None], wrong)


def stored():
    """The answers in the file, and crowd-kit's labels."""
    found = json.loads(FILE.read_text())
    return np.array([list(map(int, each)) for each in found["answers"]]), np.array(list(map(int, found["labels"])))


def write():
    """Ask crowd-kit, and write the file."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    _, said = answered()
    number, people = said.shape
    every = {"task": np.repeat(np.arange(number), people), "worker": np.tile(np.arange(people), number)}
    labels = DawidSkene(n_iter=100).fit_predict(pd.DataFrame(every | {"label": said.ravel()}))
    lines = ["".join(map(str, line)) for line in said.tolist()]
    FILE.write_text(json.dumps({"answers": lines, "labels": "".join(map(str, labels.tolist()))}) + "\n")


if __name__ == "__main__":
    write()
