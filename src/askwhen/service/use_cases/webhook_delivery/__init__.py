"""Webhooks: programs elsewhere are told what happens. What they are told is committed with what happened."""
