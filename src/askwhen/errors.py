"""What can go wrong, as one small tree.

::

    AskwhenError
    ├── InputError       an argument is not what was expected (also a ValueError)
    │   └── MissingExtraError    an optional dependency is not installed (also an ImportError)
    ├── QuestionError    a label was told for a question that is not open (also a LookupError)
    └── SnapshotError    a saved sampler is truncated, altered, foreign or too new (also a ValueError)

    CacheWarning         compiled steps cannot be kept on the disk, or were damaged there (a RuntimeWarning)
    InputWarning         something about a file that its reader should know (a UserWarning)

Every message is one sentence: who, which parameter, what was expected, what came, and the cure if there is one. The
text is for people; programs read the fields. After any of them the sampler is what it was before the call.

A sentence may name an argument, a row or the instances through :func:`argument`, :func:`at_row` and ``INSTANCES``: the
library calls them ``positive=``, ``row 3 of X`` and ``X``; who speaks to people in other words, such as the command
line, gives its own :class:`Speaker` to ``error.told``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Self

__all__ = ["AskwhenError", "CacheWarning", "InputError", "InputWarning", "QuestionError", "SnapshotError"]

_ARGUMENT, _ROW, _VALUE, _END = "\ue000", "\ue001", "\ue002", "\ue003"
INSTANCES = "\ue004"
"""The instances that a call was given, in a sentence."""


def argument(name: str, value: str = "") -> str:
    """An argument of a function, or its value, in a sentence."""
    return f"{_ARGUMENT}{name}{_VALUE}{value}{_END}"


def at_row(i: int) -> str:
    """Row i of the instances that a call was given, in a sentence."""
    return f"{_ROW}{i}{_END}"


def called(name: str) -> str:
    """A parameter in a sentence; X is written as whoever speaks calls the instances."""
    return INSTANCES if name == "X" else name


class Speaker:
    """How the library speaks of arguments, rows and instances; others may speak otherwise."""

    def argument(self, name: str, value: str) -> str:
        """An argument, or its value."""
        return f"{name}={value if value == 'True' else repr(value)}" if value else f"{name}="

    def row(self, i: int) -> str:
        """One of the instances."""
        return f"row {i} of X"

    def instances(self) -> str:
        """All of them."""
        return "X"


class CacheWarning(RuntimeWarning):
    """Everything works, but what is compiled must be compiled again; told once in each process."""


class InputWarning(UserWarning):
    """Something about a file that its reader should know, though it can be read."""


class AskwhenError(Exception):
    """Any error that askwhen raises on purpose.

    Attributes
    ----------
    sentence : str
        What is wrong, without who says so.
    owner : str
        The function or the class that was called.
    parameter, expected, got : optional
        Which of its parameters, what it must be, and what came.
    row, column, file, line : optional
        Where that is: counted from 0, but lines of files from 1.
    chunk : int, optional
        Which chunk of a stream, counted from 0.
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
        self._written = sentence
        super().__init__(self.told(Speaker()))
        self.owner = owner
        self.parameter, self.expected, self.got = parameter, expected, got
        self.row, self.column, self.file, self.line, self.chunk = row, column, file, line, chunk
        self.mend = mend or {}
        if row is None and _ROW in sentence:
            self.row = int(sentence.partition(_ROW)[2].partition(_END)[0])

    @classmethod
    def about(cls, owner: str, parameter: str, expected: str, got: Any) -> Self:
        """The error for a parameter that is not what it must be."""
        sentence = f"{parameter} must be {expected}, got {got!r}."
        plain = parameter.strip(_ARGUMENT + _VALUE + _END)
        return cls(sentence, owner=owner, parameter=plain, expected=expected, got=got)

    @property
    def sentence(self) -> str:
        """What is wrong, in the words of the library, without who says so."""
        return self.told(Speaker())

    def told(self, speaker: Speaker) -> str:
        """What is wrong, without who says so, as this speaker would put it."""
        found = self._written.replace(INSTANCES, speaker.instances())
        while _END in found:
            before, _, rest = found.partition(_END)
            start = max(before.rfind(_ARGUMENT), before.rfind(_ROW))
            kind, (name, _, value) = before[start], before[start + 1 :].partition(_VALUE)
            said = speaker.row(int(name)) if kind == _ROW else speaker.argument(name, value)
            found = before[:start] + said + rest
        return found

    def in_chunk(self, chunk: int) -> Self:
        """The same error, of one chunk of a stream."""
        found = type(self)(*self.args)
        found.__dict__.update(self.__dict__, chunk=chunk)
        return found

    def __str__(self) -> str:
        said = f"{self.owner}: {self.sentence}" if self.owner else self.sentence
        said = said if self.chunk is None else f"{said.removesuffix('.')}, in chunk {self.chunk}."
        suggested = ", ".join(f"{name}={_shown(value)}" for name, value in self.mend.items())
        return f"{said} Perhaps {suggested}." if suggested else said


def _shown(value: Any) -> str:
    return repr(list(value) if isinstance(value, tuple) else value)


class InputError(AskwhenError, ValueError):
    """An argument is not what was expected."""


class ArgumentsError(InputError):
    """Arguments that do not go together, whatever the data; who speaks of options calls it wrong usage."""


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
    """A label was told for a question that is not open."""


class SnapshotError(AskwhenError, ValueError):
    """A saved sampler cannot be read."""


@contextlib.contextmanager
def owned_by(owner: str) -> Iterator[None]:
    """Inside, errors begin with this name: that of what the user called, and not of a function that it calls."""
    try:
        yield
    except AskwhenError as error:
        error.owner = owner
        raise
