"""One file for each kind of stream: each has ``STREAMS``, a list."""
