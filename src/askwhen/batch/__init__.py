"""From online to batch: one classifier from all hypotheses of a run.

"Batch learning via online prediction". f_1 .. f_n are the hypotheses before each round, f_n+1 the one after the
last; successive ones are equal until the next update.

==========  ==========================================================
random      f_T with T uniform on 1 .. n + 1 (Theorem 1: its expected error is the expected share of mistakes)
vote        the majority of all f_t; at most twice the error of the random pick
average     the mean of their weight vectors
last        f_n+1
==========  ==========================================================

T is drawn while the stream is read: f_t replaces the pick with probability 1/t. Votes and averages come from the log
of changes that :mod:`askwhen.batch.change_log` writes.
"""

from __future__ import annotations

import copy
import os
from typing import Any, Self

import numpy as np

from ..data.stream_pieces import pieces_of
from ..engine.inputs.argument_checks import check_class_labels
from ..engine.inputs.instance_checks import check_names
from ..engine.inputs.two_labels import signs_of
from ..errors import InputError, SnapshotError, owned_by
from ..sampler import Sampler
from ..snapshot import engine_state, file_format
from ..snapshot.header import UNREADABLE, count
from ..validation import check_choice, check_count, check_seed, short
from ..weights.kernels import Kernel
from . import class_models
from .models import MAKERS, MODELS
from .replay import Run


def online_to_batch(
    sampler: Sampler,
    X: Any,
    y: Any = None,
    how: str = "average",
    *,
    passes: int = 1,
    times: Any = None,
    seed: int | None = None,
) -> BatchClassifier:
    """Run a copy of the sampler over labelled instances and make one classifier from all its hypotheses.

    The sampler itself does not change. As in ``run``, only the labels that its rule asks for are learnt.

    Parameters
    ----------
    sampler : Sampler
        A classifier of two labels or of several classes, new or not: its current hypothesis is the first one.
    X, y : arrays, or a stream
        Instances and their labels. Without y, X is an iterable of ``(X, y)`` chunks, or ``(X, y, times)``, which is
        read once and never held in memory.
    how : {"average", "vote", "random", "last"}, default "average"
        The mean of the weight vectors, the majority of the predictions, a hypothesis picked uniformly at random, or
        the last one. Memory in addition to the sampler's: constant for "random" and "last"; a vector (in dual form
        every learnt instance with a number) for "average"; for "vote", the changes of each of k updates: O(k nnz) for
        first-order learners, O(k d) or in dual form O(k^2) for second-order ones.
    passes : int, default 1
        Number of passes through the instances; from the second on in a new random order (of the rows of each chunk,
        for a stream).
    times : array, optional
        Time of each instance, for a rule with a budget per period of time.
    seed : int, optional
        Seed of the pick and of the order of further passes; by default the sampler's own seed.

    Returns
    -------
    BatchClassifier
        With ``predict``, ``decision_function``, ``save`` and ``load``.

    Notes
    -----
    A ``Prepare`` that standardises changes in every round. Votes and averages are over the learner's hypotheses with
    the preparation at the end of the run; "random" has that of its round.

    ``AutoLasec`` predicts with a quadratic form for each drift level, so its hypotheses are not vectors: the average is
    that of ``sampler.weights`` (in dual form of its coefficients), and a vote learns all updates again for every call
    of ``predict``, O(k d^2) for each instance. So does a vote of several classes, with any learner.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((2000, 5))
    >>> y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1, -1)
    >>> sampler = aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), seed=7)
    >>> model = aw.online_to_batch(sampler, X[:1000], y[:1000], "vote")
    >>> bool((model.predict(X[1000:]) == y[1000:]).mean() > 0.95)
    True
    """
    if not isinstance(sampler, Sampler):
        raise InputError(f"sampler must be a Sampler, got {type(sampler).__name__}.", owner="online_to_batch")
    check_choice("online_to_batch", "how", how, tuple(MAKERS))
    check_count("online_to_batch", "passes", passes)
    check_seed("online_to_batch", seed)
    if sampler.tasks:
        raise InputError("this sampler has tasks; give one of sampler.tasks.", owner="online_to_batch")
    engine = sampler.engine
    if sampler.costs is not None or engine.most:
        reason = "costs move its boundary" if sampler.costs is not None else "its classes are open"
        raise InputError(
            f"cannot make one classifier of this sampler's hypotheses, since {reason}.", owner="online_to_batch"
        )
    if sampler.learner.regression:
        raise InputError(f"needs a classifier, got the regressor {short(sampler.learner)}.", owner="online_to_batch")
    sampler = copy.deepcopy(sampler)
    engine = sampler.engine
    if passes > 1 and engine.needs_time:
        raise InputError(
            f"passes must be 1, since {short(sampler.rule)} has a budget per period of time.", owner="online_to_batch"
        )
    seed = engine.seed if seed is None else seed
    order, pick = np.random.SeedSequence(seed).spawn(2)
    run = Run(sampler, pieces_of("online_to_batch", X, y, times, int(passes), order), np.random.default_rng(pick))
    makers = MAKERS if engine.answers is None else class_models.MAKERS
    model = makers[how](run)
    if engine.pair.written is not None:  # a hypothesis may be older than the knowledge of how labels are written
        model.sampler.engine.pair = engine.pair
    return BatchClassifier(model, how, run, engine.names)


