"""Whether what advisers said was right, in a simulation that knows all labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...contracts.abilities import CalledAdviser, LearningAdviser, provides
from ...engine.engine import Engine
from ...engine.inputs.advice import SILENT
from ...engine.inputs.advice_arguments import read_rounds
from ...engine.inputs.two_labels import signs_of


class SaidRight(NamedTuple):
    """For each row whether an adviser said something, and whether that was the label."""

    spoke: np.ndarray
    right: np.ndarray


def said_right(owner: str, engine: Engine, advice: Mapping[str, Any] | None, y: Any) -> dict[str, SaidRight]:
    """Whether each adviser was right in each row; nothing for a regressor, and of advisers that are asked row by row.

    ``engine`` has the advisers, and knows or will know the labels ``y`` as they are written.
    """
    if engine.regression or engine.advisers is None or not advice:
        return {}
    plain = {
        name: said
        for name, said in advice.items()
        if not provides(said, LearningAdviser) and not provides(said, CalledAdviser)
    }
    labels, before = np.asarray(y), engine.pair
    new: list[Any] = []
    if engine.classes is None:
        signs, pair = signs_of(owner, labels, len(labels), engine.pair)
        numbers, engine.pair = (signs > 0.0).astype(int), pair
    else:
        places = dict(engine.places)
        for label in labels.tolist():
            if label not in places:
                places[label] = len(places)
                new.append(label)
        numbers = np.array([places[label] for label in labels.tolist()])
    try:
        columns = read_rounds(owner, plain, engine.advisers, engine, len(labels), new)
    finally:
        engine.pair = before
    return {name: SaidRight(each.label != SILENT, each.label == numbers) for name, each in columns.items()}
