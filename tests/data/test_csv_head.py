"""The first rows of a table of text: what is found in them, and how often they are parsed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwhen.data.csv_head import HeadTable
from askwhen.data.tables import ArrowTable
from askwhen.data.written_values import NULLS

arrow = pytest.importorskip("pyarrow")
from pyarrow import csv as arrow_csv  # noqa: E402, only where pyarrow is installed

TYPICAL = ["0.5", "-3", "7", "007", " 2 ", " 2.5", "1e3", "1e400", "0x1F"]
ODD = ["inf", " nan", "NaN", "NA", "", "?"]
VALUES = [*TYPICAL, *ODD, "true", "a"]


def read(text, types=None):
    converting = arrow_csv.ConvertOptions(null_values=NULLS, column_types=types, include_columns=list(types or ()))
    table = arrow_csv.read_csv(arrow.BufferReader(text.encode()), convert_options=converting)
    return table.combine_chunks().to_batches()[0]


def head_of(text):
    """The first rows of a text, and a list of the columns that are read as texts."""
    asked = []

    def as_written(names):
        asked.extend(names)
        return read(text, dict.fromkeys(names, arrow.string()))

    parsed = read(text)
    return HeadTable(parsed, as_written, "t.csv", parsed.schema.names), asked


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.lists(st.tuples(st.sampled_from(VALUES), st.sampled_from(TYPICAL)), min_size=1, max_size=12),
        st.lists(st.tuples(st.sampled_from(TYPICAL), st.sampled_from(ODD)), min_size=1, max_size=12),
    ),
    st.integers(1, 12),
)
def test_numbers_are_those_of_the_texts(rows, n):
    text = "a,b\n" + "".join(f'{a},"{b}"\n' for a, b in rows)
    texts = ArrowTable(read(text, dict.fromkeys("ab", arrow.string())), "t.csv").head(n)
    head = head_of(text)[0].head(n)
    assert (head.names, head.known, head.rows) == (texts.names, texts.known, texts.rows)
    assert head.records() == texts.records()
    for name in "ab":
        found, expected = head.plain_numbers(name), texts.plain_numbers(name)
        assert (found is None) == (expected is None)
        if expected is not None:
            np.testing.assert_array_equal(found[0].view(np.int64), expected[0].view(np.int64))
            assert found[1] == expected[1]
        assert head.kind(name) == texts.kind(name)
        assert head.gap(name) == texts.gap(name)
        assert head.coded(name)[0] == texts.coded(name)[0]


def test_columns_with_decimals_are_not_read_as_texts():
    head, asked = head_of("a,b,c\n0.5,1,x\n2,3,y\n,4,z\n")
    assert not head.plain_numbers("a")[1]
    assert asked == []
    assert head.plain_numbers("b")[1]
    assert asked == ["b", "c"]
    assert head.words("a") == ["0.5", "2", ""]
    assert asked == ["b", "c", "a"]
