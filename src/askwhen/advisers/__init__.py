"""Advisers that learn beside a sampler, or are called only where that is worth it."""

from .called import Called
from .refit import Refit

__all__ = ["Called", "Refit"]
