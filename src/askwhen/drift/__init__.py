"""When the learner restarts."""

from .switch import SwitchDetector

__all__ = ["SwitchDetector"]
