"""askwhen knows when to ask: it learns from streams where labels are costly."""

import typing

from . import data, evaluate
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
from .one_vs_rest import OneVsRest
from .online_to_batch import BatchClassifier, online_to_batch
from .papers import paper, paper_letters, paper_names
from .prepare import Prepare
from .rules import AdaptiveMarginRule, Always, Audit, BBQRule, BudgetRule, FixedRate, FocusedRule, MarginRule
from .sampler import Sampler
from .trace import Ask, Trace

if typing.TYPE_CHECKING:
    from .adapters.sklearn import OnlineToBatchClassifier, SelectiveClassifier, SelectiveRegressor

__version__ = "0.1.0"

__all__ = [
    "AdaptiveMarginRule",
    "Always",
    "Ask",
    "AskwhenError",
    "Audit",
    "AutoLasec",
    "BBQRule",
    "BatchClassifier",
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
    "OneVsRest",
    "OnlineToBatchClassifier",
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
    "SelectiveClassifier",
    "SelectiveRegressor",
    "ShiftingPerceptron",
    "SnapshotError",
    "SwitchDetector",
    "Trace",
    "Winnow",
    "data",
    "evaluate",
    "online_to_batch",
    "paper",
    "paper_letters",
    "paper_names",
]


_SKLEARN = ("OnlineToBatchClassifier", "SelectiveClassifier", "SelectiveRegressor")


def __getattr__(name: str) -> typing.Any:
    """Import what needs scikit-learn when it is first asked for."""
    if name not in _SKLEARN:
        raise AttributeError(f"module 'askwhen' has no attribute {name!r}")
    try:
        from .adapters import sklearn
    except ImportError as error:
        raise ImportError(f"{name} needs scikit-learn: pip install 'askwhen[sklearn]'.") from error
    return getattr(sklearn, name)
