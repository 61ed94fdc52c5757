# Everything a person does with a clone. Written for GNU make 3.81 and newer.

SHELL := /bin/sh
PYTHON := .venv/bin/python
ARGS :=
# One more than there are processors: most tests wait for a browser, a disk or a server most of their time.
WORKERS = $(shell expr "$$(getconf _NPROCESSORS_ONLN)" + 1)

# A shell that forbids Python to keep compiled modules triples the start of every command.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup browser node demo serve test check lint types contract templates migrations format lock bench soak clean

help: ## say what there is
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{ printf "  make %-12s %s\n", $$1, $$2 }'

setup: ## make the environment in .venv; at once when nothing has changed
	@sh bootstrap/setup.sh

browser: setup ## find a Chromium, or install one
	@$(PYTHON) -m bootstrap.browser

node: setup ## find Node.js with npm, or install one into .venv
	@$(PYTHON) -m bootstrap.node

demo: setup ## run the sample benchmark in a real browser, then serve the site; ARGS="--no-serve" ends after the run
	@$(PYTHON) -m bootstrap.browser
	@$(PYTHON) -m bootstrap.node || true
	@$(PYTHON) manage.py demo $(ARGS)

serve: setup ## serve the site with its embedded worker
	@$(PYTHON) manage.py serve $(ARGS)

test: setup ## run every test; what is absent on this machine is skipped with its reason
	@$(PYTHON) -m bootstrap.browser || true
	@$(PYTHON) -m bootstrap.node || true
	@$(PYTHON) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

check: lint types contract templates migrations ## everything but the tests

lint: setup ## look for mistakes and departures from the style
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .

types: setup ## check the types
	@$(PYTHON) -m mypy

contract: setup ## check that imports point one way
	@.venv/bin/lint-imports --no-logo

templates: setup ## check how templates are written
	@find templates -name '*.html' -exec .venv/bin/djade --target-version 6.1 --check {} +

migrations: setup ## check that the models and the migrations agree
	@$(PYTHON) manage.py makemigrations --check --dry-run
	@$(PYTHON) manage.py check

format: setup ## rewrite code and templates in the house style
	@$(PYTHON) -m ruff check --fix-only --quiet .
	@$(PYTHON) -m ruff format .
	@find templates -name '*.html' -exec .venv/bin/djade --target-version 6.1 {} +

lock: ## lock the newest allowed versions of every dependency (needs uv)
	uv pip compile pyproject.toml --group dev --upgrade --universal --python-version 3.12 --generate-hashes --no-header --quiet --output-file requirements.lock
	uv pip compile --group pyproject.toml:node --upgrade --universal --python-version 3.12 --generate-hashes --no-header --quiet --output-file requirements-node.lock

bench: setup ## measure speed; ARGS="load --seconds 300", ARGS=simulator or ARGS=growth for one at length
	@$(PYTHON) -m performance $(ARGS)

soak: setup ## repeat what chance decides until it shows: deaths, full disks, wild agents, odd requests and files (an hour); ARGS=400 for fewer runs
	@PROOFROOM_CHAOS=3 $(PYTHON) -m pytest -q -n 0 tests/chaos tests/hostile
	@PROOFROOM_FUZZ_MINUTES=5 $(PYTHON) -m pytest -q -n 0 tests/fuzz
	@PROOFROOM_WHOLE_DEMO=1 $(PYTHON) -m pytest -q -n 0 tests/whole/test_demo.py tests/whole/test_backup.py tests/scale/test_asuka.py
	@$(PYTHON) -m performance.coverage $(ARGS)
	@$(PYTHON) -m performance.simulator --seconds 600
	@$(PYTHON) -m performance.growth --most 1000000

clean: ## remove the environment and every cache; the database and its files stay
	@rm -rf .venv .venv.lock .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage staticfiles
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
