"""Any function as an encoder: what it is given, what it may return, and what tells two of them apart."""

import numpy as np
import pytest

import askwhen as aw
from askwhen.encoders import load


class Counting:
    """A function that counts letters, and keeps what it was given."""

    def __init__(self):
        self.batches = []

    def __call__(self, texts):
        self.batches.append(texts)
        return np.array([[text.count("a"), text.count("b"), len(text)] for text in texts])


def returning(first, then):
    """A function that returns one array for the text by which its width is found, and another one afterwards."""
    left = [first]
    return lambda texts: left.pop() if left else then


def test_a_function_gives_the_vectors():
    encoder = load(Counting())
    found = encoder.encode(["abba", "a", "bb"])
    assert found.dtype == np.float32
    assert found.tolist() == [[2, 2, 4], [1, 0, 1], [0, 2, 2]]
    assert encoder.width == 3


def test_anything_that_numpy_takes_for_an_array_may_be_returned():
    assert load(lambda texts: [[1, 2.5]] * len(texts)).encode(["x"]).tolist() == [[1, 2.5]]


def test_blank_texts_are_zero_and_never_passed_on():
    counting = Counting()
    encoder = load(counting)
    counting.batches.clear()
    found = encoder.encode(["", "ab", " \n\t", "b"])
    assert found.tolist() == [[0, 0, 0], [1, 1, 2], [0, 0, 0], [0, 1, 1]]
    assert encoder.encode([" "]).tolist() == [[0, 0, 0]]
    assert encoder.encode([]).shape == (0, 3)
    assert counting.batches == [["ab", "b"]]


def test_many_texts_are_passed_on_in_batches_of_bounded_size():
    counting = Counting()
    encoder = load(counting)
    texts = ["ab" * (i % 7 + 1) for i in range(5000)] + ["a" * 9000] * 100
    found = encoder.encode(texts)
    assert found.tolist() == Counting()(texts).tolist()
    assert max(len(batch) for batch in counting.batches) == 1024
    assert max(sum(map(len, batch)) for batch in counting.batches) <= 2**18


def test_only_the_first_10000_characters_of_a_text_are_passed_on():
    found = load(Counting()).encode(["a" * 1_000_000, "é" * 10_001])
    assert found[:, 2].tolist() == [10_000, 10_000]


def test_what_is_passed_on_is_valid_unicode():
    counting = Counting()
    load(counting).encode(["a\ud800b", "\ud83d\ude00", "a\0b", "é"])
    assert counting.batches[-1] == ["a\ufffdb", "😀", "a\0b", "é"]


def test_one_string_is_not_several_texts():
    with pytest.raises(aw.InputError, match="^encode: texts must be several strings, got one; give a list.$"):
        load(Counting()).encode("abc")


def test_what_is_not_a_string_is_named_with_its_row():
    with pytest.raises(aw.InputError, match="^encode: every text must be a string, got NoneType in row 1.$"):
        load(Counting()).encode(["a", None])


@pytest.mark.parametrize(
    ("first", "sentence"),
    [
        (np.zeros(3), "must return an array with one row for each text, got the shape (3,) for one text."),
        (np.zeros((2, 3)), "must return an array with one row for each text, got the shape (2, 3) for one text."),
        (np.zeros((1, 0)), "must return an array with one row for each text, got the shape (1, 0) for one text."),
        ([["a"]], "must return an array of numbers: it holds values of type <U1."),
        (None, "must return an array of numbers: it holds values of type object."),
        ([[1], [2, 3]], "must return an array of numbers: setting an array element with a sequence"),
    ],
)
def test_a_function_that_cannot_be_an_encoder_is_refused_at_once(first, sentence):
    with pytest.raises(aw.InputError) as caught:
        load(returning(first, first), name="broken")
    assert f"broken {sentence}" in str(caught.value)


@pytest.mark.parametrize(
    ("then", "sentence"),
    [
        (np.zeros((2, 4)), "encode: broken must return 3 numbers for each text, got the shape (2, 4) for 2 texts."),
        (np.zeros((3, 3)), "encode: broken must return 3 numbers for each text, got the shape (3, 3) for 2 texts."),
        (np.zeros(3), "encode: broken must return 3 numbers for each text, got the shape (3,) for 2 texts."),
        ([[1, 2, 3], [1, np.nan, 3]], "encode: broken returned a number that is not finite for text 2."),
        ([[1e300, 2, 3], [1, 2, 3]], "encode: broken returned a number that is not finite for text 0."),
    ],
)
def test_vectors_that_are_not_what_they_were_before_are_refused(then, sentence):
    encoder = load(returning(np.zeros((1, 3)), then), name="broken")
    with pytest.raises(aw.InputError) as caught:
        encoder.encode(["a", "", "b"])
    assert str(caught.value) == sentence


def test_an_error_of_the_function_stays_what_it_is():
    def fails(texts):
        raise ConnectionError("no route")

    with pytest.raises(ConnectionError, match="no route"):
        load(fails)


def test_a_name_stands_for_the_checksum_of_a_function():
    one, same, other = load(Counting(), name="one"), load(Counting(), name="one"), load(Counting(), name="other")
    assert one.checksum == same.checksum != other.checksum
    assert len(one.checksum) == 64
    assert load(Counting()).checksum is None
    assert load(Counting()).name == "Counting"
    assert load(Counting().__call__).name == "Counting.__call__"


def test_the_encoder_of_a_model_is_the_only_one_that_may_replace_it():
    one, other = load(Counting(), name="one"), load(Counting(), name="other")
    one.check(load(Counting(), name="one").descriptor())
    with pytest.raises(aw.InputError) as caught:
        other.check(one.descriptor())
    begin = f"encoders: the vectors must be those of one (checksum {one.checksum[:8]}, 3 numbers), got other"
    assert str(caught.value).startswith(begin)
    unnamed = load(Counting())
    unnamed.check(load(Counting()).descriptor())
    for stranger in (one.descriptor(), load(lambda texts: np.zeros((len(texts), 3))).descriptor(), {}):
        with pytest.raises(aw.InputError, match=r"got Counting \(no checksum, 3 numbers\)"):
            unnamed.check(stranger)


def test_an_encoder_is_taken_as_it_is():
    encoder = load(Counting())
    assert load(encoder) is encoder


@pytest.mark.parametrize("name", ["", 3])
def test_a_name_must_be_text(name):
    with pytest.raises(aw.InputError, match="name= must be the name of a callable"):
        load(Counting(), name=name)


def test_only_a_function_is_given_a_name():
    with pytest.raises(aw.InputError, match="name= must be the name of a callable, got 'mine' for 'static'"):
        load("static", name="mine")


@pytest.mark.parametrize("strange", ["nowhere", 3, None])
def test_what_is_no_encoder_is_refused_with_what_there_are(strange):
    with pytest.raises(aw.InputError) as caught:
        load(strange)
    assert str(caught.value) == (
        "encoders.load: an encoder must be 'static', a directory with model.safetensors and tokenizer.json, or a "
        f"callable, got {strange!r}."
    )
