"""Metrics and health checks for operators."""
