"""Answers by hand: a session of questions, and the store of the answers."""
