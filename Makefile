# The two main commands of a checkout are `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Installs tools into an environment, with uv if `UV` names it: uv takes a sixth of pip's time.
INSTALL_TOOLS = $(if $(UV),$(UV) pip install --quiet --python $(1)/bin/python,$(1)/bin/python -m pip --disable-pip-version-check --quiet install)
SUPERSET := .venv-superset
# The warehouse that the dashboards show; by default the one of `make demo`.
DASHBOARDS_HOME ?= $(or $(TAPEWISE_HOME),.demo)
DASHBOARDS_PORT ?= 8088
# The folder of three tools that are built with Go: the checks of docker-compose.yml and of Prometheus' alerts, and
# supercronic, the scheduler of the service `ingest`.
TOOLS := .tools
# Processes of `make test`: one more than there are cores, because each process waits a fifth of the time.
WORKERS ?= 3
COMPOSE_GO_VERSION := v2.9.1
PROMETHEUS_VERSION := v0.316.0
SUPERCRONIC_VERSION := v0.2.48

.DEFAULT_GOAL := help

.PHONY: help
help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

# An interrupted pip leaves a half-made environment, so a stamp marks a complete one.
# `make demo` also uses an environment that `make test` made.
$(VENV)/runtime.stamp: requirements/runtime.txt pyproject.toml
	@echo "Making $(VENV) from requirements/runtime.txt ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --require-hashes --only-binary :all: -r requirements/runtime.txt
	@$(PIP) install --no-deps --no-build-isolation --no-index --editable .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/runtime.stamp requirements/dev.txt
	@echo "Adding the development tools of requirements/dev.txt ..."
	@$(call INSTALL_TOOLS,$(VENV)) --require-hashes --only-binary :all: -r requirements/dev.txt
	@touch $@

.PHONY: demo
demo: $(VENV)/runtime.stamp  ## load the example logs into a warehouse in .demo and show what can be learned from them
	@$(BIN)/tapewise --home .demo demo

.PHONY: peers
peers: $(VENV)/peers.stamp  ## install what a few tests compare with, and are skipped without (libcachesim: Linux on x86-64, glibc 2.34)
$(VENV)/peers.stamp: $(VENV)/dev.stamp requirements/peers.txt
	@$(call INSTALL_TOOLS,$(VENV)) --require-hashes --only-binary :all: -r requirements/peers.txt
	@touch $@

# Superset needs an older SQLAlchemy than Tapewise, so it has an environment of its own. Two of its packages are
# published as source only, so this does not insist on wheels.
$(SUPERSET)/stamp: dashboards/requirements.txt
	@echo "Making $(SUPERSET) from dashboards/requirements.txt (0.8 GB) ..."
	@$(PYTHON) -m venv $(SUPERSET)
	@$(call INSTALL_TOOLS,$(SUPERSET)) --require-hashes -r dashboards/requirements.txt
	@touch $@

.PHONY: dashboards
dashboards: $(VENV)/runtime.stamp $(SUPERSET)/stamp  ## install Superset and serve the dashboards on 127.0.0.1
	@$(BIN)/python -m tapewise.dashboards.service --home "$(DASHBOARDS_HOME)" --port $(DASHBOARDS_PORT) start
	@$(BIN)/tapewise --home "$(DASHBOARDS_HOME)" report --for-dashboards

.PHONY: dashboards-stop
dashboards-stop: $(VENV)/runtime.stamp  ## stop Superset and the PostgreSQL of its warehouse
	@$(BIN)/python -m tapewise.dashboards.service --home "$(DASHBOARDS_HOME)" stop

.PHONY: compose-secrets
compose-secrets:  ## make the missing secrets of docker-compose.yml, in secrets/
	@docker/make-secrets

# Each check is built in a Go module of its own, where Go records what it resolves from the version.
$(TOOLS)/compose-check: tests/compose/check/main.go
	@rm -rf $(TOOLS)/compose-check-module && mkdir -p $(TOOLS)/compose-check-module
	@cp $< $(TOOLS)/compose-check-module/
	@cd $(TOOLS)/compose-check-module && go mod init compose-check && go get github.com/compose-spec/compose-go/v2/cli@$(COMPOSE_GO_VERSION) \
		&& CGO_ENABLED=0 go build -trimpath -o "$(CURDIR)/$@" .

$(TOOLS)/rules-check: tests/compose/rules/main.go
	@rm -rf $(TOOLS)/rules-check-module && mkdir -p $(TOOLS)/rules-check-module
	@cp $< $(TOOLS)/rules-check-module/
	@cd $(TOOLS)/rules-check-module && go mod init rules-check && go get github.com/prometheus/prometheus/model/rulefmt@$(PROMETHEUS_VERSION) \
		&& CGO_ENABLED=0 go build -trimpath -o "$(CURDIR)/$@" .

