"""Several classes as the first release kept them: one engine that judges, and one for each class's learner.

They become one engine. A class that the learners can share a matrix for has the same matrix in every one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.engine import Engine, Shape
from ...engine.inputs.argument_checks import check_classes
from ...engine.label_spaces import Classes
from ...engine.round.each_class import EachState
from ...engine.tally.class_tally import KEPT
from ...errors import SnapshotError
from ...learners.auto_classes import AutoClassesState
from ...rules import Always
from ...weights.second_order_classes import SharedState
from ...weights.second_order_dual_classes import SharedDualState
from ..class_tallies import with_kept
from ..header import UNREADABLE, flag
from ..open_questions import read_ask

KEY = "one_vs_rest"
_STATES = ("rule", "tally", "prepare", "shape", "names", "round", "questions", "updates", "volunteered")


def restore(header: dict[str, Any], arrays: dict[str, np.ndarray], read: Callable[[Any], list[Engine]]) -> Engine:
    """The engine of these classes; ``read`` makes the engines that the header describes."""
    try:
        about = header[KEY]
        judge, *learners = read(header["model"])
        classes = check_classes("load", about["classes"])
        _check(classes, judge, learners)
        engine = _together(judge, learners, classes)
        if f"classes.{KEPT[0]}" in arrays and f"classes.{KEPT[4]}" in arrays:
            engine.class_tally = with_kept(engine.class_tally, arrays)
        for line in about["open"]:
            _reopen(engine, judge, line)
        if list(engine.pending) != list(judge.pending):
            raise SnapshotError(_CONTRADICTION, owner="load")
        return engine
    except SnapshotError:
        raise
    except UNREADABLE as error:
        raise SnapshotError("the file holds no OneVsRest that this version can read.", owner="load") from error


_CONTRADICTION = "the snapshot's open questions contradict each other."


def _together(judge: Engine, learners: list[Engine], classes: list[Any]) -> Engine:
    """One engine with the rule and the rounds of the judge, and what every learner has learnt."""
    engine = Engine(judge.parts, judge.seed, None, Classes(classes))
    if judge.learner is not None:
        engine.begin("load", "X", judge.shape.d, judge.shape.sparse)
        states = tuple(each.learner for each in learners)
        if isinstance(engine.learner, SharedState):
            weights = np.array([state.w for state in states])
            engine.learner = engine.learner._replace(one=states[0], weights=weights)
        elif isinstance(engine.learner, SharedDualState):
            coef, primal = np.concatenate([state.w.coef for state in states]), np.array([s.w.primal for s in states])
            engine.learner = engine.learner._replace(one=states[0], coef=coef, primal=primal)
        elif isinstance(engine.learner, AutoClassesState):  # every class had mixture weights of its own
            weights = np.array([state.w for state in states]).swapaxes(0, 1).copy()
            mix = np.mean([state.mix for state in states], axis=0)
            engine.learner = engine.learner._replace(auto=states[0], weights=weights, mix=mix)
        else:
            engine.learner = engine.learner._replace(learners=states)
    for name in _STATES:
        setattr(engine, name, getattr(judge, name))
    engine.draws.generator.bit_generator.state = judge.draws.generator.bit_generator.state
    engine.draws.randomness.bit_generator.state = judge.draws.randomness.bit_generator.state
    return engine


def _reopen(engine: Engine, judge: Engine, line: list[Any]) -> None:
    """Let a question wait for its answer again."""
    *asked, signs, numbers, _level = line if type(line[-1]) is int else [*line, 0]
    said = np.array([flag(sign) for sign in signs], bool)
    ask = read_ask(asked)
    if len(numbers) != 3 or ask.prediction not in engine.places or len(said) != len(engine.places):
        raise SnapshotError(_CONTRADICTION, owner="load")
    _, x, marks = judge.pending[ask.round]
    engine.pending[ask.round] = (ask, x, marks)
    if isinstance(engine.learner, EachState):
        engine.signs[ask.round] = said


def _check(classes: list[Any], judge: Engine, learners: list[Engine]) -> None:
    """Refuse learners from a file that are not one for each class, or do not see what the judge prepares."""
    shape = judge.shape if judge.learner is None else Shape(judge.dimension, judge.shape.sparse)
    alone = all(engine.parts[1:] == (Always(), None, None, None) and engine.shape == shape for engine in learners)
    apart = judge.parts.drift is None and not judge.regression and not any(engine.pending for engine in learners)
    like = all(type(engine.parts.learner) is type(judge.parts.learner) for engine in learners)
    if len(learners) != len(classes) or not (alone and apart and like):
        raise SnapshotError("the snapshot's arrays contradict each other.", owner="load")
