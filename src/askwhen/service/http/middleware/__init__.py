"""ASGI middleware: paths, time limits, ids, metrics, traces, headers."""
