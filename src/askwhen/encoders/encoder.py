"""An encoder: checked texts in, checked vectors out, whatever makes the vectors.

All encoders treat texts alike. Only the first 10,000 characters of a text count, which bounds the time and the memory
that a text takes. A lone surrogate becomes U+FFFD, since tokenizers accept valid Unicode only. Blank texts have the
vector zero. Texts are passed on in batches of at most 1,024 texts and 2^18 characters, however many are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import InputError

CHARACTERS = 10_000
_BATCH_TEXTS, _BATCH_CHARACTERS = 1024, 1 << 18


class Encoder:
    """Texts as vectors of one width; :func:`load` makes it.

    Attributes
    ----------
    name : str
        "static", the name of a folder, or the name of a function.
    checksum : str or None
        SHA-256 of everything that vectors are computed from, or of the name that a function was given; None for a
        function that was given no name. Encoders with the same checksum make the same vectors.
    width : int
        How many numbers a vector has.

    Examples
    --------
    >>> import askwhen as aw
    >>> encoder = aw.encoders.load("static")
    >>> vectors = encoder.encode(["the goalkeeper saved a penalty", "shares fell after the report", ""])
    >>> vectors.shape, vectors.dtype.name, float(abs(vectors[2]).max())
    ((3, 256), 'float32', 0.0)
    """

    def __init__(self, name: str, checksum: str | None, width: int | None, embed: Callable[[list[str]], Any]) -> None:
        self.name, self.checksum, self._embed = name, checksum, embed
        self.width = self._one_width() if width is None else width

    def __repr__(self) -> str:
        return f"<Encoder {_told(self.descriptor())}>"

    def _one_width(self) -> int:
        """The width of the vectors of a function, which one text shows."""
        shape = np.shape(self._numbers(["text"]))
        if len(shape) != 2 or shape[0] != 1 or shape[1] == 0:
            raise InputError(
                f"{self.name} must return an array with one row for each text, got the shape {shape} for one text.",
                owner="encoders.load",
            )
        return int(shape[1])

    def encode(self, texts: Iterable[str]) -> np.ndarray:
        """Return the vectors of texts, one row for each, as float32.

        A text has the same bits alone and among others; for a function, as far as the function does so.

        Parameters
        ----------
        texts : iterable of str
            Only the first 10,000 characters of each count. Texts that are blank, or in which no token is known, have
            the vector zero.
        """
        plain = [_valid(text[:CHARACTERS]) for text in checked(texts)]
        vectors = np.zeros((len(plain), self.width), np.float32)
        for rows in _batches(plain):
            batch = [plain[i] for i in rows]
            found = self._numbers(batch)
            if found.shape != (len(rows), self.width):
                raise InputError(
                    f"{self.name} must return {self.width} numbers for each text, got the shape {found.shape} for "
                    f"{len(rows)} texts.",
                    owner="encode",
                )
            if not np.isfinite(found).all():
                row = rows[int(np.argmin(np.isfinite(found).all(axis=1)))]
                raise InputError(f"{self.name} returned a number that is not finite for text {row}.", owner="encode")
            vectors[rows] = found
        return vectors

    def _numbers(self, texts: list[str]) -> np.ndarray:
        """What the function returns for a batch, as float32."""
        returned = self._embed(texts)
        try:
            found = np.asarray(returned)
            if found.dtype.kind not in "fiu":
                raise TypeError(f"it holds values of type {found.dtype}")
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{self.name} must return an array of numbers: {reason(error)}.", owner="encode"
            ) from error
        with np.errstate(over="ignore"):  # a number that is infinite as float32 is refused by encode
            return found.astype(np.float32, copy=False)

    def descriptor(self) -> dict[str, Any]:
        """Return the name, the checksum and the width, as a model stores them."""
        return {"name": self.name, "checksum": self.checksum, "width": self.width}

    def check(self, descriptor: Mapping[str, Any]) -> None:
        """Refuse to stand in for another encoder.

        Checksums decide. Functions without a checksum are told apart by their names.

        Parameters
        ----------
        descriptor : mapping
            What :meth:`descriptor` returned, possibly in another process.
        """
        key = "name" if self.checksum is None else "checksum"
        if any(descriptor.get(each) != getattr(self, each) for each in (key, "checksum", "width")):
            raise InputError(
                f"the vectors must be those of {_told(descriptor)}, got {_told(self.descriptor())}; load the encoder "
                "with which the model was made.",
                owner="encoders",
            )


def reason(error: Exception) -> str:
    """The first line of an error of another package, to end a sentence with."""
    return (getattr(error, "strerror", None) or str(error).partition("\n")[0] or type(error).__name__).rstrip(".")


def _told(descriptor: Mapping[str, Any]) -> str:
    """An encoder in a message."""
    checksum = descriptor.get("checksum")
    key = f"checksum {str(checksum)[:8]}" if checksum else "no checksum"
    return f"{descriptor.get('name')} ({key}, {descriptor.get('width')} numbers)"


def checked(texts: Iterable[str]) -> list[str]:
    """A list of texts; anything else is refused."""
    if isinstance(texts, str):
        raise InputError("texts must be several strings, got one; give a list.", owner="encode")
    found = list(texts)
    strange = next((i for i, text in enumerate(found) if not isinstance(text, str)), None)
    if strange is not None:
        raise InputError(
            f"every text must be a string, got {type(found[strange]).__name__} in row {strange}.", owner="encode"
        )
    return found


def _valid(text: str) -> str:
    """A text in which pairs of surrogates are the characters that they stand for, and lone ones U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _batches(texts: list[str]) -> Iterator[list[int]]:
    """The rows of texts that are not blank, as many at once as memory for their tokens is meant for."""
    rows: list[int] = []
    characters = 0
    for i, text in enumerate(texts):
        if not text or text.isspace():
            continue
        if rows and (len(rows) == _BATCH_TEXTS or characters + len(text) > _BATCH_CHARACTERS):
            yield rows
            rows, characters = [], 0
        rows.append(i)
        characters += len(text)
    if rows:
        yield rows