class BatchClassifier:
    """A classifier from all hypotheses of a run, with the interface of a fitted scikit-learn classifier.

    It is never trained again: ``fit`` and ``clone`` return itself, so that cross-validation would only predict.

    Attributes
    ----------
    how : str
        "average", "vote", "random" or "last".
    rounds, questions, updates, mistakes : int
        Counts of the run, over all passes.
    hypotheses : int
        Number of different hypotheses of the run.
    classes_ : array
        The two labels, the negative one first, or the classes.
    """

    def __init__(self, model: Any, how: str, run: Any, names: tuple[str, ...] | None = None) -> None:
        self.how = how
        self.rounds, self.questions, self.updates, self.mistakes = (int(count) for count in run.counts)
        self.hypotheses = int(run.hypotheses)
        self.classes_ = np.array(model.sampler.classes)
        self.n_features_in_ = int(model.sampler.engine.shape.d)
        self._names = model.sampler.feature_names if names is None else names
        self._model = model

    def __repr__(self) -> str:
        return f"<BatchClassifier: {self.how} of {self.hypotheses} hypotheses from {self.rounds} rounds>"

    def decision_function(self, X: Any) -> np.ndarray:
        """Positive for +1: w.x of an average, the margin of one hypothesis, or the share of votes for +1 less the rest.

        With several classes, a column for each: w.x, the margin, or the share of the votes. The margin of a
        second-order hypothesis is w.x / (1 + q), so thresholds do not carry over to its averages.
        """
        with owned_by("decision_function"):
            check_names("decision_function", X, self._names)
            return self._model.margins(X)  # type: ignore[no-any-return]

    def predict(self, X: Any) -> np.ndarray:
        """The labels; a tied vote is the negative one, as a margin of 0 is, or the first of several classes."""
        with owned_by("predict"):
            found = self.decision_function(X)
        best = found.argmax(axis=1) if found.ndim == 2 else (found > 0.0).astype(int)
        return np.asarray(self.classes_[best])

    def score(self, X: Any, y: Any) -> float:
        """Accuracy on these instances."""
        found, engine = self.predict(X), self._model.sampler.engine
        if engine.answers is not None:
            labels = self.classes_[check_class_labels("score", engine.places, y, len(found)).astype(int)]
        else:
            signs, _ = signs_of("score", y, len(found), engine.pair)
            labels = engine.pair.decode(signs)
        return float(np.mean(found == labels))

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Return itself: it is fitted already, and is not trained again."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        tags = Tags("classifier", TargetTags(required=True), input_tags=InputTags(sparse=True))
        tags.classifier_tags = ClassifierTags(multi_class=len(self.classes_) > 2)
        return tags

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """An empty dict: a fitted classifier has no parameters to change."""
        return {}

    def set_params(self, **params: Any) -> Self:
        """Return itself; there are no parameters to set."""
        if params:
            raise InputError(f"a batch classifier has no parameters, got {', '.join(params)}.", owner="set_params")
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file. A crash leaves an old file intact."""
        header, arrays = self._model.dump()
        counts = [self.rounds, self.questions, self.updates, self.mistakes]
        kinds = {model: name for name, model in (class_models.MODELS | MODELS).items()}
        about = {"kind": kinds[type(self._model)], "how": self.how, "counts": counts, "hypotheses": self.hypotheses}
        if self._names is not None:
            about["names"] = list(self._names)
        file_format.write(path, {"batch": about, "model": header}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, kernel: Kernel | None = None) -> BatchClassifier:
        """Load what ``save`` wrote; a learner with your own ``Kernel`` needs the same one again here."""
        header, arrays = file_format.read(path)
        try:
            engine_state.check_kind(header, "BatchClassifier")
            about = header["batch"]
            check_choice("load", "how", about["how"], tuple(MAKERS))
            counts = [count(number) for number in about["counts"]]
            model = (MODELS | class_models.MODELS)[about["kind"]].restore(header["model"], arrays, kernel)
            names = engine_state.read_names(about.get("names"), model.sampler.engine.shape.d)
            return cls(model, about["how"], _StoredCounts(counts, count(about["hypotheses"])), names)
        except SnapshotError:
            raise
        except UNREADABLE as error:
            raise SnapshotError(
                "the file does not hold a batch classifier that this version can read.", owner="load"
            ) from error


class _StoredCounts:
    """The counts of a run, as read from a file."""

    def __init__(self, counts: list[int], hypotheses: int) -> None:
        self.counts = counts
        self.hypotheses = hypotheses
