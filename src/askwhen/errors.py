"""The exceptions and warnings of the package.

::

    AskwhenError
    ├── InputError       an argument is not what was expected (also a ValueError)
    │   └── MissingExtraError    an optional dependency is not installed (also an ImportError)
    ├── QuestionError    a label was given for a question that is not open (also a LookupError)
    └── SnapshotError    a saved sampler is truncated, altered, foreign or too new (also a ValueError)

    CacheWarning         compiled steps or vectors of texts cannot be stored on the disk (a RuntimeWarning)
    InputWarning         a file can be read, but something in it looks wrong (a UserWarning)

Every message is one sentence: the function, the parameter, what was expected, what was given, and a remedy if there is
one. The text is for people; programs read the fields. After any of these errors the sampler is unchanged.

A message may contain an argument, a row or the instances through :func:`argument`, :func:`at_row` and ``INSTANCES``.
The library writes them as ``positive=``, ``row 3 of X`` and ``X``; the command line, which has options and files
instead, passes its own :class:`Wording` to ``error.told``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Self

__all__ = ["AskwhenError", "CacheWarning", "InputError", "InputWarning", "QuestionError", "SnapshotError"]

_ARGUMENT, _ROW, _VALUE, _END = "\ue000", "\ue001", "\ue002", "\ue003"
INSTANCES = "\ue004"
"""Placeholder in a message for the instances that a call was given."""


def argument(name: str, value: str = "") -> str:
    """Placeholder in a message for an argument of a function, or for its value."""
    return f"{_ARGUMENT}{name}{_VALUE}{value}{_END}"


def at_row(i: int) -> str:
    """Placeholder in a message for row i of the instances that a call was given."""
    return f"{_ROW}{i}{_END}"


def called(name: str) -> str:
    """A parameter in a message; X becomes the placeholder for the instances."""
    return INSTANCES if name == "X" else name


class Wording:
    """Words for the placeholders of a message: those of the library, which the command line overrides."""

    def argument(self, name: str, value: str) -> str:
        """Text of an argument, or of its value."""
        return f"{name}={value if value == 'True' else repr(value)}" if value else f"{name}="

    def row(self, i: int) -> str:
        """Text of a row of the instances."""
        return f"row {i} of X"

    def instances(self) -> str:
        """Text of all instances."""
        return "X"


class CacheWarning(RuntimeWarning):
    """Compiled steps or vectors of texts cannot be stored or read, so that they are computed again."""


class InputWarning(UserWarning):
    """A file can be read, but something in it looks wrong."""


class AskwhenError(Exception):
    """Any error that askwhen raises on purpose.

    Attributes
    ----------
    sentence : str
        The message without the owner.
    owner : str
        The function or the class that was called.
    parameter, expected, got : optional
        The invalid parameter, what it must be, and what was given.
    row, column, file, line : optional
        The place of the invalid value: rows count from 0, lines of files from 1.
    chunk : int, optional
        The number of the chunk in a stream, from 0.
    mend : dict
        Arguments with which the call might work, by name; a suggestion.
    """

    def __init__(
        self,
        sentence: str = "",
        *,
        owner: str = "",
        parameter: str | None = None,
        expected: str | None = None,
        got: Any = None,
        row: int | None = None,
        column: str | None = None,
        file: str | None = None,
        line: int | None = None,
        chunk: int | None = None,
        mend: dict[str, Any] | None = None,
    ) -> None:
        # One keyword for each documented field: the signature is public.
        self._template = sentence
        super().__init__(self.told(Wording()))
        self.owner = owner
        self.parameter, self.expected, self.got = parameter, expected, got
        self.row, self.column, self.file, self.line, self.chunk = row, column, file, line, chunk
        self.mend = mend or {}
        if row is None and _ROW in sentence:
            self.row = int(sentence.partition(_ROW)[2].partition(_END)[0])

    @classmethod
    def about(cls, owner: str, parameter: str, expected: str, got: Any) -> Self:
        """The error for an invalid parameter."""
        sentence = f"{parameter} must be {expected}, got {got!r}."
        plain = parameter.strip(_ARGUMENT + _VALUE + _END)
        return cls(sentence, owner=owner, parameter=plain, expected=expected, got=got)

    @property
    def sentence(self) -> str:
        """The message without the owner, in the words of the library."""
        return self.told(Wording())

    def told(self, speaker: Wording) -> str:
        """The message without the owner, in other words for arguments, rows and instances."""
        found = self._template.replace(INSTANCES, speaker.instances())
        while _END in found:
            before, _, rest = found.partition(_END)
            start = max(before.rfind(_ARGUMENT), before.rfind(_ROW))
            kind, (name, _, value) = before[start], before[start + 1 :].partition(_VALUE)
            text = speaker.row(int(name)) if kind == _ROW else speaker.argument(name, value)
            found = before[:start] + text + rest
        return found

    def in_chunk(self, chunk: int) -> Self:
        """The same error, with the number of a chunk of a stream."""
        found = type(self)(*self.args)
        found.__dict__.update(self.__dict__, chunk=chunk)
        return found

    def __str__(self) -> str:
        text = f"{self.owner}: {self.sentence}" if self.owner else self.sentence
        text = text if self.chunk is None else f"{text.removesuffix('.')}, in chunk {self.chunk}."
        suggested = ", ".join(f"{name}={_shown(value)}" for name, value in self.mend.items())
        return f"{text} Perhaps {suggested}." if suggested else text


def _shown(value: Any) -> str:
    return repr(list(value) if isinstance(value, tuple) else value)


class InputError(AskwhenError, ValueError):
    """An argument is not what was expected."""


class ArgumentsError(InputError):
    """Arguments that contradict each other, whatever the data; the command line reports it as wrong usage."""


class MissingExtraError(InputError, ImportError):
    """An optional dependency is not installed; the message has the line that installs it.

    Attributes
    ----------
    name : str
        The module that is missing.
    extra : str, optional
        The extra that has it, as in ``pip install 'askwhen[service]'``.
    """

    def __init__(self, sentence: str = "", *, name: str | None = None, extra: str | None = None, **facts: Any) -> None:
        super().__init__(sentence, **facts)
        self.name, self.extra = name, extra


class QuestionError(AskwhenError, LookupError):
    """A label was given for a question that is not open."""


class SnapshotError(AskwhenError, ValueError):
    """A saved sampler cannot be read."""


@contextlib.contextmanager
def owned_by(owner: str) -> Iterator[None]:
    """Inside, errors name this owner: the function that the user called, and not one that it calls."""
    try:
        yield
    except AskwhenError as error:
        error.owner = owner
        raise