$(TOOLS)/supercronic-$(SUPERCRONIC_VERSION):
	@mkdir -p $(TOOLS)
	@CGO_ENABLED=0 GOBIN="$(CURDIR)/$(TOOLS)" go install -trimpath github.com/aptible/supercronic@$(SUPERCRONIC_VERSION)
	@mv $(TOOLS)/supercronic $@

$(TOOLS)/supercronic: $(TOOLS)/supercronic-$(SUPERCRONIC_VERSION)
	@ln -sf supercronic-$(SUPERCRONIC_VERSION) $@

.PHONY: compose-check
compose-check: $(VENV)/dev.stamp $(SUPERSET)/stamp  ## check docker-compose.yml and the alerts with the libraries of Compose and Prometheus, and run the services without Docker
	TAPEWISE_TEST_STUDIES_ONE_IN=$${TAPEWISE_TEST_STUDIES_ONE_IN:-1} $(BIN)/python -m pytest tests/compose

.PHONY: test test-18 test-16
test: test-18 test-16  ## run the tests on PostgreSQL 18 and those of the database on 16; studies of code that has not changed take turns

test-18: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --ignore tests/dashboards --ignore tests/compose --ignore tests/report_pages

# Only the SQL and the migrations depend on the server's version, so the other tests need not run twice.
test-16: $(VENV)/dev.stamp
	TAPEWISE_TEST_POSTGRES=16 $(BIN)/python -m pytest -m "not slow" tests/sql/test_cases.py \
		tests/migrations tests/integration/test_mart.py tests/integration/test_simulation.py

