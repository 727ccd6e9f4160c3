"""Learners, which update the weights from labels: one file for each algorithm."""

from .auto_lasec import AutoLasec
from .budget_perceptron import BudgetPerceptron
from .lasec import Lasec
from .least_squares import LeastSquares
from .mixture import Mixture
from .modified_perceptron import ModifiedPerceptron
from .passive_aggressive import PassiveAggressive, PassiveAggressive1, PassiveAggressive2
from .perceptron import Perceptron, ShiftingPerceptron
from .pnorm_perceptron import PNormPerceptron
from .second_order_perceptron import SecondOrderPerceptron
from .winnow import Winnow

__all__ = [
    "AutoLasec",
    "BudgetPerceptron",
    "Lasec",
    "LeastSquares",
    "Mixture",
    "ModifiedPerceptron",
    "PNormPerceptron",
    "PassiveAggressive",
    "PassiveAggressive1",
    "PassiveAggressive2",
    "Perceptron",
    "SecondOrderPerceptron",
    "ShiftingPerceptron",
    "Winnow",
]
