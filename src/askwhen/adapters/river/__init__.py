"""Samplers where river expects a classifier, and river's classifiers under our rules."""

from .classifier import SelectiveClassifier
from .sampler import RiverSampler

__all__ = ["RiverSampler", "SelectiveClassifier"]
