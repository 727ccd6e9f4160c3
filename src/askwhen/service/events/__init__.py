"""Kinds of events in the log, and the settings and views of streams."""
