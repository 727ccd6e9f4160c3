"""The papers' experiments at a tiny size: what they claim, where it holds with high probability."""

import os
import xml.dom.minidom

import pytest

import askwhen as aw
from askwhen.experiments import EXPERIMENTS, Playing
from askwhen.experiments.outcome import Outcome, Table

pytestmark = pytest.mark.xdist_group("experiments")


def played(name, size="tiny"):
    found = EXPERIMENTS[name].run(Playing(name, size), size)
    assert isinstance(found, Outcome)
    for table in found.tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert "nan" not in table.markdown().lower()
    for figure in found.figures.values():
        xml.dom.minidom.parseString(figure)
        assert "nan" not in figure.lower()
    return found


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    from askwhen.experiments import playing

    monkeypatch.setattr(playing, "cache_folder", lambda: tmp_path / "cells")


def needs(name):
    try:
        aw.data.load(name)
    except aw.InputError:
        pytest.skip(f"{name} is not here: ASKWHEN_DATA names no folder with it")


def test_the_synthetic_stream_has_the_papers_order():
    found = played("lasec-synthetic")
    assert found.claims == {
        "lasec is best in the end, with every label": True,
        "sop is best before the first switch, with every label": True,
        "lasec-ss is best in the end, at 40 % of the labels": True,
        "bbq is best before the first switch, at 40 % of the labels": True,
    }
    asked = [float(row[1].split()[0]) for row in found.tables[1].rows]
    assert all(abs(share - 40.0) < 4.0 for share in asked)


def test_usps_gives_way_to_the_digits_where_it_is_absent(monkeypatch):
    monkeypatch.setenv("ASKWHEN_DATA", "")
    monkeypatch.setenv("XDG_CACHE_HOME", os.getcwd())
    found = played("lasec-usps")
    assert found.remarks[0].startswith("USPS is not here: these are scikit-learn's digits")


@pytest.mark.parametrize("name", ["switch-classification", "switch-regression"])
def test_switches_are_found_and_none_is_invented(name):
    found = played(name)
    assert found.claims["detector: no false detection"]
    assert found.claims["detector, no extra: no false detection"]
    known = name == "switch-classification"
    assert found.claims[
        f"optimum: error {'within two published deviations' if known else 'as published, to three digits'}"
    ]
    assert found.claims["detector: error within two published deviations"]
    assert found.tables[1].rows[0][3] == "4 of 4"


def test_margins_beat_random_sampling_of_stories():
    needs("rcv1")
    found = played("selective-text")
    assert len(found.figures) >= 7
    rates = [float(row[2].split()[0]) for row in found.tables[0].rows[:-1]]
    assert rates == sorted(rates)


def test_passive_aggressive_learners_stand_beside_support_vector_machines():
    needs("svmguide1")
    found = played("pa-svm")
    names = [row[0] for row in found.tables[0].rows]
    assert names[:7] == ["PA", "PA-ACTIVE", "PA-I", "PA-I-ACTIVE", "PA-II", "PA-II-ACTIVE", "LinearSVC"]


def test_theorems_of_online_to_batch_hold():
    found = played("online-to-batch")
    assert all(found.claims.values()), found.claims


def test_what_is_finished_is_never_played_again():
    heard = []
    playing = Playing("name", "tiny", lambda *word: heard.append(word))
    assert playing({"a": lambda: 1.5, "b": lambda: [0.1, {"x": None}]}) == {"a": 1.5, "b": [0.1, {"x": None}]}

    def fails():
        raise ValueError("played again")

    again = Playing("name", "tiny")
    assert again({"a": fails}) == {"a": 1.5}
    with pytest.raises(ValueError, match="played again"):
        Playing("name", "quick")({"a": fails})
    assert sorted(word[:2] for word in heard) == [(1, 2), (2, 2)]


def test_an_interrupted_run_goes_on_where_it_was():
    count = []

    def cell(k):
        if k == 3 and len(count) < 10:
            count.extend([0] * 10)
            raise KeyboardInterrupt
        count.append(k)
        return k

    cells = {str(k): lambda k=k: cell(k) for k in range(6)}
    with pytest.raises(KeyboardInterrupt):
        Playing("name", "tiny")(cells)
    assert Playing("name", "tiny")(cells) == {str(k): k for k in range(6)}
    assert sorted(k for k in count if k) == [1, 2, 3, 4, 5]


def test_a_table_is_markdown_too():
    table = Table("Title", ["a", "b"], [["1", "2"]])
    assert table.markdown() == "**Title**\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"
