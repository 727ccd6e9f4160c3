"""Partitioned logs: where events come from, and where decisions go."""
