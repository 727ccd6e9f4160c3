"""Traces: a record of every round of a run, in memory and in files."""
