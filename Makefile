# The one door to this repository. Needs Python 3.11 or newer, make and a package index, nothing else.

PORT   ?= 8080
# The first of these that runs and is new enough; `make PYTHON=/path/to/python3 …` overrules it.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
            $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check --quiet

# What the tests of generated clients need of npm, where there is npm; npm itself writes this file last.
CLIENTS := $(if $(shell command -v npm),tests/clients/node_modules/.package-lock.json)

.DEFAULT_GOAL := help
.PHONY: help run test lint contract bench lock manifest clean

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.runtime  ## serve on 127.0.0.1:8080 (PORT changes the port)
	$(BIN)/python -m service.cli serve --host 127.0.0.1 --port $(PORT)

test: lint $(CLIENTS)  ## every check, then every test (ARGS go to pytest: make test ARGS="-k insure")
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile $(ARGS)

lint: $(VENV)/.editable  ## style, types, import directions, Dockerfile
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/hadolint Dockerfile

contract: $(VENV)/.editable  ## try a running service with thousands of requests made up from the contract
	$(BIN)/python -m tests.contract.live $(ARGS)

bench: $(VENV)/.editable  ## measure speed and memory, in ten minutes (ARGS=--quick: in one)
	$(BIN)/python -m tests.benchmarks $(ARGS)

# The runtime is resolved first and holds the tools to its versions, so that tests see what production runs.
UV_COMPILE = "$$tmp/bin/uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
             --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' $(ARGS) pyproject.toml
lock:  ## rewrite both lock files from pyproject.toml (make lock ARGS=--upgrade takes newer releases)
	tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && \
	$(PYTHON) -m venv "$$tmp" && "$$tmp/bin/python" -m pip --disable-pip-version-check --quiet install uv && \
	$(UV_COMPILE) --output-file requirements.lock && \
	$(UV_COMPILE) --no-annotate --extra audit --extra dask --group test --group lint --group clients --group bench --group build \
	  --constraint requirements.lock --output-file requirements-dev.lock

manifest: $(VENV)/.runtime  ## state the digests of the files that decide outcomes, after a change to them
	$(BIN)/python -c 'from service.integrity import MANIFEST, manifest_text; MANIFEST.write_text(manifest_text())'

clean:  ## remove the environment and all caches
	rm -rf $(VENV) tests/clients/node_modules dist build *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .schemathesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp file for each stage: what is newer than its stamp is installed again, the rest costs nothing.
$(VENV)/.created:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; none found on PATH (set PYTHON=/path/to/python3)." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1)." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) lacks the venv module (Debian and Ubuntu: apt-get install python3-venv)." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# The command, before the package itself is installed (.editable), which puts its own in this one's place.
$(VENV)/.runtime: requirements.lock $(VENV)/.created
	$(PIP) install --require-hashes -r requirements.lock
	@printf '#!/bin/sh\nPYTHONPATH="%s" exec "%s/python" -P -m service.cli "$$@"\n' "$(CURDIR)" "$(CURDIR)/$(BIN)" > $(BIN)/russian-poker
	@chmod +x $(BIN)/russian-poker
	@touch $@

# requirements-dev.lock contains the runtime, hence the stamp for both.
$(VENV)/.dev: requirements-dev.lock requirements.lock $(VENV)/.created
	$(PIP) install --require-hashes -r requirements-dev.lock
	@touch $(VENV)/.runtime $@

$(VENV)/.editable: pyproject.toml service/__init__.py $(VENV)/.dev
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

tests/clients/node_modules/.package-lock.json: tests/clients/package-lock.json
	npm ci --prefix tests/clients
	@touch $@
