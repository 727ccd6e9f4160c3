"""What is counted in every round, so that accuracies and their intervals can be estimated at any time."""
