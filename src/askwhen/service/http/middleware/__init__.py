"""What every request passes on its way in and out: paths, time limits, ids, metrics, traces, headers."""
