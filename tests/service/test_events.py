"""The log's format: a kind of event, once released, keeps its name and its fields for ever."""

import msgspec

from askwhen.service.events.kinds import KINDS, Changed, Leased, encoded

FIELDS = {
    "instance": "round prediction margin probability coin asked why played certainty uncertainty level priority "
    "switched spent place source repeats answer expected withheld back id",
    "leased": "slot annotator until device",
    "released": "slot annotator",
    "answered": "slot annotator label lead",
    "skipped": "annotator",
    "undone": "slot annotator until told",
    "disputed": "",
    "reviewed": "annotator label",
    "told": "label delivered id",
    "forgotten": "why",
    "corrected": "label delivered id",
    "volunteered": "instance annotator label learnt",
    "received": "source annotation at instance annotator label lead gone",
    "handled": "received outcome",
    "renamed": "name",
    "paused": "by",
    "resumed": "by",
    "archived": "by",
    "settings changed": "changes by",
    "replayed": "by labels",
    "erased": "by instances until",
    "went on": "why rounds",
    "created": "stream name settings",
    "token made": "token name digest roles streams expires",
    "token revoked": "token",
    "webhook made": "hook url secret kinds streams accuracy",
    "webhook removed": "hook",
    "webhook stopped": "hook why",
    "webhook alarm": "hook stream low",
}


def test_kinds_and_their_fields_are_those_of_every_release():
    found = {kind: " ".join(field.name for field in msgspec.structs.fields(fact)) for kind, fact in KINDS.items()}
    for kind, fields in FIELDS.items():  # a new kind or field may come, and an old one never goes
        assert found[kind].split()[: len(fields.split())] == fields.split()


def test_a_kind_does_not_depend_on_the_name_of_its_class():
    fact = Leased(0, "ann", 2.0)
    assert (fact.event_kind, encoded(fact)) == ("leased", '{"slot":0,"annotator":"ann","until":2.0}')
    assert {kind for kind, each in KINDS.items() if each is Changed} == {"paused", "resumed", "archived"}
