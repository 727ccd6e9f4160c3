"""``OneVsRest``: the older name of a sampler with several classes. It also reads files of the first release."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from .contracts.learner import Learner
from .contracts.rule import Rule
from .errors import SnapshotError
from .prepare import Prepare
from .rules import Audit
from .sampler import Sampler
from .snapshot import engine_state, file_format
from .snapshot.legacy import first_release_classes
from .weights.kernels import Kernel


class OneVsRest(Sampler):
    """A :class:`askwhen.Sampler` with classes: predicts one of them, with one question for all.

    Parameters
    ----------
    classes : list or "open"
        At least two different labels, strings or numbers; or "open", where every new label adds a class.
    learner, rule, prepare, audit, seed : optional
        As in :class:`askwhen.Sampler`. A learner for two labels is copied: one for each class against the rest.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((3000, 4))
    >>> y = np.array(["a", "b", "c"])[X[:, :3].argmax(axis=1)]
    >>> sampler = aw.OneVsRest(["a", "b", "c"], seed=7)
    >>> trace = sampler.run(X, y)
    >>> trace.questions <= 330 and trace.mistakes < 600
    True
    >>> sampler.ask([3.0, 0.0, 0.0, 0.0]).prediction
    'a'
    """

    def __init__(
        self,
        classes: Any,
        learner: Learner | None = None,
        rule: Rule | None = None,
        prepare: Prepare | None = None,
        audit: Audit | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(learner, rule, None, prepare, audit, seed, classes=classes)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, kernel: Kernel | None = None, parts: Iterable[type] = ()
    ) -> OneVsRest:
        """Load from a file; it continues exactly where ``save`` left it; see ``Sampler.load``."""
        header, arrays = file_format.read(path)
        if first_release_classes.KEY in header:
            engine = first_release_classes.restore(
                header, arrays, lambda model: engine_state.restore(model, arrays, kernel, True, parts)
            )
            return cls.of(engine)  # type: ignore[return-value]
        if "classes" not in header:
            engine_state.check_kind(header, "Sampler")
            raise SnapshotError("the file holds a Sampler without classes; use Sampler.load.", owner="load")
        return super().load(path, kernel=kernel, parts=parts)  # type: ignore[return-value]
