"""How good is it? Estimates and guarantees, from the labels that were asked for."""

from . import bounds
from .accuracy import Accuracy, Curve, Estimate, accuracy, accuracy_curve
from .comparators import best_linear, best_linear_by_segment
from .progressive import Progress, Scores, progressive

__all__ = [
    "Accuracy",
    "Curve",
    "Estimate",
    "Progress",
    "Scores",
    "accuracy",
    "accuracy_curve",
    "best_linear",
    "best_linear_by_segment",
    "bounds",
    "progressive",
]
