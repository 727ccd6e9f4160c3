"""What must hold in every log, whoever wrote it and whatever happened to the writer."""

import json


def check(events):
    """Refuse a log in which a slot is held or filled by two, or somebody has two slots of one question.

    Gives the answers that stand: label and annotator by question and slot.
    """
    held, filled, keys = {}, {}, set()
    for at, event in enumerate(events):
        assert event.seq == at + 1, f"event {at + 1} is missing"
        assert at == 0 or event.time >= events[at - 1].time, "time went back"
        if event.key is not None:
            assert event.key not in keys, f"{event.key} was done twice"
            keys.add(event.key)
        facts = json.loads(event.facts)
        place, who = (event.question, facts.get("slot")), facts.get("annotator")
        mine = [other for other in held if other[0] == event.question and held[other][0] == who]
        if event.kind == "undone":
            assert filled.pop(place)[0] == who
        if event.kind in ("leased", "undone", "unskipped"):
            assert place not in filled, "a filled slot was given out"
            holder, until = held.get(place, (who, 0.0))
            assert holder == who or until <= event.time, "a slot is held by two"
            assert who not in people(filled, event.question), "somebody has two slots"
            for other in mine:
                assert other == place or held[other][1] <= event.time, "somebody holds two slots"
            held[place] = (who, facts["until"])
        elif event.kind == "answered":
            assert place not in filled, "a slot was filled twice"
            holder, until = held.get(place, (who, 0.0))
            assert holder == who or until <= event.time, "a slot was filled that somebody else holds"
            assert who not in people(filled, event.question), "somebody answered twice"
            filled[place] = (who, facts.get("label"))
        if event.kind in ("released", "skipped", "answered"):
            for other in mine:
                del held[other]
    return filled


def people(filled, question):
    return [who for (other, _), (who, _) in filled.items() if other == question]
