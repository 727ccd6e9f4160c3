"""Compiled steps: compilation, dispatch by type, the disk cache, and passing a sampler's states to compiled code."""
