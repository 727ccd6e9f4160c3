"""Samplers where river expects a classifier, and river's classifiers under our rules."""

from ...system.extras import needs_extra

with needs_extra("river", "an adapter for river"):
    from .classifier import SelectiveClassifier
    from .sampler import RiverSampler

__all__ = ["RiverSampler", "SelectiveClassifier"]
