"""What happened in every round, in memory and in files."""
