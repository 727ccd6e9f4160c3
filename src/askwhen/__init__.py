"""askwhen knows when to ask: it learns from streams where labels are costly."""

from .drift import SwitchDetector
from .errors import AskwhenError, InputError, QuestionError, SnapshotError
from .kernels import Gaussian, Kernel, Linear, Polynomial
from .learners import (
    BudgetPerceptron,
    Lasec,
    LeastSquares,
    ModifiedPerceptron,
    PassiveAggressive,
    PassiveAggressive1,
    PassiveAggressive2,
    Perceptron,
    PNormPerceptron,
    SecondOrderPerceptron,
    ShiftingPerceptron,
    Winnow,
)
from .papers import paper, paper_letters, paper_names
from .rules import AdaptiveMarginRule, Always, BBQRule, FixedRate, MarginRule
from .sampler import Sampler
from .trace import Ask, Trace

__version__ = "0.1.0"

__all__ = [
    "AdaptiveMarginRule",
    "Always",
    "Ask",
    "AskwhenError",
    "BBQRule",
    "BudgetPerceptron",
    "FixedRate",
    "Gaussian",
    "InputError",
    "Kernel",
    "Lasec",
    "LeastSquares",
    "Linear",
    "MarginRule",
    "ModifiedPerceptron",
    "PNormPerceptron",
    "PassiveAggressive",
    "PassiveAggressive1",
    "PassiveAggressive2",
    "Perceptron",
    "Polynomial",
    "QuestionError",
    "Sampler",
    "SecondOrderPerceptron",
    "ShiftingPerceptron",
    "SnapshotError",
    "SwitchDetector",
    "Trace",
    "Winnow",
    "paper",
    "paper_letters",
    "paper_names",
]
