"""One round: the compiled steps, and the tables through which they call learners, rules and detectors."""
