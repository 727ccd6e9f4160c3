"""Accuracy estimates, error bounds, simulations and comparisons of samplers."""

from . import bounds
from .comparators import best_linear, best_linear_by_segment
from .comparison.comparing import AdviserCell, AdviserEstimate, Cell, Comparison, compare
from .comparison.label_order import order_warning
from .comparison.promising import PromiseCurve, PromisePoint, promise_curve
from .comparison.side_by_side import SideBySide
from .comparison.tuning import Tried, tune
from .estimation.accuracy import Accuracy, Curve, accuracy, accuracy_curve
from .estimation.advisers import AdviserAccuracy, Advisers, Stated, advisers
from .estimation.alarms import Alarm, alarm
from .estimation.by_class import ClassAccuracy
from .estimation.difference import Difference
from .estimation.estimate import Cost, Estimate
from .estimation.sample_size import Needed
from .progress import AdviserProgress, Progress, PromiseHistory, Refitted, Scores
from .progressive import progressive

__all__ = [
    "Accuracy",
    "AdviserAccuracy",
    "AdviserCell",
    "AdviserEstimate",
    "AdviserProgress",
    "Advisers",
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
    "PromiseCurve",
    "PromiseHistory",
    "PromisePoint",
    "Refitted",
    "Scores",
    "SideBySide",
    "Stated",
    "Tried",
    "accuracy",
    "accuracy_curve",
    "advisers",
    "alarm",
    "best_linear",
    "best_linear_by_segment",
    "bounds",
    "compare",
    "order_warning",
    "progressive",
    "promise_curve",
    "tune",
]
