"""Answers by hand: a session of questions, and where the answers are kept."""
