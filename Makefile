# `make` lists the targets. Everything runs from .venv, which the targets create themselves.
PY := .venv/bin/python
CODE := millrace_client config importer dashboard scripts tests bench
# What `make quick` leaves out: every test that needs a server (tests/conftest.py marks them) or the application's tables,
# and those that are marked as thorough.
QUICK := not needs_database_server and not needs_redis and not needs_workers and not needs_file_server and not needs_browser and not django_db and not thorough
# Bytecode is kept even if the environment forbids it: to compile the code takes a third of the time of a command, and
# every test process starts some.
export PYTHONDONTWRITEBYTECODE :=
# VAR_DIR=... and PORT=... may be given on the command line or in the environment.
.DEFAULT_GOAL := help
.PHONY: help setup run demo test quick quick-tests requests faults doors screenshots bench chart clients integrations pythons lint format lock release tables

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile

setup: ## create .venv and install missing system packages (announced first)
	@scripts/setup.sh tests database

run: ## serve Millrace at http://127.0.0.1:8000 (PORT=...) until Ctrl-C
	@scripts/setup.sh app
	@$(PY) manage.py serve

demo: ## import 336,776 flights into a private database, then serve (EXIT=1: stop after the import)
	@scripts/setup.sh app database
	@$(PY) -m scripts.demo $(if $(filter-out 0,$(EXIT)),--exit)

test: ## run all tests, with those in the browser (ARGS="-k name" for some)
	@scripts/setup.sh tests database browser cluster
	$(PY) -m pytest $(ARGS)

quick: ## lint, and the tests of the engine and the project that need no server, in under a minute
	@scripts/setup.sh tests
	@$(MAKE) --no-print-directory -j2 --output-sync=target lint quick-tests

quick-tests:
	$(PY) -m pytest -q -n 2 -o addopts="--strict-markers -p no:schemathesis" -o cache_dir=var/quick --hypothesis-profile=dev -m "$(QUICK)" \
	  $(ARGS) $(if $(filter-out -%,$(ARGS)),,tests/engine $(wildcard tests/test_*.py) --deselect tests/test_release.py)

requests: ## send 100 requests of each operation of the API, made from its description (N=...)
	@scripts/setup.sh tests database
	API_REQUESTS=$(or $(N),100) $(PY) -m pytest -q tests/dashboard/api/test_schemathesis.py $(ARGS)

faults: ## try every fault and other hands at failpoints, print the matrices (ARGS=--write: into docs/faults.md)
	@scripts/setup.sh tests database
	$(PY) -m tests.faults.points $(ARGS)

doors: ## load all flights from every origin by command, by API and in the browser, on each server
	@scripts/setup.sh tests database
	FLIGHTS=336776 $(PY) -m pytest -q -s --every-case --timeout=1800 tests/importer/formats/test_doors.py $(ARGS)

screenshots: ## take a picture of every page, light and dark, wide and on a phone, into var/screenshots
	@scripts/setup.sh tests database browser
	$(PY) -m pytest -q --tb=short tests/browser/screenshots.py
	@echo "var/screenshots/index.html shows them"

bench: ## compare Millrace with other ways to load (ARGS="--help" lists the options)
	@scripts/setup.sh tests database
	$(PY) -m bench $(ARGS)

chart: ## check the Helm chart and the alert rules of deploy/, with Helm, promtool and Kubernetes' schemas
	@scripts/setup.sh tests chart
	@scripts/chart_tools.sh
	$(PY) -m pytest -q tests/deploy $(ARGS)

clients: ## make clients of the API in Python, TypeScript and Go, where they are installed, and load a file with each
	@scripts/setup.sh tests clients database
	@if command -v npm >/dev/null; then npm ci --prefix tests/clients/typescript --silent --no-audit --no-fund --ignore-scripts; fi
	$(PY) -m pytest -q -rs -p no:schemathesis tests/clients $(ARGS)

pythons: ## run the tests of reading, formats and doors on other Pythons that are here, each on one (PYTHONS=...)
	@scripts/setup.sh tests database
	@ARGS="$(ARGS)" scripts/other_pythons.sh

integrations: ## run the examples of docs/clients.md in the real Airflow and Dagster, in .venv-integrations
	@scripts/setup.sh tests database
	@VENV=.venv-integrations scripts/setup.sh integrations
	$(PY) -m pytest -q tests/integrations $(ARGS)

lint: ## check style, types, migrations, the compose file and that scripts can be read
	@scripts/setup.sh tests
	$(PY) -m ruff check $(CODE) manage.py setup.py
	$(PY) -m ruff format --check $(CODE) manage.py setup.py
	$(PY) -m mypy millrace_client config importer dashboard scripts bench
	@if command -v cc >/dev/null; then $(PY) -I importer/engine/native/loader.py --strict; fi
	$(PY) -m check_jsonschema --builtin-schema vendor.compose-spec docker-compose.yml
	VAR_DIR="$$(mktemp -d)" && export VAR_DIR && trap 'rm -rf "$$VAR_DIR"' EXIT && $(PY) manage.py makemigrations --check --dry-run
	@if command -v shellcheck >/dev/null; then shellcheck scripts/*.sh .ci/run; fi
	@if command -v node >/dev/null; then find static -name '*.js' -not -path '*/vendor/*' -print0 | xargs -0 -n 1 node --check; fi

format: ## format the code
	@scripts/setup.sh tests
	$(PY) -m ruff check --fix-only $(CODE) manage.py setup.py
	$(PY) -m ruff format $(CODE) manage.py setup.py

release: ## build the source archive and the wheel, which needs no compiler, into dist (DIST=..., PYTHONS=...)
	@scripts/setup.sh app release
	$(PY) -m scripts.release $(or $(DIST),dist) $(PYTHONS)

lock: ## compile requirements*.in into requirements*.txt, with hashes
	@scripts/setup.sh tests
	for name in "" -uv -redis -telemetry -dev -chart -clients -release -integrations; do \
	  $(PY) -m uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 \
	    requirements$$name.in --output-file requirements$$name.txt || exit 1; \
	done
