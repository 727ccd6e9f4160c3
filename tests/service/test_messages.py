"""What clients send and read: odd characters, numbers of numpy, refusals in their turn."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.client.messages import decisions_of, instance_body, is_instance_body, json_bytes, rows_of, to_json_values


def line(**given):
    said = {"round": 0, "prediction": "a", "margin": 0.5, "probability": 1.0, "asked": True, "why": "", **given}
    return json.dumps(said, ensure_ascii=False)


def test_only_a_newline_ends_a_line():
    odd = "a\u2028b\u2029c\u0085d"
    assert [each.id for each in decisions_of(line(id=odd) + "\n" + line(id="e") + "\n")] == [odd, "e"]
    body = (line(id=odd) + "\n" + line(id="e") + "\n").encode()
    rows, rest = rows_of(b"", body[:20])
    more, rest = rows_of(rest, body[20:])
    assert ([each["id"] for each in rows + more], rest) == ([odd, "e"], b"")


def test_a_refusal_is_raised_when_its_turn_comes():
    found = decisions_of(line(id="a") + "\n" + json.dumps({"error": {"status": 422, "detail": "no."}}) + "\n")
    assert next(found).id == "a"
    with pytest.raises(aw.InputError, match="no"):
        next(found)


def test_numbers_of_numpy_go_as_numbers_and_what_is_none_is_refused():
    assert to_json_values({"a": np.int64(3), "b": [np.float64(0.5)]}) == {"a": 3, "b": [0.5]}
    assert to_json_values(sp.csr_matrix([[0.0, 2.0]])) == [0.0, 2.0]
    assert instance_body([1.0], "", 0.0, None)["id"] == ""
    for wrong in ([float("nan")], {"a": object()}):
        with pytest.raises(aw.InputError, match="cannot be sent as JSON"):
            json_bytes(wrong)


def test_features_of_which_one_is_called_x_are_features():
    assert is_instance_body({"x": [1.0], "id": "a"})
    assert not is_instance_body({"x": 1.0, "y": 2.0})
