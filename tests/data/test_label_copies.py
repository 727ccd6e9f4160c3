"""Columns that are the label written otherwise are found, and few rows show that most columns are not."""

import pytest

import askwhen as aw
from askwhen.data.label_copies import warn_of_copies
from askwhen.data.records import Records
from askwhen.data.schema_columns import NumberColumn


class Asked(Records):
    """Records that note which columns were compared."""

    def __init__(self, rows, path):
        super().__init__(rows, path)
        self.compared = []

    def coded(self, name):
        self.compared.append(name)
        return super().coded(name)


def test_a_column_with_more_numbers_than_labels_is_not_compared():
    labels = [i % 2 for i in range(400)]
    rows = [{"a": i / 7, "same": 5 - y, "late": i // 300 * 3 + y, "gap": None} for i, y in enumerate(labels)]
    table = Asked(rows, "t.csv")
    columns = [NumberColumn(name) for name in ("a", "same", "late", "gap")]
    with pytest.warns(aw.errors.InputWarning, match="^column 'same' of t.csv has one value for each label in"):
        warn_of_copies("t.csv", table, columns, labels, "drop {0}")
    assert table.compared == ["same", "late", "gap"]
