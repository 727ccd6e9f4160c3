"""Compiled steps: compilation, dispatch by type, the disk cache, and how a step is given the states of a sampler."""
