"""Adapters to the interfaces of scikit-learn and river."""
