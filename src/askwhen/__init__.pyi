from . import advisers, data, encoders, evaluate, keyed
from .adapters.sklearn import OnlineToBatchClassifier, SelectiveClassifier, SelectiveRegressor
from .batch import BatchClassifier, online_to_batch
from .client import AsyncClient, Client
from .contracts.kinds import Kinds
from .data.columns import Columns
from .drift import SwitchDetector
from .errors import AskwhenError, InputError, QuestionError, SnapshotError
from .evaluate import SideBySide
from .learners import (
    AutoLasec,
    BudgetPerceptron,
    Lasec,
    LeastSquares,
    Mixture,
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
from .multi_label import MultiLabel
from .one_vs_rest import OneVsRest
from .papers import paper, paper_letters, paper_names
from .prepare import Prepare
from .rules import (
    AdaptiveMarginRule,
    Always,
    Audit,
    BBQRule,
    BudgetRule,
    FixedRate,
    FocusedRule,
    MarginRule,
    PromiseRule,
)
from .sampler import Sampler
from .trace.trace import Ask, Trace
from .weights.kernels import Gaussian, Kernel, Linear, Polynomial
from .workflows.compile_ahead import warm
from .workflows.predict import load

__version__: str

__all__ = [
    "AdaptiveMarginRule",
    "Always",
    "Ask",
    "AskwhenError",
    "AsyncClient",
    "Audit",
    "AutoLasec",
    "BBQRule",
    "BatchClassifier",
    "BudgetPerceptron",
    "BudgetRule",
    "Client",
    "Columns",
    "FixedRate",
    "FocusedRule",
    "Gaussian",
    "InputError",
    "Kernel",
    "Kinds",
    "Lasec",
    "LeastSquares",
    "Linear",
    "MarginRule",
    "Mixture",
    "ModifiedPerceptron",
    "MultiLabel",
    "OneVsRest",
    "OnlineToBatchClassifier",
    "PNormPerceptron",
    "PassiveAggressive",
    "PassiveAggressive1",
    "PassiveAggressive2",
    "Perceptron",
    "Polynomial",
    "Prepare",
    "PromiseRule",
    "QuestionError",
    "Sampler",
    "SecondOrderPerceptron",
    "SelectiveClassifier",
    "SelectiveRegressor",
    "ShiftingPerceptron",
    "SideBySide",
    "SnapshotError",
    "SwitchDetector",
    "Trace",
    "Winnow",
    "advisers",
    "data",
    "encoders",
    "evaluate",
    "keyed",
    "load",
    "online_to_batch",
    "paper",
    "paper_letters",
    "paper_names",
    "warm",
]
