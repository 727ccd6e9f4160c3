"""Tables with columns of words and numbers, prepared by hand, since not every method takes words."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ..contract import Source


def telco(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    import polars as pl

    from raw_columns import prepared_by_hand

    table = pl.read_csv(Path(os.environ["ASKWHEN_DATA"]) / "telco_churn.csv.gz", infer_schema=False)
    table = table[rng.permutation(len(table))]
    return prepared_by_hand(table), np.where(table["Churn"] == "Yes", 1, 0)


STREAMS = [Source("telco", "Customers of a telephone company who leave or stay, shuffled.", telco)]
