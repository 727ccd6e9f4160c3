"""Interfaces of learners, rules, drift detectors and samplers, which other packages may implement too."""
