"""Counts and sums of every round, from which accuracies and their intervals are estimated at any time."""
