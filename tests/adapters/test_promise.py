"""A promise through scikit-learn, river and keyed streams, as with any rule."""

import numpy as np
import pytest

import askwhen as aw
from askwhen.adapters.river.sampler import RiverSampler
from askwhen.keyed.sampler_pool import SamplerPool
from askwhen.keyed.sampler_spec import SamplerSpec


def stream(n=1200):
    X = np.random.default_rng(2).standard_normal((n, 4))
    return X, np.where(X[:, 0] > 0.2, "spam", "ham")


def test_scikit_learn_delivers_the_labels_as_they_are_written():
    X, y = stream()
    model = aw.SelectiveClassifier(aw.Perceptron(), aw.PromiseRule(0.15), random_state=3).fit(X, y)
    assert set(model.delivered_) == {"ham", "spam"}
    assert (model.delivered_ != y).mean() <= model.sampler_.promise.certified <= 0.15
    limited = aw.SelectiveClassifier(aw.Perceptron(), aw.PromiseRule(0.15, most=100), random_state=3).fit(X, y)
    withheld = limited.trace_.withheld
    assert withheld.any()
    assert [label is None for label in limited.delivered_] == withheld.tolist()
    with pytest.raises(AttributeError, match="goes with rule=PromiseRule"):
        aw.SelectiveClassifier(aw.Perceptron(), random_state=3).fit(X, y).delivered_  # noqa: B018


class Threshold:
    """What a river classifier has: the first feature decides."""

    def predict_proba_one(self, x):
        p = 1.0 / (1.0 + np.exp(-8.0 * (x["a"] - 0.1)))
        return {True: p, False: 1.0 - p}

    def learn_one(self, x, y):
        return self


def test_river_delivers_too():
    X, y = stream()
    sampler, wrong = RiverSampler(Threshold(), aw.PromiseRule(0.15), labels=("ham", "spam"), seed=3), 0
    for x, label in zip(X, y, strict=True):
        ask = sampler.ask({"a": x[0]})
        wrong += ask.delivered not in (None, label)
        if ask.query:
            sampler.tell(ask, label)
    assert wrong / 1200 <= sampler.promise.certified <= 0.15
    assert sampler.promise.delivered == 1200
    assert sampler.questions < 1000
    assert set(sampler.promise.classes) == {"ham", "spam"}


def test_a_key_keeps_its_promise_in_a_store():
    X, y = stream()
    pool = SamplerPool(SamplerSpec.of(aw.Sampler(aw.Perceptron(), aw.PromiseRule(0.15), seed=1), 4, False), 4)
    held, alone = pool.new("ann"), pool.new("ann").sampler
    for i, (x, label) in enumerate(zip(X, np.where(y == "spam", 1, -1), strict=True)):
        for each in (held.sampler, alone):
            ask = each.ask(x)
            if ask.query:
                each.tell(ask, int(label))
        if i % 400 == 399:
            held = pool.restore("ann", pool.serialize_and_free(held))
    assert held.sampler.promise.certificate == alone.promise.certificate
    assert held.sampler.promise.is_met
