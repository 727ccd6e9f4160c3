"""Error messages about values outside an enumeration, which list the allowed ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import inspect

_refusal = re.compile(r"Invalid enum value (?P<got>.*) - at `\$\.?(?P<path>.*)`", re.DOTALL).fullmatch


def explained(message: str, kind: Any) -> str:
    """An error message of msgspec about an enumeration, extended by the values that the type allows.

    Examples
    --------
    >>> from askwhen.service.events.settings import Settings
    >>> explained("Invalid enum value 'first' - at `$.order`", Settings)
    "order must be one of newest, oldest, priority, valuable; got 'first'"
    """
    found = _refusal(message)
    if found is None:
        return message
    names = re.findall(r"[^.\[\]]+|\[[^\]]*\]", found["path"])
    choices = list(_choices(inspect.type_info(kind), names))
    return f"{found['path']} must be one of {', '.join(choices)}; got {found['got']}" if choices else message


def _choices(kind: inspect.Type, names: Sequence[str]) -> Iterator[str]:
    """The values that a type allows at the end of a path of names."""
    if isinstance(kind, inspect.UnionType):
        for each in kind.types:
            yield from _choices(each, names)
    elif not names and isinstance(kind, inspect.LiteralType):
        yield from map(str, kind.values)
    elif not names and isinstance(kind, inspect.ListType):
        yield "a list"
    elif names and isinstance(kind, inspect.StructType):
        for field in kind.fields:
            if field.encode_name == names[0]:
                yield from _choices(field.type, names[1:])
    elif names and isinstance(kind, inspect.DictType):
        yield from _choices(kind.value_type, names[1:])
    elif names and isinstance(kind, inspect.ListType):
        yield from _choices(kind.item_type, names[1:])
