"""How good is it? Estimates and guarantees, from the labels that were asked for."""

from . import bounds
from .accuracy import Accuracy, Curve, accuracy, accuracy_curve
from .alarms import Alarm, alarm
from .by_class import ClassAccuracy
from .comparators import best_linear, best_linear_by_segment
from .comparing import Cell, Comparison, compare
from .estimate import Cost, Estimate
from .needed import Needed
from .order import order_warning
from .progress import Progress, Scores
from .progressive import progressive
from .side_by_side import Difference, SideBySide
from .tuning import Tried, tune

__all__ = [
    "Accuracy",
    "Alarm",
    "Cell",
    "ClassAccuracy",
    "Comparison",
    "Cost",
    "Curve",
    "Difference",
    "Estimate",
    "Needed",
    "Progress",
    "Scores",
    "SideBySide",
    "Tried",
    "accuracy",
    "accuracy_curve",
    "alarm",
    "best_linear",
    "best_linear_by_segment",
    "bounds",
    "compare",
    "order_warning",
    "progressive",
    "tune",
]
