"""askwhen knows when to ask: it learns from streams where labels are costly."""

from . import evaluate
from .drift import SwitchDetector
from .errors import AskwhenError, InputError, QuestionError, SnapshotError
from .kernels import Gaussian, Kernel, Linear, Polynomial
from .learners import (
    AutoLasec,
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
from .prepare import Prepare
from .rules import AdaptiveMarginRule, Always, Audit, BBQRule, BudgetRule, FixedRate, FocusedRule, MarginRule
from .sampler import Sampler
from .trace import Ask, Trace

__version__ = "0.1.0"

__all__ = [
    "AdaptiveMarginRule",
    "Always",
    "Ask",
    "AskwhenError",
    "Audit",
    "AutoLasec",
    "BBQRule",
    "BudgetPerceptron",
    "BudgetRule",
    "FixedRate",
    "FocusedRule",
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
    "Prepare",
    "QuestionError",
    "Sampler",
    "SecondOrderPerceptron",
    "ShiftingPerceptron",
    "SnapshotError",
    "SwitchDetector",
    "Trace",
    "Winnow",
    "evaluate",
    "paper",
    "paper_letters",
    "paper_names",
]
