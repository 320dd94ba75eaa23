# Two commands: `make demo` and `make test`. Both set up what they need in .venv, once.

PYTHON ?= python3
VENV := .venv
PLUG_INS := examples/connect_four examples/pig
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# where it is set, every process of a test compiles the arena's and the tests' sources again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help venv demo tools tools-system test test-system chaos coverage lint format bench docs reference ladder stats cluster-demo clean

help:
	@echo "make demo    play the demo tournament, print its leaderboards, write them and a report to reports/demo/"
	@echo "make test    run the tests, a short lane of everything (minutes)"
	@echo "make test-system  run the long tests: kills, clusters, whole sandboxed tournaments (minutes)"
	@echo "make chaos   kill, cut and fill up runs and seasons hundreds of times, and compare what they leave (half an hour)"
	@echo "make coverage  run the tests of make test, and report which lines they reach, in workers too"
	@echo "make lint    check style and types"
	@echo "make format  format the code"
	@echo "make bench   measure this installation's speed, beside other libraries that are installed (minutes)"
	@echo "             WHAT=list lists the sections, WHAT='engine arena' names some, AGAINST=COMMIT compares"
	@echo "make docs    build the documentation as pages in docs/_build; warnings are errors"
	@echo "make reference  write the parts of docs/ that are made from the code"
	@echo "make ladder  play the ladder of all bots and write reports/ladder/ (three quarters of an hour)"
	@echo "make stats   hold the statistics against simulated worlds whose truth is known (minutes)"
	@echo "make cluster-demo  play on two Ray nodes of this machine, lose one, add one (minutes); docs/how-to/cluster.md"
	@echo "make venv    only set up .venv"
	@echo "make clean   remove .venv and caches; reports stay"

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt $(PLUG_INS:=/pyproject.toml) | $(VENV)/bin/python
	$(INSTALL) --editable '.[dev]' $(addprefix --editable ,$(PLUG_INS))
	@touch $(VENV)/.runtime $(VENV)/.plugged $@

venv: $(VENV)/.runtime

demo: $(VENV)/.runtime
	$(BIN)/arena run configs/demo.toml

# node, a C compiler and bubblewrap, for the tests of bots in other languages and of the sandbox
tools:
	@.ci/tools

# Chromium too, for the tests of pages
tools-system:
	@.ci/tools --system

# one process more than cores: some tests wait; in the order that tests/conftest.py gives: longest first
LANE := -n $$(($$(nproc) + 1)) --dist loadfile --no-loadscope-reorder

test: tools $(VENV)/.dev
	$(BIN)/python -m compileall -q -j 0 arena bots engine tests/arena tests/bots tests/engine tests/support
	$(BIN)/python -m arena warm  # else each of the lane's processes compiles what another one is compiling
	$(BIN)/python -m pytest $(LANE)

test-system: tools-system $(VENV)/.dev
	$(BIN)/python -m pytest $(LANE) --system

coverage: tools $(VENV)/.dev
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(LANE)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

chaos: tools $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --chaos tests/system/test_chaos.py tests/arena/verify/test_changed_logs.py
	$(BIN)/python -m pytest -n auto --chaos -m chaos --ignore tests/system/test_chaos.py --ignore tests/arena/verify/test_changed_logs.py

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/.plugged: $(PLUG_INS:=/pyproject.toml) $(VENV)/.runtime
	$(INSTALL) $(addprefix --editable ,$(PLUG_INS))
	@touch $@

# WHAT: sections; AGAINST: a folder or commit to compare with; ARGS: other options, such as --full or --record
bench: $(VENV)/.plugged
	@$(BIN)/python -m benchmarks $(WHAT) $(if $(AGAINST),--against $(AGAINST)) $(ARGS)

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(INSTALL) --editable '.[docs]'
	@touch $(VENV)/.runtime $@

# the parts of pages in docs/ that are made from the code
reference: $(VENV)/.dev
	$(BIN)/python -m scripts.reference

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --quiet docs docs/_build

ladder: $(VENV)/.runtime
	$(BIN)/arena run configs/ladder.toml
	$(BIN)/python -m scripts.ladder configs/ladder.toml reports/ladder

# further modules join the list; each prints a table and exits with 1 when a promise fails
STATS := $(addprefix tests.support.,worlds interval_worlds misfit_worlds family_worlds variance_worlds sprt_worlds \
	overall_worlds tuning_worlds schedule_worlds)

stats: $(VENV)/.dev
	set -e; for module in $(STATS); do $(BIN)/python -m $$module; done

cluster-demo: $(VENV)/.runtime
	$(BIN)/python -m scripts.cluster_demo configs/cluster.toml

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
