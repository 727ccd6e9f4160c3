"""Samplers of several kinds of features for each key, and stores of the default learner of an earlier release."""

import json

import pytest

import askwhen as aw
from askwhen.keyed.errors import StoreError
from askwhen.keyed.sampler_spec import SamplerSpec

KINDS = aw.Kinds(2, (3,), 10)


def write_log(folder, rows):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "one.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_kinds_say_what_instances_are():
    spec = SamplerSpec.of(aw.Sampler(seed=1, kinds=KINDS), None, False)
    assert (spec.features, spec.sparse) == (15, True)
    assert SamplerSpec.read(spec.written()) == spec
    with pytest.raises(aw.InputError, match="features must be 15, as the sampler's kinds say, got 4"):
        SamplerSpec.of(aw.Sampler(seed=1, kinds=KINDS), 4, False)


def test_a_store_of_the_earlier_default_goes_on_with_it(tmp_path):
    earlier = aw.Sampler(aw.Mixture(version=1), prepare=aw.Prepare(), seed=3)
    events = [{"key": "a", "x": [float(i % 5), 1.0, float(i % 3)], "label": 1 if i % 2 else -1} for i in range(20)]
    write_log(tmp_path / "log", events)
    aw.keyed.run(tmp_path / "log", tmp_path / "store", earlier)
    assert '"version"' not in SamplerSpec.of(earlier, None, False).written()  # as release 0.1 has written it
    with (tmp_path / "log" / "one.ndjson").open("a") as log:
        log.write(json.dumps({"key": "a", "x": [1.0, 2.0, 3.0]}) + "\n")
    aw.keyed.run(tmp_path / "log", tmp_path / "store", aw.Sampler(seed=3))
    found = aw.keyed.sampler(str(tmp_path / "store"), "a")
    assert (found.round, found.volunteered, found.learner) == (1, 20, aw.Mixture(version=1))
    with pytest.raises(StoreError, match="another kind, or with another seed"):
        aw.keyed.run(tmp_path / "log", tmp_path / "store", aw.Sampler(seed=4))
