"""The catalogue of algorithms: every name builds, and says truly what it takes."""

import pathlib
import re

import pytest

import askwhen as aw
from askwhen.algorithms import USUAL, algorithm, algorithms

SCALES = {"a": 0.3, "b": 0.3, "beta": 0.3, "delta": 0.3, "kappa": 0.4, "rate": 0.3}


def test_there_are_the_papers_algorithms_and_ours():
    ours = ["default", "random", "regression", "auto-lasec", "least-squares"]
    assert list(algorithms()) == [*ours, *(name.lower() for name in aw.paper_names())]
    assert [name for name, each in algorithms().items() if each.is_ours] == ours
    assert len(algorithms()) == 31


@pytest.mark.parametrize("name", algorithms())
def test_every_algorithm_builds_by_its_scale_and_by_a_share(name):
    found = algorithm(name.upper())
    if found.scale is None:
        assert found.build(seed=1).rule == aw.Always()
    else:
        assert found.scale in found.letters
        value = SCALES[found.scale]
        assert value in vars(found.build({found.scale: value}, seed=1).rule).values()
    rule = found.build(share=0.2, seed=1).rule
    assert rule.rate == 0.2
    if found.scale == "rate" and not found.is_ours:
        assert isinstance(rule, aw.FixedRate)


@pytest.mark.parametrize("name", aw.paper_names())
def test_a_paper_built_here_is_the_paper(name):
    found = algorithm(name)
    letters = {letter: USUAL[letter] for letter in found.letters if letter in USUAL}
    letters |= {} if found.scale is None else {found.scale: SCALES[found.scale]}
    here, there = found.build(letters, seed=3), aw.paper(name, seed=3, **letters)
    assert (here.learner, here.rule, here.drift) == (there.learner, there.rule, there.drift)


def test_ours_are_no_papers():
    with pytest.raises(aw.InputError, match=r"^paper: name must be one of PERCEPTRON, .*, got 'default'\.$"):
        aw.paper("default", rate=0.1)


def test_a_paper_can_prepare():
    assert aw.paper("SEL-P", b=1.0, prepare=aw.Prepare()).prepare == aw.Prepare()
    assert aw.paper("SEL-P", b=1.0).prepare is None


def test_what_does_not_fit_is_refused_in_one_sentence():
    with pytest.raises(aw.InputError, match=r"^algorithm: there is no 'nonsense'; askwhen algorithms lists them"):
        algorithm("nonsense")
    with pytest.raises(aw.InputError, match=r"^lasec-ss: this algorithm takes b, c, a, got 'q'\.$"):
        algorithm("lasec-ss").build({"q": 1})
    with pytest.raises(aw.InputError, match=r"^sel-p: give b, which sets how often it asks, or a share of labels\.$"):
        algorithm("sel-p").build()
    with pytest.raises(aw.InputError, match=r"^sel-p: give either b or a share of labels, since both set .*\.$"):
        algorithm("sel-p").build({"b": 1.0}, share=0.1)


def test_the_page_names_the_same_papers():
    page = (pathlib.Path(__file__).parents[1] / "docs" / "algorithms.md").read_text()
    listed = dict(re.findall(r"^\| ([A-Z0-9-]+) \| .* \| \[(\w[\w-]*)[^]]*\]\(#[\w-]+\)[^|]*\|$", page, re.MULTILINE))
    ours = {name.upper(): each.source for name, each in algorithms().items() if each.source != "askwhen"}
    assert sorted(listed) == sorted(ours)
    assert {name: paper for name, paper in ours.items() if not paper.startswith(listed[name])} == {}


def test_counts_may_come_as_floats_and_must_be_whole():
    assert algorithm("rbp").build({"B": 10.0}).learner.budget == 10
    with pytest.raises(aw.InputError, match="budget must be a whole number"):
        algorithm("rbp").build({"B": 10.5})
