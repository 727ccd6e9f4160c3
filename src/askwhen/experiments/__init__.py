"""The papers' experiments: published and measured results."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from . import batch, lasec, passive_aggressive, switch, text
from .cell_runner import CellRunner
from .outcome import ExperimentResult, Play, ResultTable


class Experiment(NamedTuple):
    """An experiment: the function that runs it, its source, and a short description."""

    run: Callable[[Play, str], ExperimentResult]
    source: str
    line: str


DRIFT, SWITCH = "Moroshko, Crammer 2014", "Kravchik 2014"
EXPERIMENTS = {
    "lasec-synthetic": Experiment(lasec.synthetic, f"{DRIFT}, Figure 2 a, b, c, e", "a target that switches"),
    "lasec-usps": Experiment(lasec.usps, f"{DRIFT}, Figure 2 d, f", "digits whose groups switch"),
    "switch-classification": Experiment(switch.classification, SWITCH, "one switch, found by its detector"),
    "switch-regression": Experiment(switch.regression, SWITCH, "the same for numbers"),
    "selective-text": Experiment(text.study, "Cesa-Bianchi, Gentile, Zaniboni 2006, section 4", "topics of newswire"),
    "pa-svm": Experiment(passive_aggressive.study, "Ezukwoke, Zareian", "passive-aggressive compared with SVM"),
    "online-to-batch": Experiment(batch.study, "Batch learning via online prediction", "one classifier from a run"),
}

__all__ = ["EXPERIMENTS", "CellRunner", "Experiment", "ExperimentResult", "Play", "ResultTable"]
