"""Keyed streams as one would write them without thinking of stores: a dict of samplers and a loop."""

import numpy as np
import scipy.sparse as sp

from askwhen.engine.inputs.two_labels import NO_PAIR, SIGNS
from askwhen.errors import AskwhenError
from askwhen.keyed.seeds import seed_of
from askwhen.snapshot import engine_state, file_format


def fingerprint(sampler):
    return file_format.pack(*engine_state.dump(sampler.engine, []))


def as_row(x, features):
    if isinstance(x, list):
        return np.array(x, float)
    row = sp.lil_matrix((1, features))
    for place, value in x.items():
        row[0, int(place)] = value
    return row.tocsr()


class Reference:
    """Plays a partition's events one after the other."""

    def __init__(self, make, seed, features=None):
        self.make, self.seed, self.features = make, seed, features
        self.samplers, self.decisions, self.refused, self.times = {}, [], 0, {}

    def play(self, event):
        key, time = event["key"], event.get("time")
        sampler = self.samplers.get(key)
        if sampler is None:
            sampler = self.make(seed_of(self.seed, key))
            if sampler.engine.answers is None and sampler.engine.pair == NO_PAIR:  # the labels of all keys are the same
                sampler.engine.pair = NO_PAIR if sampler.engine.regression else SIGNS
        try:
            if "x" in event and "label" not in event:
                if time is not None:
                    time = self.times[key] = max(time, self.times.get(key, time))
                ask = sampler.ask(as_row(event["x"], self.features), time=time)
                names = ("round", "prediction", "margin", "uncertainty", "probability", "query", "certainty")
                facts = {name: value for name, value in zip(names, ask, strict=True) if value is not None}
                self.decisions.append({"key": key} | facts)
            elif "x" in event:
                sampler.learn(as_row(event["x"], self.features), event["label"])
            elif event.get("forget"):
                sampler.forget(event["round"])
            else:
                sampler.tell(event["round"], event["label"])
        except AskwhenError:
            self.refused += 1
            return None
        self.samplers[key] = sampler
        return self.decisions[-1] if "x" in event and "label" not in event else None

    def fingerprints(self):
        return {key: fingerprint(sampler) for key, sampler in sorted(self.samplers.items())}
