"""Estimates of accuracy, with intervals, from the labels that were asked for."""
