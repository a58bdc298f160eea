# One word per job; `make help` lists them. Everything runs in a virtual environment of its own.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.minductor-ready
# The project's range admits several releases; the environment takes the one that is tested most.
TORCH ?= torch==2.13.0
LIT_FLAGS ?=
PYTEST_FLAGS ?=
# processes that run tests; 0 runs them in pytest's own
WORKERS ?= auto
CONFORMANCE_FLAGS ?=
DEVICE ?= cpu
# random programs of `make fuzz`, the seed that draws them, processes
N ?= 2000
SEED ?= 0
JOBS ?= 2
FUZZ_FLAGS ?=
SANITIZE_FLAGS ?=

.DEFAULT_GOAL := help
.PHONY: help venv demo test lit unit e2e slow conformance fuzz sanitize check format tour support bench fusion-gap fusion-table clean

help: ## list the jobs
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

venv: $(READY) ## create the environment (.venv) with everything that tests and checks need

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "minductor needs Python 3.11 or newer: make PYTHON=python3.11 ..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/python -m pip install --quiet '$(TORCH)'
	$(BIN)/python -m pip install --quiet -e '.[test,dev]'
	@touch $@

demo: $(READY) ## compile a 4-layer GPT-2: one inference and one training step, with figures
	$(BIN)/python -m minductor.tools.demo

test: lit ## lit, unit and end-to-end tests (those that are not slow)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m 'not slow and not gpu' $(PYTEST_FLAGS)

lit: $(READY) ## lit tests alone
	$(BIN)/lit -q $(LIT_FLAGS) test/lit

unit: $(READY) ## unit tests alone
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m 'not slow and not gpu' $(PYTEST_FLAGS) test/unit

e2e: $(READY) ## end-to-end tests alone: torch.compile against eager
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m 'not slow and not gpu' $(PYTEST_FLAGS) test/e2e

slow: $(READY) ## the slow end-to-end tests: whole models
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m 'slow and not gpu' $(PYTEST_FLAGS)

conformance: $(READY) ## every operator sample of PyTorch's OpInfo against eager; hours of a core
	$(BIN)/python -m minductor.tools.make_op_support
	$(BIN)/python -m minductor.tools.conformance --device $(DEVICE) $(CONFORMANCE_FLAGS)

fuzz: $(READY) ## random programs against eager (N=2000 SEED=0 JOBS=2 FUZZ_FLAGS="--options isa=avx2")
	$(BIN)/python -m minductor.tools.fuzz --n $(N) --seed $(SEED) --jobs $(JOBS) $(FUZZ_FLAGS)

sanitize: $(READY) ## generated code under address, undefined and thread sanitizers (SANITIZE_FLAGS="--fuzz 50")
	$(BIN)/python -m minductor.tools.sanitize $(SANITIZE_FLAGS)

check: $(READY) ## ruff, pyright strict, size caps, import direction, a lit file for each pass
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	@set -e; for file in tools/check_*.py; do \
	  $(BIN)/python -m minductor.tools.$$(basename $$file .py); done

format: $(READY) ## format the code and mend what ruff can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

tour: $(READY) ## write docs/tour.md anew
	$(BIN)/python -m minductor.tools.make_tour

support: $(READY) ## write docs/op-support.md anew
	$(BIN)/python -m minductor.tools.make_op_support

bench: $(READY) ## minductor, TorchInductor and eager side by side (DEVICE=cpu or cuda)
	$(BIN)/python -m bench --device $(DEVICE)

fusion-table: $(READY) ## write the table of docs/fusion.md anew: bytes beside TorchInductor
	$(BIN)/python -m bench.fusion

fusion-gap: $(READY) ## fusion's plans beside the cheapest ones, by exhaustive search
	$(BIN)/python -m bench.fusion_gap --real

clean: ## remove what was built, the environment not included
	rm -rf build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
