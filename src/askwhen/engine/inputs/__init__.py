"""Validation of arguments and instances, and the registry of learners, rules, drift detectors and kernels."""
