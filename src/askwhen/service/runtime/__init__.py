"""Coordinates all streams of a process: commits, recovery, retries, snapshots, subscribers."""
