"""What learners are made of: kernels, sums of kept instances, and the one second-order recursion in both forms."""
