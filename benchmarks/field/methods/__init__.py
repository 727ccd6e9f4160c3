"""One file for each package: each has ``METHODS``, a list."""
