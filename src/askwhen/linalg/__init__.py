"""Rows and vectors, dense and sparse, with one order of summation."""
