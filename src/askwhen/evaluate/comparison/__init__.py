"""Several algorithms on one stream: comparison, tuning, and two samplers side by side."""
