"""Validation of arguments and instances, and the names of the parts of a sampler."""
