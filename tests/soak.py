"""How often a test does what is long by nature: a few times, or with ASKWHEN_SOAK hundreds of times (``make soak``)."""

import os


def times(few, many):
    return many if os.environ.get("ASKWHEN_SOAK") else few
