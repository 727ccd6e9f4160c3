"""What can go wrong, as one small tree.

::

    AskwhenError
    ├── InputError       an argument is not what was expected (also a ValueError)
    ├── QuestionError    a label was told for a question that is not open (also a LookupError)
    └── SnapshotError    a saved sampler is truncated, altered, foreign or too new (also a ValueError)

    CacheWarning         compiled steps cannot be kept on the disk, or were damaged there (a RuntimeWarning)

Every message is one sentence: who, which parameter, what was expected, what came, and the cure if there is one.
After any of them the sampler is what it was before the call.
"""

from __future__ import annotations

__all__ = ["AskwhenError", "CacheWarning", "InputError", "QuestionError", "SnapshotError"]


class CacheWarning(RuntimeWarning):
    """Everything works, but what is compiled must be compiled again; told once in each process."""


class AskwhenError(Exception):
    """Any error that askwhen raises on purpose."""


class InputError(AskwhenError, ValueError):
    """An argument is not what was expected."""


class QuestionError(AskwhenError, LookupError):
    """A label was told for a question that is not open."""


class SnapshotError(AskwhenError, ValueError):
    """A saved sampler cannot be read."""
