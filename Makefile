# Every target first brings .venv to what is pinned; nothing is installed anywhere else.

PINS := layers/vendor/requirements.txt layers/toolkit/requirements.txt pyproject.toml
DESK := .venv/desk-$(shell cat $(PINS) | cksum | tr ' ' '-')
AUDIT := .venv/audit-$(shell cksum < tests/audit-requirements.txt | tr ' ' '-')
TESTS := .venv/tests-$(shell cat $(PINS) tests/requirements.txt | cksum | tr ' ' '-')
PIP := .venv/bin/python -m pip --quiet --quiet --disable-pip-version-check --no-input
QUIETLY := > .venv/install.log 2>&1 || { echo "The pinned packages could not be installed: $$(grep -v '^WARNING' .venv/install.log | tail -n 1) (all of it: .venv/install.log)"; exit 1; }
PYTHONS := python3.13 python3.12 python3.11 python3
# A virtual environment does not survive being copied or moved: its scripts name where it was made.
MOVED := $(shell test -d .venv && test "$$(cat .venv/place 2>/dev/null)" != "$$(pwd -P)" && echo moved)
IS_GOOD := import ensurepip, sys; sys.exit(sys.version_info < (3, 11))

.PHONY: run test proof fuzz bench client check audit build $(if $(MOVED),.venv/bin/python)

run: $(DESK) ## The local cloud with a worker, until Ctrl-C. PORT=... for another port, AGENT="my-agent --flag" for prompts.
	@exec .venv/bin/nightshift local $(if $(PORT),--port $(PORT)) $(if $(AGENT),-- $(AGENT))

test: $(TESTS) $(if $(ARGS),,audit) ## All tests, the audit before them. ARGS=... goes to pytest, without the audit.
	@.venv/bin/python -m pytest $(ARGS)

proof: $(TESTS) ## Crash points, interleavings, races, a long life, a crowd and deliberate breaks at full size; hours.
	@NIGHTSHIFT_PROOF=full .venv/bin/python -m pytest tests/crash tests/explorer tests/race tests/simulation tests/mutation tests/e2e/test_crowd.py $(ARGS)

fuzz: $(TESTS) ## Several thousand random requests, every check. CASES=... per operation.
	@NIGHTSHIFT_FUZZ_CASES=$(or $(CASES),120) .venv/bin/python -m pytest -s tests/e2e/test_fuzz.py

bench: $(TESTS) ## What growth costs, as ratios measured in one run; minutes. ARGS="--tasks 1000" for less.
	@PYTHONPATH=tests .venv/bin/python -m bench $(ARGS); grown=$$?; .venv/bin/python tests/bench/bench_next_time.py && exit $$grown

client: $(TESTS) ## A client generated from the OpenAPI document creates, lists and triggers a task.
	@test -x .venv/client/bin/python || .venv/bin/python -m venv .venv/client
	@.venv/client/bin/python -m pip --quiet --disable-pip-version-check install openapi-python-client==0.29.1
	@NIGHTSHIFT_CLIENT_PYTHON=$(CURDIR)/.venv/client/bin/python .venv/bin/python -m pytest tests/e2e/test_generated_client.py

check: $(TESTS) ## Lint, format and types.
	@.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy layers functions tests

audit: $(TESTS) $(AUDIT) ## The template by checkov, the pinned packages by pip-audit where advisories can be had.
	@.venv/audit/bin/checkov --file template.yaml --framework cloudformation --skip-download --compact --quiet
	@.venv/bin/python tests/advisories.py .venv/audit/bin/pip-audit tests/requirements.txt tests/audit-requirements.txt

build: ## What `sam deploy` uploads.
	@command -v sam >/dev/null || { echo "Building for AWS needs the SAM CLI (sam) on the PATH."; exit 1; }; sam build

$(TESTS): $(DESK)
	@echo "Installing the pinned test packages into .venv ..."
	@$(PIP) install -r tests/requirements.txt $(QUIETLY)
	@rm -f .venv/tests-* && touch $@

$(AUDIT): .venv/bin/python
	@echo "Installing the pinned audit packages into .venv/audit ..."
	@.venv/bin/python -m venv .venv/audit
	@.venv/audit/bin/python -m pip --quiet --quiet --disable-pip-version-check --no-input install -r tests/audit-requirements.txt $(QUIETLY)
	@rm -f .venv/audit-* && touch $@

$(DESK): .venv/bin/python
	@echo "Installing the pinned packages into .venv ..."
	@$(PIP) install -r layers/toolkit/requirements.txt $(QUIETLY)
	@$(PIP) install --no-deps --no-build-isolation -e . $(QUIETLY)
	@rm -f .venv/desk-* && touch $@

.venv/bin/python:
	@$(if $(MOVED),echo "This folder was copied or moved; its .venv is made anew."; rm -rf .venv)
	@for python in $(PYTHONS); do if $$python -c "$(IS_GOOD)" 2>/dev/null; then echo "Making .venv with $$python ..."; $$python -m venv .venv && pwd -P > .venv/place; exit; fi; done; \
	echo "Nightshift needs Python 3.11 or newer with venv and pip; none of $(PYTHONS) is one."; exit 1
