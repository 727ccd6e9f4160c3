"""Reader for samplers with several classes as the first release saved them.

Such a file has one engine that decides (here: the decider), and one engine for the learner of each class. They become
one engine. Where the classes share a matrix today, all learners of the file have the same matrix, so one is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.engine import Engine, Shape
from ...engine.inputs.argument_checks import check_classes
from ...engine.label_spaces import Classes
from ...engine.round.each_class import EachState
from ...engine.tally.class_tally import STORED
from ...errors import SnapshotError
from ...learners.auto_lasec_classes import AutoClassesState
from ...rules import Always
from ...weights.second_order_classes import SharedState
from ...weights.second_order_dual_classes import SharedDualState
from ..class_tallies import with_stored_arrays
from ..header import UNREADABLE, flag
from ..open_questions import read_ask

KEY = "one_vs_rest"
_STATES = ("rule", "tally", "prepare", "shape", "names", "round", "questions", "updates", "volunteered")


def restore(header: dict[str, Any], arrays: dict[str, np.ndarray], read: Callable[[Any], list[Engine]]) -> Engine:
    """The engine of these classes; ``read`` makes the engines that the header describes."""
    try:
        about = header[KEY]
        decider, *learners = read(header["model"])
        classes = check_classes("load", about["classes"])
        _check(classes, decider, learners)
        engine = _together(decider, learners, classes)
        if f"classes.{STORED[0]}" in arrays and f"classes.{STORED[4]}" in arrays:
            engine.class_tally = with_stored_arrays(engine.class_tally, arrays)
        for line in about["open"]:
            _reopen(engine, decider, line)
        if list(engine.pending) != list(decider.pending):
            raise SnapshotError(_CONTRADICTION, owner="load")
        return engine
    except SnapshotError:
        raise
    except UNREADABLE as error:
        raise SnapshotError("the file does not hold a OneVsRest that this version can read.", owner="load") from error


_CONTRADICTION = "the snapshot's open questions contradict each other."


def _together(decider: Engine, learners: list[Engine], classes: list[Any]) -> Engine:
    """One engine with the rule and the rounds of the decider, and the weights of every learner."""
    engine = Engine(decider.parts, decider.seed, None, Classes(classes))
    if decider.learner is not None:
        engine.begin("load", "X", decider.shape.d, decider.shape.sparse)
        states = tuple(each.learner for each in learners)
        if isinstance(engine.learner, SharedState):
            weights = np.array([state.w for state in states])
            engine.learner = engine.learner._replace(one=states[0], weights=weights)
        elif isinstance(engine.learner, SharedDualState):
            coef, primal = np.concatenate([state.w.coef for state in states]), np.array([s.w.primal for s in states])
            engine.learner = engine.learner._replace(one=states[0], coef=coef, primal=primal)
        elif isinstance(engine.learner, AutoClassesState):
            # Every class had its own mixture weights; today they share one, so the mean is taken.
            weights = np.array([state.w for state in states]).swapaxes(0, 1).copy()
            mix = np.mean([state.mix for state in states], axis=0)
            engine.learner = engine.learner._replace(auto=states[0], weights=weights, mix=mix)
        else:
            engine.learner = engine.learner._replace(learners=states)
    for name in _STATES:
        setattr(engine, name, getattr(decider, name))
    engine.draws.generator.bit_generator.state = decider.draws.generator.bit_generator.state
    engine.draws.randomness.bit_generator.state = decider.draws.randomness.bit_generator.state
    return engine


def _reopen(engine: Engine, decider: Engine, line: list[Any]) -> None:
    """Restore an open question."""
    *asked, signs, numbers, _level = line if type(line[-1]) is int else [*line, 0]
    predicted = np.array([flag(sign) for sign in signs], bool)
    ask = read_ask(asked)
    if len(numbers) != 3 or ask.prediction not in engine.places or len(predicted) != len(engine.places):
        raise SnapshotError(_CONTRADICTION, owner="load")
    _, x, marks = decider.pending[ask.round]
    engine.pending[ask.round] = (ask, x, marks)
    if isinstance(engine.learner, EachState):
        engine.signs[ask.round] = predicted


def _check(classes: list[Any], decider: Engine, learners: list[Engine]) -> None:
    """Refuse a file whose learners do not match its classes, or the instances that the decider prepares."""
    shape = decider.shape if decider.learner is None else Shape(decider.dimension, decider.shape.sparse)
    plain = all(engine.parts[1:] == (Always(), None, None, None) and engine.shape == shape for engine in learners)
    separate = decider.parts.drift is None and not decider.regression and not any(engine.pending for engine in learners)
    alike = all(type(engine.parts.learner) is type(decider.parts.learner) for engine in learners)
    if len(learners) != len(classes) or not (plain and separate and alike):
        raise SnapshotError("the snapshot's arrays contradict each other.", owner="load")
