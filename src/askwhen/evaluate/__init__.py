"""How good is it? Estimates and guarantees, from the labels that were asked for."""

from . import bounds
from .accuracy import Accuracy, Curve, Estimate, accuracy, accuracy_curve
from .comparators import best_linear, best_linear_by_segment
from .comparing import Cell, Comparison, compare
from .order import order_warning
from .progress import Progress, Scores
from .progressive import progressive
from .tuning import Tried, tune

__all__ = [
    "Accuracy",
    "Cell",
    "Comparison",
    "Curve",
    "Estimate",
    "Progress",
    "Scores",
    "Tried",
    "accuracy",
    "accuracy_curve",
    "best_linear",
    "best_linear_by_segment",
    "bounds",
    "compare",
    "order_warning",
    "progressive",
    "tune",
]
