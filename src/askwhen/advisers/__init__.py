"""Advisers that learn beside a sampler: estimators of scikit-learn that are fitted again and again."""

from .refit import Refit

__all__ = ["Refit"]
