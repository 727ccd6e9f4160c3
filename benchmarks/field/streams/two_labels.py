"""Streams of two labels: those of ``streams.py``."""

from __future__ import annotations

from peer_labels import ORDERED
from streams import DRIFTING, STILL

from ..contract import Source

GENERATED = ("synthetic", "digits")
"""What is made here, or comes with scikit-learn."""

NAMES = {
    "digits": "digits, odd or even",
    "usps": "usps, switching",
    "rcv1": "rcv1, companies or not",
    "reuters": "reuters, earnings or not",
}
STREAMS = [
    Source(
        NAMES.get(name, name),
        (rows.__doc__ or "").splitlines()[0],
        rows,
        ordered=name in ORDERED,
        needs_data=name not in GENERATED,
    )
    for name, rows in (DRIFTING | STILL).items()
]
