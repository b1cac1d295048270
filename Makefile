# The two commands of the README are `make demo` and `make test`; the rest serves them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help

.PHONY: help
help:  ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

# pip leaves a half-made environment when it is interrupted, so a stamp says that it is whole.
# An environment that `make test` has made serves `make demo` too.
$(VENV)/runtime.stamp: requirements/runtime.txt pyproject.toml
	@echo "Making $(VENV) from requirements/runtime.txt ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --require-hashes --only-binary :all: -r requirements/runtime.txt
	@$(PIP) install --no-deps --no-build-isolation --no-index --editable .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/runtime.stamp requirements/dev.txt
	@echo "Adding the tools of requirements/dev.txt ..."
	@$(PIP) install --require-hashes --only-binary :all: -r requirements/dev.txt
	@touch $@

.PHONY: demo
demo: $(VENV)/runtime.stamp  ## read the example logs into a warehouse of its own and show what they tell
	@$(BIN)/tapewise --home .demo demo

.PHONY: test
test: $(VENV)/dev.stamp  ## every test, on PostgreSQL 18, then those of the database on 16
	$(BIN)/python -m pytest -n 2 --dist worksteal
	@# What tells servers apart is in the SQL and the migrations: the rest need not run twice.
	TAPEWISE_TEST_POSTGRES=16 $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" tests/sql/test_cases.py \
		tests/migrations tests/integration/test_mart.py tests/integration/test_simulation.py

.PHONY: mutants
mutants: $(VENV)/dev.stamp  ## every mutant of sql/, of which `make test` tries one in six
	TAPEWISE_MUTANTS_ONE_IN=1 $(BIN)/python -m pytest -n 2 --dist worksteal tests/sql/test_mutants.py

.PHONY: test-quick
test-quick: $(VENV)/dev.stamp  ## without the studies of many seeds or kills
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

.PHONY: lint
lint: $(VENV)/dev.stamp  ## ruff, mypy, import-linter, sqlfluff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.sql.lint

.PHONY: format
format: $(VENV)/dev.stamp  ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: bench
bench: $(VENV)/dev.stamp  ## loading against a bare COPY, the simulator against SimPy, k-means of cells against plain, each in one run
	$(BIN)/python -m benchmarks.load
	$(BIN)/python -m benchmarks.simulator
	$(BIN)/python -m benchmarks.classes

.PHONY: docs
docs: $(VENV)/dev.stamp  ## write the pages of docs/reference/ that come from the code
	PYTHONPATH=. $(BIN)/python docs/generate.py

.PHONY: lock
lock:  ## renew the hashed lock files (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--group build pyproject.toml -o requirements/runtime.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--constraint requirements/runtime.txt --group build --group dev pyproject.toml -o requirements/dev.txt

.PHONY: clean
clean:  ## remove the environment and the demo's warehouse
	@if [ -x $(BIN)/tapewise ] && [ -d .demo ]; then $(BIN)/tapewise --home .demo db remove --yes; fi
	rm -rf $(VENV) .demo
