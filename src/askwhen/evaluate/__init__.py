"""How good is it? Estimates and guarantees, from the labels that were asked for."""

from .accuracy import Accuracy, Curve, Estimate, accuracy, accuracy_curve

__all__ = ["Accuracy", "Curve", "Estimate", "accuracy", "accuracy_curve"]
