"""How good is it? Estimates and guarantees, from the labels that were asked for."""

from . import bounds
from .accuracy import Accuracy, Curve, Estimate, accuracy, accuracy_curve
from .comparators import best_linear, best_linear_by_segment

__all__ = [
    "Accuracy",
    "Curve",
    "Estimate",
    "accuracy",
    "accuracy_curve",
    "best_linear",
    "best_linear_by_segment",
    "bounds",
]
