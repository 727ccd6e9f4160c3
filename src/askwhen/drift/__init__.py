"""Drift detectors, which restart the learner when the stream has changed."""

from .switch import SwitchDetector

__all__ = ["SwitchDetector"]
