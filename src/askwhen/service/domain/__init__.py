"""Streams, their models and their questions, and what may be done to them."""
