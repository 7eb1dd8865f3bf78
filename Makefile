# Everything runs in $(VENV), which the first target that needs it creates.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
ODFL   := $(BIN)/odfl
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help install test test-slow check format figures bench smoke clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

install: $(STAMP)  ## create the environment and install odfl into it, editable

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "odfl needs Python 3.11 or newer: make PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

test: $(STAMP)  ## all tests but the slow ones
	$(BIN)/python -m pytest

test-slow: $(STAMP)  ## the claims that take minutes
	$(BIN)/python -m pytest -m slow

check: $(STAMP)  ## lint, format, types, import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)  ## apply the formatter and the linter's safe fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

figures: $(STAMP)  ## the paper's experiments and the polytopes, from nothing to pictures in outputs/figures
	$(ODFL) run experiment=main
	$(ODFL) plot outputs/sweeps/main --out outputs/figures/main
	$(ODFL) run experiment=misspecification
	$(ODFL) plot outputs/sweeps/misspecification --out outputs/figures/misspecification --gap pf_ogd:df_ogd --x data.gamma
	$(ODFL) run experiment=high_dimension
	$(ODFL) plot outputs/sweeps/high_dimension --out outputs/figures/high_dimension
	$(ODFL) run experiment=knapsack
	$(ODFL) plot outputs/sweeps/knapsack --out outputs/figures/knapsack
	$(ODFL) run experiment=shortest_path
	$(ODFL) plot outputs/sweeps/shortest_path --out outputs/figures/shortest_path
	$(ODFL) run experiment=regularizers
	$(ODFL) plot outputs/sweeps/regularizers --out outputs/figures/regularizers

bench: $(STAMP)  ## speed and growth, every figure a ratio within the run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	PYTHONPATH=tests $(BIN)/python -m benchmarks

smoke: $(STAMP)  ## every algorithm for 50 rounds, and a picture
	$(ODFL) run experiment=main horizon=smoke seeds=3 sweep=smoke
	$(ODFL) plot outputs/sweeps/smoke --out outputs/figures/smoke

clean:  ## remove runs, sweeps, caches and the environment; keep the figures
	rm -rf $(VENV) outputs/runs outputs/sweeps build dist *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