.PHONY: check
check: $(VENV)/dev.stamp  ## run before each commit: lint, types, unit tests, and the SQL cases of what the branch touches
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.prose
	TAPEWISE_TEST_EXAMPLES=10 TAPEWISE_TEST_STUDIES_ONE_IN=1000 $(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow" tests/unit
	@touched="$$($(BIN)/python -m tests.sql.touched)" && { [ -z "$$touched" ] \
		|| { $(BIN)/python -m tests.sql.lint && $(BIN)/python -m pytest -q tests/sql/test_cases.py -k "$$touched"; }; }

.PHONY: mutants
mutants: $(VENV)/dev.stamp  ## try every mutant of sql/ (`make test` tries those of the objects that a branch touches, or up to twenty of one object in twenty) and of the rules for requests (one in four)
	TAPEWISE_TEST_MUTANTS_ONE_IN=1 $(BIN)/python -m pytest -n 2 --dist worksteal tests/sql/test_mutants.py tests/sql/test_request_mutants.py

.PHONY: studies
studies: $(VENV)/dev.stamp  ## run every study and draw 100 examples of each property (`make test` runs the studies of code that a branch touches, and one in 32 of the others)
	TAPEWISE_TEST_STUDIES_ONE_IN=1 TAPEWISE_TEST_EXAMPLES=100 $(BIN)/python -m pytest -n 2 --dist worksteal -m "study or hypothesis" \
		tests/acceptance tests/integration tests/migrations tests/sql tests/unit

.PHONY: kill-study
kill-study: $(VENV)/dev.stamp  ## run all fifty seeds of the study of kills (`make test` runs one)
	TAPEWISE_TEST_STUDIES_ONE_IN=1 TAPEWISE_TEST_KILL_SEEDS=50 $(BIN)/python -m pytest -n 2 --dist worksteal -rP tests/integration/test_kill_study.py

.PHONY: test-quick
test-quick: $(VENV)/dev.stamp  ## run the tests without the studies of many seeds or kills
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" --ignore tests/dashboards --ignore tests/compose --ignore tests/report_pages

.PHONY: test-dashboards
test-dashboards: $(VENV)/dev.stamp $(SUPERSET)/stamp  ## test the dashboards: numbers, pages in a browser (Debian's chromium), permissions
	$(BIN)/python -m pytest tests/dashboards

$(TOOLS)/node/stamp: tests/report_pages/package-lock.json
	@mkdir -p $(TOOLS)/node
	@cp tests/report_pages/package.json tests/report_pages/package-lock.json $(TOOLS)/node/
	@npm ci --prefix $(TOOLS)/node --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: test-report-pages
test-report-pages: $(VENV)/dev.stamp $(TOOLS)/node/stamp  ## test pages of `tapewise report --html` in Debian's chromium, with tools from npm
	$(BIN)/python -m pytest tests/report_pages

.PHONY: lint
lint: lint-python lint-sql  ## run ruff, mypy, import-linter, sqlfluff and the check for words to avoid (with `make -j 2`, on both cores)

.PHONY: lint-python
lint-python: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: lint-sql
lint-sql: $(VENV)/dev.stamp
	$(BIN)/python -m tests.sql.lint
	$(BIN)/python -m tests.prose

.PHONY: format
format: $(VENV)/dev.stamp  ## let ruff fix and format what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: bench
bench: $(VENV)/dev.stamp  ## measure parsing, loading against a bare COPY, what loads pay for rollups, small files, the simulator against SimPy, and k-means of cells against that of rows
	$(BIN)/python -m benchmarks.load --format nft
	$(BIN)/python -m benchmarks.load --format hsi
	$(BIN)/python -m benchmarks.load --format pftp --lines 1000000
	$(BIN)/python -m benchmarks.rollups
	$(BIN)/python -m benchmarks.rollups --format hsi
	$(BIN)/python -m benchmarks.days
	$(BIN)/python -m benchmarks.small_files
	$(BIN)/python -m benchmarks.parsing
	$(BIN)/python -m benchmarks.simulator
	$(BIN)/python -m benchmarks.write_back
	$(BIN)/python -m benchmarks.classes

.PHONY: bench-growth
bench-growth: $(VENV)/dev.stamp  ## measure what a line costs in warehouses of 1 and of 50 million rows (20 GB of disk, minutes)
	$(BIN)/python -m benchmarks.growth

.PHONY: bench-reports
bench-reports: $(VENV)/dev.stamp  ## measure what each report of 10 million transfers, and of as many files on tapes, takes, with DuckDB beside (12 GB of disk, two hours)
	$(BIN)/python -m benchmarks.reports --refresh --limit-s 2

.PHONY: bench-tapes
bench-tapes: $(VENV)/dev.stamp  ## measure what each report of 10 million files on tapes takes, with DuckDB beside (6 GB of disk, half an hour)
	$(BIN)/python -m benchmarks.tapes --refresh --limit-s 2

.PHONY: bench-pages
bench-pages: $(VENV)/dev.stamp $(SUPERSET)/stamp  ## measure the pages of the dashboards through Superset, with 10 million transfers (6 GB of disk, minutes)
	$(BIN)/python -m benchmarks.pages --limit-ms 150 --limit-s 1.5

.PHONY: docs
docs: $(VENV)/dev.stamp  ## write the pages of docs/reference/ and the stub that are generated from the code
	PYTHONPATH=. $(BIN)/python docs/generate.py
	PYTHONPATH=. $(BIN)/python docs/stub.py

.PHONY: docs-site
docs-site: $(VENV)/dev.stamp  ## build the documentation as a site in build/site; a broken link is an error
	@rm -rf build/site
	$(BIN)/python -m sphinx --quiet --fresh-env --fail-on-warning --nitpicky --conf-dir docs --doctree-dir build/site-doctrees . build/site
	@echo "Open build/site/index.html in a browser."

.PHONY: assets
assets: $(VENV)/dev.stamp  ## write the datasets of the dashboards from the catalogue of the demo's warehouse
	$(BIN)/tapewise --home .demo db upgrade
	$(BIN)/python -m tapewise.dashboards.datasets --home .demo

.PHONY: example-report
example-report: $(VENV)/dev.stamp  ## write the report that the README links to, and its picture, from the demo's warehouse (needs Debian's chromium)
	$(BIN)/python -m tests.report_pages.example

.PHONY: lock
lock:  ## renew the hashed lock files (needs uv and npm)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra all \
		--group build pyproject.toml -o requirements/runtime.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra all \
		--constraint requirements/runtime.txt --group build --group dev pyproject.toml -o requirements/dev.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--constraint requirements/dev.txt --group peers -o requirements/peers.txt
	uv pip compile --quiet --universal --no-strip-extras --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		dashboards/requirements.in -o dashboards/requirements.txt
	cd tests/report_pages && npm install --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund --loglevel=error
	@# Addresses for donations do not belong in a lock file.
	cd tests/report_pages && node -e "const fs = require('fs'), lock = JSON.parse(fs.readFileSync('package-lock.json')); \
		Object.values(lock.packages).forEach((each) => delete each.funding); \
		fs.writeFileSync('package-lock.json', JSON.stringify(lock, null, 2) + '\n')"

.PHONY: clean
clean:  ## remove the environments, the tools and the demo's warehouse
	@if [ -x $(BIN)/python ] && [ -d .demo ]; then $(BIN)/python -m tapewise.dashboards.service --home .demo stop; fi
	@if [ -x $(BIN)/tapewise ] && [ -d .demo ]; then $(BIN)/tapewise --home .demo db remove --yes; fi
	rm -rf $(VENV) $(SUPERSET) $(TOOLS) .demo
