"""askwhen: the default, told the share and nothing else, and its learner asking at random."""

from __future__ import annotations

from typing import Any

import askwhen as aw

from ..contract import Method, Stream, Task


class Sampled:
    """A sampler, which sees the instances as they are."""

    def __init__(self, stream: Stream, task: Task, rule: Any) -> None:
        self.X, self.open = stream.X, dict[int, Any]()
        self.labels = [-1.0, 1.0] if stream.k == 2 else stream.labels
        self.places = {label: place for place, label in enumerate(self.labels)}
        self.sampler = aw.Sampler(rule=rule, seed=task.seed, classes=None if stream.k == 2 else stream.labels)

    def predict(self, t: int) -> tuple[int, bool]:
        """The sampler's own prediction and decision."""
        ask = self.sampler.ask(self.X[t])
        if ask.query:
            self.open[t] = ask
        return self.places[ask.prediction], ask.query

    def learn(self, t: int, c: int) -> None:
        """Answer the question of round t."""
        self.sampler.tell(self.open.pop(t), self.labels[c])


def default(stream: Stream, task: Task) -> Sampled:
    return Sampled(stream, task, aw.BudgetRule(task.share))


def at_random(stream: Stream, task: Task) -> Sampled:
    return Sampled(stream, task, aw.FixedRate(task.share))


DEFAULT = "askwhen, default"
METHODS = [Method(DEFAULT, "askwhen", default), Method("askwhen, at random", "askwhen", at_random)]
