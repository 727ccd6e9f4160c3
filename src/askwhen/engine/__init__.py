"""The engine behind a sampler: its state, and the rounds that are played on it."""
