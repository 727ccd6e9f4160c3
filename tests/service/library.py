"""The library beside the service: a sampler that follows the log of a stream, event by event."""

import numpy as np

from askwhen.service.domain import row_codec
from askwhen.service.domain.model import build
from askwhen.service.events.kinds import Forgotten, Instance, Told, Volunteered, facts_of
from askwhen.snapshot import engine_state, file_format


class Library:
    """Plays every instance of a log with ``ask``, every told or forgotten question with ``tell`` and ``forget``, and
    every label that nobody asked for with ``learn``."""

    def __init__(self, settings):
        self.sampler, self.labels = build(settings), settings.labels
        self.two = self.labels != "open" and len(self.labels) == 2
        self.rounds, self.rows = 0, {}

    def value(self, label):
        return 2 * self.labels.index(label) - 1 if self.two else label

    def said(self, said):
        if said.shares is not None:
            return {self.value(label): share for label, share in said.shares.items()}
        return (self.value(said.label), said.confidence)

    def follow(self, events):
        for event in events:
            fact = facts_of(event)
            if isinstance(fact, Instance):
                self.rows[event.seq] = row_codec.from_bytes(event.row)
                time = event.time if self.sampler.engine.needs_time else None
                decision = None if fact.repeats is None else "certain"
                advice = None if fact.advice is None else {name: self.said(each) for name, each in fact.advice.items()}
                ask = self.sampler.play(row_codec.from_bytes(event.row), time, decision, advice=advice).ask
                word = self.labels[(ask.prediction + 1) // 2] if self.two else ask.prediction
                assert (fact.round, fact.prediction, fact.asked) == (ask.round, word, ask.query)
                assert (fact.margin, fact.probability) == (ask.margin, ask.probability)
                assert fact.asked == (fact.coin < fact.probability)
                self.rounds += 1
            elif isinstance(fact, Told):
                self.sampler.tell(event.question, self.value(fact.label))
            elif isinstance(fact, Forgotten):
                self.sampler.forget(event.question)
            elif isinstance(fact, Volunteered) and fact.learnt:
                self.sampler.learn(self.rows[fact.instance], self.value(fact.label))


def bits(sampler):
    """Everything a sampler knows, as bytes."""
    header, arrays = engine_state.dump(sampler.engine, [])
    return file_format.pack(header, {name: np.array(array) for name, array in arrays.items()})
