"""Readers for the file layouts of the first release."""
