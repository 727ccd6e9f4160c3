"""Streams of several classes: those of ``classes.py``."""

from __future__ import annotations

import classes
from class_peers import ORDERED

from ..contract import Source

NAMES = {
    "digits": ("digits, ten classes", "Small images of ten digits, shuffled."),
    "usps": ("usps, ten classes", "Digits of the US Postal Service, shuffled."),
    "switching": ("switching, five classes", ""),
    "reuters": ("reuters, ten topics", ""),
    "reuters90": ("reuters, ninety topics", ""),
    "rcv1": ("rcv1, four topics", ""),
}
STREAMS = [
    Source(
        NAMES[name][0],
        NAMES[name][1] or (rows.__doc__ or "").splitlines()[0],
        rows,
        ordered=name in ORDERED,
        needs_data=name not in ("digits", "switching"),
    )
    for name, rows in classes.STREAMS.items()
]
