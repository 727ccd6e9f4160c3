"""Every test and documented example runs in a folder of its own; tests that compile the same steps run together."""

import pytest


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def pytest_collection_modifyitems(items):
    """Keep what shares compiled rounds on one worker, or both would compile them at the same time."""
    from tests.table import BUILDERS, REGRESSORS

    table = BUILDERS | REGRESSORS
    kinds = {name: _kind(build(0)) for name, build in table.items()}
    for item in items:
        name = item.callspec.params.get("name") if hasattr(item, "callspec") else None
        if isinstance(name, str) and name in kinds:
            item.add_marker(pytest.mark.xdist_group(kinds[name]))


def _kind(sampler):
    """What a round is compiled for: the types of the learner's state and of the drift guard's."""
    state = sampler.learner.start(2, False)
    return f"{type(state).__name__}-{type(state.w).__name__}-{type(sampler.drift).__name__}"
