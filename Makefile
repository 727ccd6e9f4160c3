# Two commands on a fresh machine: make demo, make test. Uses uv where it is installed, else python3 -m venv and pip.
VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
# Only the plugins that the tests use, and bytecode kept for the hundreds of processes that they start.
TEST = PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -p xdist.plugin -p _hypothesis_pytestplugin -n 2 --dist loadgroup --max-worker-restart 0
UV := $(shell command -v uv 2>/dev/null)

.PHONY: demo test docs quick soak oldest packages check bench peers field clean

demo: $(VENV)/.ready
	$(BIN)/askwhen demo

test: check
	$(TEST)

# The site, in build/docs: nothing is fetched, and a link that leads nowhere is an error.
docs: $(VENV)/.ready
	$(BIN)/python -m sphinx -W --keep-going -q docs build/docs
	@echo build/docs/index.html

# What needs little compiling, and one learner: under a minute, for a look between two edits.
quick: $(VENV)/.ready
	$(BIN)/python -m pytest -n 2 -q tests/data tests/rules tests/report/test_report.py tests/compiled/test_sources.py tests/contracts -k "(data or rules or report or sources) or PERCEPTRON-SS"

# What is long by nature: hundreds of endings, kills and forgeries. Each has a small size in the tests.
soak: $(VENV)/.ready
	ASKWHEN_SOAK=1 $(TEST) tests/data/test_files.py tests/snapshot tests/cli/test_label.py tests/contracts tests/test_checks.py tests/weights tests/evaluate tests/service tests/keyed tests/packaging/test_container.py

# The scikit-learn estimators on the oldest version that they support.
oldest:
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[data]' 'scikit-learn==1.6.*' pandas pytest
	$(VENV)-oldest/bin/python -m pytest tests/adapters/test_sklearn.py -W ignore::pytest.PytestRemovedIn10Warning

# The wheel with every extra, and the sdist, in clean environments of every Python at hand; needs the network.
packages: $(VENV)/.ready
	$(BIN)/python tests/packaging/matrix.py

check: $(VENV)/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Beside what you would take instead: speed, then accuracy for labels (an hour).
peers: $(VENV)/.ready
ifdef UV
	uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[dev,peers]'
else
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,peers]'
endif
	@: $${ASKWHEN_DATA:?set it to the folder of the data sets}
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python -W ignore benchmarks/peer_labels.py

# Accuracy for few labels, at once and late, of many methods (days; may be ended and goes on where it was).
field: $(VENV)/.ready
	@: $${ASKWHEN_DATA:?set it to the folder of the data sets}
	$(BIN)/python -W ignore benchmarks/field_table.py --seeds 5

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/drift.py
	$(BIN)/python benchmarks/coverage.py
	$(BIN)/python benchmarks/alarms.py
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/limits.py
	$(BIN)/python benchmarks/check.py
	ASKWHEN_DATA=$${ASKWHEN_DATA:?set it to the folder of the data sets} $(BIN)/python benchmarks/label_efficiency.py
	$(BIN)/python benchmarks/probabilities.py
	$(BIN)/python benchmarks/classes.py
	$(BIN)/python benchmarks/service.py
	$(BIN)/python benchmarks/keyed.py

clean:
	rm -rf $(VENV)

$(VENV)/.ready: pyproject.toml constraints.txt
ifdef UV
	uv venv --quiet --allow-existing --python $(PYTHON) $(VENV)
	uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[dev]'
else
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
endif
	touch $@
