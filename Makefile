# What people and CI run. Each step says what it does and is quick when nothing is to do.

TASK ?= humanize/file-sizes
BIN := .venv/bin
AGENTS = $(notdir $(basename $(wildcard sandbox/agents/clients/presets/*.yaml)))

# Every command would compile some hundred modules again where the caller keeps no bytecode.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/bytecode

.NOTPARALLEL:
.PHONY: run test test-slow test-all agents test-agents check bench chaos soak machine suite gold setup environment native fuzzer browser cluster pins clean

# One worker more than processors: much of what tests do is to wait.
WORKERS ?= $(shell expr 1 + $$(nproc 2>/dev/null || echo 2))
PARALLEL = -n $(WORKERS) --dist loadscope --no-loadscope-reorder

run: setup ## watch the oracle solve a task, then see what it changed
	@echo "==> running $(TASK) with the oracle"
	@$(BIN)/sandbox run $(TASK) --agent oracle
	@echo "==> what differs in its container"
	@$(BIN)/sandbox diff last

test: setup native fuzzer ## the tests, those with the engine included
	@echo "==> testing"
	@$(BIN)/python -m pytest $(PARALLEL) -m "not clients and not thorough and not slow"

test-slow: setup native fuzzer ## the tests that `make test` has no time for; CI runs both
	@echo "==> testing what takes longer"
	@$(BIN)/python -m pytest $(PARALLEL) -m "slow and not clients and not thorough"

test-all: setup native fuzzer browser cluster agents ## all tests: real clients, long fuzzing, whole validations as well
	@echo "==> testing everything"
	@SANDBOX_TEST_AGENTS=1 SANDBOX_FUZZ_SECONDS=120 $(BIN)/python -m pytest $(PARALLEL)

agents: environment ## real clients for the tests, from npm and PyPI into the cache
	@for name in $(AGENTS); do echo "==> installing $$name"; $(BIN)/sandbox agents install $$name || exit; done

test-agents: setup agents ## the tests that drive real clients
	@echo "==> testing with real clients"
	@SANDBOX_TEST_AGENTS=1 $(BIN)/python -m pytest -m clients

check: environment ## style, types, layers and prose
	@echo "==> checking style (ruff)"
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@echo "==> checking types (mypy)"
	@$(BIN)/mypy
	@echo "==> checking layers, prose and promises (pytest)"
	@$(BIN)/python -m pytest -q tests/test_layers.py tests/test_prose.py tests/test_specification.py tests/test_readmes.py

bench: setup ## the figures of docs/figures.md
	@echo "==> measuring"
	@$(BIN)/python -m tests.bench

chaos: setup ## 2,000 faults at random moments against an engine of its own
	@echo "==> doing harm"
	@$(BIN)/python -m tests.chaos

soak: setup ## 10,000 short trials of one experiment, with a fault at every fiftieth
	@echo "==> doing trials under faults"
	@$(BIN)/python -m tests.chaos.soak

machine: setup ## other engines and control groups of version 2, in a virtual machine
	@echo "==> trying other engines in a virtual machine"
	@$(BIN)/python -m tests.machine

suite: environment ## draw the standard suite anew, after tasks or operators have changed
	@echo "==> drawing suites/standard.yaml"
	@$(BIN)/sandbox generate --level L2 --level L3 --level L4 --level L5 --level L6 --count 4 --seed 1 --out suites/standard.yaml

gold: environment ## draw the gold suite anew, after seeds, drafts or operators have changed
	@echo "==> drawing suites/gold.yaml"
	@$(BIN)/sandbox generate --tasks suites/gold.tasks.yaml --operators brief --seed 1 --out suites/gold.yaml

setup: environment ## environment, engine and images
	@echo "==> finding a container engine"
	@$(BIN)/sandbox doctor --mend
	@echo "==> building images"
	@$(BIN)/sandbox build

environment:
	@sh .ci/environment

native: environment ## what the native engine calls, for the tests of it; only root has one
	@if [ "$$(id -u)" = 0 ]; then \
	    echo "==> preparing the native engine"; \
	    SANDBOX_ENGINE=native $(BIN)/sandbox doctor --mend > /dev/null; \
	fi

fuzzer:
	@sh .ci/fuzzer

browser:
	@sh .ci/browser

cluster: environment
	@sh .ci/cluster

pins: environment ## the newest versions of all dependencies into .ci/pins.txt, to be tested then
	@$(BIN)/python -m pip install --quiet --upgrade --upgrade-strategy eager --editable '.[development,inspect,mine,parquet,ray]'
	@{ head -n 1 .ci/pins.txt; $(BIN)/python -m pip freeze --exclude-editable; } > .ci/pins.new && mv .ci/pins.new .ci/pins.txt

clean: ## remove what `make` made in this folder; runs stay
	@echo "==> removing .venv and caches"
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
