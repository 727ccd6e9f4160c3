"""Vectors of texts: functions, static vectors and folders as encoders, and their cache."""
