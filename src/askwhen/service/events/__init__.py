"""What can happen, as facts in the log, and the settings and views of streams."""
