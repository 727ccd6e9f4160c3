"""Reads labelling configs of Label Studio, which are untrusted XML.

Read: one ``Choices`` with ``name``, ``toName``, ``choice`` and its ``Choice`` tags with ``value`` or ``alias``, or one
``Number`` with ``name`` and ``toName``; and the tag that ``toName`` names, of which ``value`` says which field of the
data it shows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from xml.parsers import expat

from ....errors import InputError
from ...domain.stream import ServiceStream
from ...events.settings import OPEN
from ..answer_kinds import NUMBER, SEVERAL, SINGLE, kind_of

LARGEST, DEEPEST, MOST_TAGS = 1 << 20, 64, 5_000
SILENT = frozenset({"TextArea", "Filter"})
"""Controls that may accompany the question, since they do not affect the label."""

_TAGS = {SINGLE: 'Choices with choice="single"', SEVERAL: 'Choices with choice="multiple"', NUMBER: "one Number"}
_CHOICE = {"single": SINGLE, "single-radio": SINGLE, "multiple": SEVERAL}


class Config(NamedTuple):
    """The names of a config, the field that people see, what an answer is, and the choices in order."""

    from_name: str
    to_name: str
    field: str
    answer: str
    choices: tuple[str, ...]


class _Tags:
    """Collects tags with their attributes and the names of their ancestors; entities are refused."""

    def __init__(self) -> None:
        self.found: list[tuple[str, dict[str, str], tuple[str, ...]]] = []
        self._around: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._around) >= DEEPEST or len(self.found) >= MOST_TAGS:
            raise _refused(f"at most {MOST_TAGS:,} tags, nested at most {DEEPEST} deep")
        self.found.append((name, attributes, tuple(self._around)))
        self._around.append(name)

    def end(self, name: str) -> None:
        self._around.pop()

    def declared(self, *_: object) -> None:
        raise _refused("no document type and no entities")


def _refused(expected: str) -> InputError:
    return InputError(f"the labelling config must have {expected}.", owner="label-studio", parameter="label_config")


@lru_cache(maxsize=64)
def read(config: str) -> Config:
    """The one question of a config; refused where there is not exactly one."""
    tags = _tags(config)
    controls = [tag for tag in tags if "toName" in tag[1] and tag[0] not in SILENT]
    others = sorted({name for name, _, _ in controls} - {"Choices", "Number"})
    if others:
        raise _refused(f"Choices or Number and no {', '.join(others)[:100]}, which askwhen does not predict")
    if len(controls) != 1:
        raise _refused(f"exactly one Choices or Number with a toName, got {len(controls)}")
    name, given, _ = controls[0]
    answer = NUMBER if name == "Number" else _CHOICE.get(given.get("choice", "single"))
    if answer is None:
        raise _refused('Choices with choice="single" or choice="multiple"')
    if any(given.get(each, "false") == "true" for each in ("perRegion", "perItem", "allowNested")):
        raise _refused(f"{name} of the whole task, neither perRegion, perItem nor allowNested")
    shown = [attributes for _, attributes, _ in tags if attributes.get("name") == given["toName"]]
    if len(shown) != 1 or not given.get("name"):
        raise _refused(f"one tag with the name that toName says, and a name for {name}")
    field = shown[0].get("value", "")
    if not field.startswith("$") or not field[1:].strip():
        raise _refused(f'value="$field" in the tag {given["toName"][:50]}')
    return Config(given["name"], given["toName"], field[1:].strip(), answer, () if answer == NUMBER else _choices(tags))


def _tags(config: str) -> list[tuple[str, dict[str, str], tuple[str, ...]]]:
    if len(config) > LARGEST:
        raise _refused(f"at most {LARGEST:,} characters")
    tags, parser = _Tags(), expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = tags.start, tags.end
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = tags.declared
    try:
        parser.Parse(config.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise _refused(f"well-formed XML ({error})") from None
    return tags.found


def _choices(tags: list[tuple[str, dict[str, str], tuple[str, ...]]]) -> tuple[str, ...]:
    found = []
    for name, attributes, around in tags:
        if name == "Choice":
            if around.count("Choice"):
                raise _refused("choices that are not nested")
            found.append(attributes.get("alias") or attributes.get("value", ""))
    if len(found) < 2 or len(set(found)) < len(found) or not all(found):
        raise _refused("at least two different choices")
    return tuple(found)


def checked(config: str, stream: ServiceStream) -> Config:
    """Read a config; refused where its answers are not those of the stream."""
    found, wanted = read(config), kind_of(stream.settings)
    if found.answer != wanted:
        raise _refused(f"{_TAGS[wanted]}, since people answer the stream {stream.name} with {wanted}")
    if wanted != NUMBER and stream.settings.labels != OPEN and set(found.choices) != set(stream.settings.labels):
        raise InputError(
            f"the choices must be the labels of the stream {stream.name}, {', '.join(stream.settings.labels)[:200]}, "
            f"got {', '.join(found.choices)[:200]}.",
            owner="label-studio",
            parameter="label_config",
        )
    return found
