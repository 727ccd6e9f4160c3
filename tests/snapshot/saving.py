"""A process that does nothing but save, to be killed in the middle of it."""

import numpy as np

import askwhen as aw


def save_over_and_over(path, begun):
    sampler = aw.paper("SOP", b=1.0, seed=1)
    sampler.ask(np.zeros(200))
    sampler.save(path)
    begun.send(True)
    while True:
        sampler.ask(np.ones(200))
        sampler.save(path)
