"""Keyed streams: a sampler for each key of a partitioned log, exact whatever is killed on the way."""
