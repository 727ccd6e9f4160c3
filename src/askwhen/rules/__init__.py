"""Rules: each gives the probability of asking for a label in a round; the sampler draws a random number and decides."""

from . import deciding  # noqa: F401, registers the steps of all rules
from .adaptive_margin import AdaptiveMarginRule
from .audit import Audit
from .bbq import BBQRule
from .budget import BudgetRule
from .fixed_rate import Always, FixedRate
from .focused import FocusedRule
from .margin import MarginRule
from .promise import PromiseRule

__all__ = [
    "AdaptiveMarginRule",
    "Always",
    "Audit",
    "BBQRule",
    "BudgetRule",
    "FixedRate",
    "FocusedRule",
    "MarginRule",
    "PromiseRule",
]
