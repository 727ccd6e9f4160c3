"""Building blocks of learners: kernels, weights as sums of stored instances, and the second-order recursion."""
