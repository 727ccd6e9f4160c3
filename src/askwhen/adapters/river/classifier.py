"""A sampler where river expects a classifier."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from river import base

from ...data.hashing import DEFAULT_FEATURES
from ...engine.inputs.argument_checks import check_new_label, check_origin
from ...errors import InputError
from ...prepare import STANDARD, PrepareState, statistics_of
from ...sampler import Sampler
from ...trace.trace import Ask
from ...validation import check_choice, check_count, check_flag
from .columns import NamedColumns, hashed_row

_COLUMNS = 64


class SelectiveClassifier(base.Classifier):
    """A sampler as a river classifier, of two labels or of several.

    ``learn_one`` is a simulation: it plays a round and uses the label only if the sampler asks for it, and to know the
    set of labels. ``ask_one`` and ``tell_one`` are for live use. The first label that comes is the negative one, unless
    it is True or 1.

    Features may be absent. A known name that is absent has no effect: standardised, it is 0. Only where its values
    have been whole numbers from 1 up, 1 among them (flags, counts, text), absent is the number 0.

    Parameters
    ----------
    learner, rule, drift, prepare, audit : optional
        The parts of a :class:`askwhen.Sampler`; by default the recommended ones, one label in ten.
    n_features : int, optional
        Number of columns, by default 64, or of places that names are hashed to, by default 2^18. A first instance with
        more names than columns raises an error; later names for which no column is left are ignored, with one warning.
        With the default learner the time of a round grows with the square of the columns.
    multiclass : bool, default False
        Whether there may be more than two labels: every new label opens a class, up to a hundred, with one question
        for all of them.
    features : {"vocabulary", "hashing"}, default "vocabulary"
        "vocabulary" is for records: every name gets a column of its own when it first comes, so that its values are
        standardised; text gets one for each "name=value". "hashing" is for words: sparse rows in which names share
        places by hashing, scaled to length 1 and not standardised, where absent means 0.
    seed : int, optional
        Random seed.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from askwhen.adapters.river import SelectiveClassifier
    >>> model = SelectiveClassifier(seed=1)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy()).get() > 0.8
    True
    >>> model.sampler.questions < 150
    True
    """

    def __init__(
        self,
        learner: Any = None,
        rule: Any = None,
        drift: Any = None,
        prepare: Any = None,
        audit: Any = None,
        n_features: int | None = None,
        features: str = "vocabulary",
        seed: int | None = None,
        multiclass: bool = False,
    ) -> None:
        # Nine parameters: river clones a model by the parameters of its __init__.
        if n_features is not None:
            check_count("SelectiveClassifier", "n_features", n_features)
        check_choice("SelectiveClassifier", "features", features, ("vocabulary", "hashing"))
        self.learner = learner
        self.rule = rule
        self.drift = drift
        self.prepare = prepare
        self.audit = audit
        self.n_features = n_features
        self.features = features
        self.seed = seed
        check_flag("SelectiveClassifier", "multiclass", multiclass)
        self.multiclass = multiclass
        self.sampler = Sampler(learner, rule, drift, prepare, audit, seed, classes="open" if multiclass else None)
        self._columns = NamedColumns(n_features or _COLUMNS) if features == "vocabulary" else None
        self._labels: dict[int, Any] = {}

    @property
    def _multiclass(self) -> bool:
        return bool(self.multiclass)

    @property
    def _raw_memory_usage(self) -> int:
        """Size of its pickle: river would walk into the compiled rounds, which all samplers share."""
        return len(pickle.dumps(self))

    def _values(self, owner: str, x: dict[Any, Any]) -> dict[Any, float]:
        """The instance as numbers by name; a text becomes the number 1 under the name "name=text"."""
        found: dict[Any, float] = {}
        for name, value in x.items():
            if isinstance(value, str):
                found[f"{name}={value}"] = 1.0
                continue
            try:
                found[name] = float(value)
            except (TypeError, ValueError):
                raise InputError(f"{name!r} must be a number or a string, got {value!r}.", owner=owner) from None
        return found

    @property
    def _statistics(self) -> PrepareState | None:
        """The running statistics that columns are standardised by, if they are."""
        engine = self.sampler.engine
        state = statistics_of(engine.prepare)
        if state is None and engine.parts.prepare is not None:
            state = engine.parts.prepare.start(self.n_features or _COLUMNS, False)
        return state if state is not None and state.kind == STANDARD else None

    def _play(self, owner: str, x: dict[Any, Any]) -> Ask:
        """Ask about x; its new names get columns."""
        values = self._values(owner, x)
        if self._columns is None:
            return self.sampler.ask(hashed_row(values, self.n_features or DEFAULT_FEATURES))
        return self._columns.play(owner, values, self._statistics, self.sampler.ask)

    def _sign(self, owner: str, y: Any) -> tuple[int, Any]:
        """-1 or +1, and its label. The first label that comes is the negative one, unless it is True or 1."""
        y = y.item() if isinstance(y, np.generic) else y
        if not isinstance(y, (bool, int, float, str)) or y != y:
            raise InputError(f"y must be a label, got {y!r}.", owner=owner)
        for sign, label in self._labels.items():
            if label == y:
                return sign, label
        if len(self._labels) == 2:
            raise InputError(f"y must be one of two labels, {list(self._labels.values())}, got {y!r}.", owner=owner)
        return (-next(iter(self._labels)) if self._labels else 1 if y == 1 else -1), y

    def _label(self, p: float) -> Any:
        """The label of a margin; while only one label has come, that one, or its opposite if it is True or False."""
        sign = 1 if p > 0.0 else -1
        if sign in self._labels or not self._labels:
            return self._labels.get(sign)
        only = self._labels[-sign]
        return (not only) if isinstance(only, bool) else only

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Play a round; the label is learnt only if it is asked for."""
        if self.multiclass:
            label = check_new_label("learn_one", self.sampler.classes or [], y)
            ask = self._play("learn_one", x)
            if ask.query:
                self.sampler.tell(ask, label)
            return
        sign, label = self._sign("learn_one", y)
        ask = self._play("learn_one", x)
        self._labels[sign] = label
        if ask.query:
            self.sampler.tell(ask, sign)

    def _row(self, owner: str, x: dict[Any, Any]) -> Any:
        values = self._values(owner, x)
        if self._columns is None:
            return hashed_row(values, self.n_features or DEFAULT_FEATURES)
        return self._columns.row(values, self._statistics)[None]

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """The label, without playing a round; None before any is known."""
        row = self._row("predict_one", x)
        if self.multiclass:
            return self.sampler.predict(row, live=True)[0].item() if self.sampler.classes else None
        return self._label(float(self.sampler.margins(row, live=True)[0]))

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The probability of each label that has come, without playing a round; see ``Sampler.probabilities``.

        Before any has, the labels are False and True.
        """
        row = self._row("predict_proba_one", x)
        if self.multiclass:
            chances = self.sampler.probabilities(row, live=True)[0].tolist() if self.sampler.classes else []
            return dict(zip(self.sampler.classes or [], chances, strict=True))
        p = float(self.sampler.margins(row, live=True)[0])
        likely, other = self._label(p), self._label(-p if p != 0.0 else 1.0)
        if likely is None:
            likely, other = p > 0.0, not p > 0.0
        if likely == other:
            return {likely: 1.0}
        positive = float(self.sampler.engine.probabilities(np.array([p]))[0])
        right = positive if p > 0.0 else 1.0 - positive
        return {likely: right, other: 1.0 - right}

    def ask_one(self, x: dict[Any, Any]) -> Ask:
        """Play a round: predict x and say whether its label is worth asking for."""
        ask = self._play("ask_one", x)
        if self.multiclass:
            return ask
        return ask._replace(prediction=self._label(ask.margin))

    def tell_one(self, ask: Ask | int, y: Any) -> None:
        """Give the label of a question."""
        if self.multiclass:
            self.sampler.tell(ask, y)
            return
        sign, label = self._sign("tell_one", y)
        check_origin("tell_one", self.sampler.engine.origin, ask)
        self.sampler.tell(ask.round if isinstance(ask, Ask) else ask, sign)
        self._labels[sign] = label
