"""Stores of samplers, offsets and decisions: a file for each partition on one machine, PostgreSQL for several."""
