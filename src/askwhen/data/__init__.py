"""Instances: where they come from, and in which pieces they are read."""
