"""How likely we ask: a rule gives a probability, the sampler tosses the coin."""

from .adaptive_margin import AdaptiveMarginRule
from .bbq import BBQRule
from .fixed_rate import Always, FixedRate
from .margin import MarginRule

__all__ = ["AdaptiveMarginRule", "Always", "BBQRule", "FixedRate", "MarginRule"]
