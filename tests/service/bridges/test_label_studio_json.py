"""Tasks of Label Studio, read and written."""

import json

import pytest

from askwhen.errors import InputError
from askwhen.service.use_cases.label_studio import annotations as studio_json
from tests.service.bridges.studio import annotation, chosen, task


def test_a_task_of_an_export():
    given = task(7) | {"annotations": [annotation(3, 7, "spam", 1, 5), annotation(4, 7, "ham", was_cancelled=True)]}
    found = studio_json.task_of(given)
    assert (found.id, found.data) == ("7", {"text": "mail number 7"})
    first, second = found.annotations
    assert (first.id, first.annotator, first.label, first.lead) == ("3", "label-studio:5", "spam", 2.5)
    assert first.at == pytest.approx(second.at + 1.0)
    assert second.label is None  # skipped


def test_a_file_without_numbers_is_known_by_what_it_says():
    given = [{"data": {"text": "a"}, "completions": [{"result": chosen("ham"), "completed_by": {"email": "a@b.c"}}]}]
    first, again = (list(studio_json.tasks_of(json.loads(json.dumps(given)))) for _ in range(2))
    assert first == again
    assert first[0].annotations[0].annotator == "label-studio:a@b.c"
    assert first[0].id != next(studio_json.tasks_of({"data": {"text": "b"}})).id


def test_one_control_of_several_is_read_by_its_name():
    result = [*chosen("ham"), {"type": "choices", "from_name": "other", "value": {"choices": ["x"]}}]
    with pytest.raises(InputError, match="one choice of one Choices"):
        studio_json.label_of(result)
    assert studio_json.label_of(chosen("ham"), "kind") == "ham"
    assert studio_json.label_of(chosen("ham"), "other") is None
    assert studio_json.label_of([{"type": "textarea", "from_name": "n", "value": {"text": ["x"]}}]) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "task must be an object"),
        ([], "task must be an object"),
        ({"data": []}, "data of task must be an object"),
        ({"text": "a"}, "data of task must be an object"),
        ({"id": True, "data": {}}, "id of task must be a number"),
        ({"id": "a:b", "data": {}}, "id of task must be a number"),
        ({"id": 1 << 70, "data": {}}, "id of task must be a number"),
        ({"id": 1, "data": {}, "annotations": {"a": 1}}, "annotations of task must be an array"),
        ({"id": 1, "data": {}, "annotations": [3]}, "annotation must be an object"),
        ({"id": 1, "data": {}, "annotations": [{}]}, "result must be an array"),
        ({"id": 1, "data": {}, "annotations": [{"result": [], "completed_by": [1]}]}, "completed_by must be"),
        ({"id": 1, "data": {}, "annotations": [{"result": [], "updated_at": 3}]}, "updated_at must be a time"),
        ({"id": 1, "data": {}, "annotations": [{"result": [], "updated_at": "soon"}]}, "updated_at must be a time"),
        ({"id": 1, "data": {}, "annotations": [{"result": chosen(3)}]}, "result must be one choice"),
        ({"id": 1, "data": {}, "annotations": [{"result": [*chosen("a"), {"type": "choices"}]}]}, "one choice"),
    ],
)
def test_what_is_no_task_is_refused_in_a_sentence(given, said):
    with pytest.raises(InputError, match=said):
        studio_json.task_of(given)


def test_an_array_in_parts_is_json():
    for chunks in ([], [[]], [[{"a": 1}]], [[{"a": 1}, {"b": 2}], [], [{"c": 3}]]):
        whole = b"".join(studio_json.array_of(chunks))
        assert json.loads(whole) == [each for chunk in chunks for each in chunk]
