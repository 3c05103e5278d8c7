# Everything a user or a contributor does is one target; `make help` lists them.
# The first one that needs it makes the environment in $(VENV) and installs the project there.

SHELL := /bin/bash
.SHELLFLAGS := -u -o pipefail -c
.DEFAULT_GOAL := help

SCALE ?= quick
LAUNCHER ?= basic
OUTPUT ?= outputs
ARGS ?=
VENV ?= .venv
INSTALL ?= yes
PYTHON ?= python3

SCALES := smoke quick paper
LAUNCHERS := basic joblib ray slurm
EXPERIMENTS := pt-table1 pt-table4 pt-table5 pt-figure2 pt-table2-sampling pt-table2-learning pt-figure3 pt-figure4 \
               pt-table3 pt-figure5 \
               edlp-figure2 edlp-figure3 edlp-table1 edlp-table2 edlp-table3 edlp-figure5 edlp-figure11 edlp-figure13 \
               edlp-figure14 edlp-figure15 rbm-digits stmh-figure1 stmh-table1 \
               reld-theorem1 reld-proposition1

ifneq ($(words $(SCALE))/$(words $(filter $(SCALES),$(SCALE))),1/1)
$(error SCALE must be smoke, quick or paper, '$(SCALE)' was given)
endif
ifneq ($(words $(LAUNCHER))/$(words $(filter $(LAUNCHERS),$(LAUNCHER))),1/1)
$(error LAUNCHER must be basic, joblib, ray or slurm, '$(LAUNCHER)' was given)
endif

BIN := $(VENV)/bin
READY := $(VENV)/.installed-dev
# The launchers that need an extra of their own; with INSTALL=no the environment is used as it is.
ifeq ($(INSTALL),no)
NEEDS :=
LAUNCHES :=
else
NEEDS := $(READY)
LAUNCHES := $(NEEDS) $(if $(filter basic,$(LAUNCHER)),,$(VENV)/.installed-$(LAUNCHER))
endif

# A python named by the user is the only candidate; otherwise the newest that is new enough.
ifeq ($(origin PYTHON),file)
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11
else
CANDIDATES := $(PYTHON)
endif

.PHONY: help test test-slow check format docs audit exactness bench clean spectral-gap $(EXPERIMENTS)

help: ## list the targets and their variables
	@echo "usage: make TARGET [SCALE=smoke|quick|paper] [LAUNCHER=basic|joblib|ray|slurm] [OUTPUT=DIR] [ARGS='key=value ...']"
	@echo
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-19s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  SCALE (now $(SCALE)) is the budget, LAUNCHER (now $(LAUNCHER)) where the runs are computed, OUTPUT (now $(OUTPUT)) where"
	@echo "  results are kept, ARGS further overrides. DATA_ROOT in the environment is where data sets are (smoke needs none)."
	@echo "  VENV (now $(VENV)) is the environment, PYTHON makes it; INSTALL=no uses it as it is."

pt-table1: ## Table 1 of the PT-DLP paper, measured here and set beside the published numbers
pt-table4: ## Table 4 of the PT-DLP paper: mixtures of Gaussians
pt-table5: ## Table 5 of the PT-DLP paper: mixtures of Student-t
pt-figure2: ## Figure 2 of the PT-DLP paper: mode coverage
pt-table2-sampling: ## Table 2 of the PT-DLP paper: samplers on RBMs trained on images
pt-table2-learning: ## Table 2 of the PT-DLP paper: RBMs learned with each sampler, and their likelihood
pt-figure3: ## Figure 3 of the PT-DLP paper: distance to the truth along the run, from one mode
pt-figure4: ## Figure 4 of the PT-DLP paper: samples of each sampler, from one mode
pt-table3: ## Table 3 of the PT-DLP paper: convolutional energy-based models learned with each sampler
pt-figure5: ## Figure 5 of the PT-DLP paper: images of the data and of those models
edlp-figure2: ## Figures 2 and 10 of the EDLP paper: how often each of 16 states is visited
edlp-figure3: ## Figures 3 and 12 of the EDLP paper: costs and mismatches of tours
edlp-table1: ## Table 1 of the EDLP paper: autoencoders trained on each sampler's images
edlp-table2: ## Table 2 of the EDLP paper: binary Bayesian networks, test error
edlp-table3: ## Table 3 of the EDLP paper: binary Bayesian networks, training log-likelihood
edlp-figure5: ## Figure 5 of the EDLP paper: sensitivity to eta
edlp-figure11: ## Figure 11 of the EDLP paper: eigenvalues of the Hessian where samplers go
edlp-figure13: ## Figure 13 of the EDLP paper: cost against mismatch of tours
edlp-figure14: ## Figure 14 of the EDLP paper: classes of each sampler's images
edlp-figure15: ## Figure 15 of the EDLP paper: time of a step
stmh-figure1: ## Figure 1 of the STMH paper: steps until the mean is right, against the distance of two modes
stmh-table1: ## Table 1 of the STMH paper: growth of the cost with the distance of two modes, measured
reld-theorem1: ## Theorem 1 of the ReLD paper: inverse spectral gaps of Langevin diffusion and of replica exchange
reld-proposition1: ## Proposition 1 of the ReLD paper: inverse spectral gap of Langevin diffusion, and its bound
rbm-digits: ## how well an RBM learns the small digits; no table of a paper, and no download

# What concerns the launcher alone is not said to the table, which launches nothing.
SHAPING = $(filter-out hydra.launcher.%,$(ARGS))

# The table is drawn of what is there, also when a run failed; the status is that of the first step that went wrong.
$(EXPERIMENTS): $(LAUNCHES)
	@$(BIN)/python -m runner -m +experiment=$(subst -,_,$@) scale=$(SCALE) hydra/launcher=$(LAUNCHER) output_root='$(OUTPUT)' $(ARGS); \
	swept=$$?; if [ $$swept -eq 2 ]; then exit 2; fi; \
	$(BIN)/python -m runner.table $(subst -,_,$@) scale=$(SCALE) output_root='$(OUTPUT)' $(SHAPING); \
	drawn=$$?; if [ $$swept -ne 0 ]; then exit $$swept; fi; exit $$drawn

spectral-gap: $(NEEDS) ## the spectral gap of a kernel on a target: ARGS='target=bernoulli4 sampler=gibbs'
	@$(BIN)/python -m runner task=spectral_gap output_root='$(OUTPUT)' $(ARGS)

audit: $(NEEDS) ## the defects of papers and released code, each with its figure
	@$(BIN)/python -m runner.audit output_root='$(OUTPUT)' $(ARGS)

exactness: $(NEEDS) ## distance of every kernel from its target, by enumeration
	@$(BIN)/python -m runner.exactness output_root='$(OUTPUT)' $(ARGS)

bench: $(NEEDS) ## speed against plain baselines, as ratios within one run
	@$(BIN)/python -m runner.bench --output-root '$(OUTPUT)' $(ARGS)

test: $(NEEDS) ## the tests (slow ones left out)
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto $(ARGS)

test-slow: $(NEEDS) ## the slow tests (make test-slow LAUNCHER=ray also installs Ray for its test)
test-slow: $(LAUNCHES)
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow $(ARGS)

check: $(NEEDS) ## lint, format, types and layers, as CI does
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy
	@$(BIN)/lint-imports

format: $(NEEDS) ## format the code and mend what the linter can
	@$(BIN)/python -m ruff check --fix-only .
	@$(BIN)/python -m ruff format .

docs: $(NEEDS) $(if $(filter no,$(INSTALL)),,$(VENV)/.installed-docs) ## the documentation, in build/site
	@PYTHONPATH=. NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

clean: ## remove the environment and the tools' caches; results stay
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build ./*.egg-info
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

# Each stamp is written last, so an installation that was cut short is done again.
$(READY): pyproject.toml
	@if ! $(BIN)/python -c 'import pip' 2>/dev/null; then \
	  python=; \
	  for candidate in $(CANDIDATES); do \
	    if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	      python=$$candidate; break; \
	    fi; \
	  done; \
	  if [ -z "$$python" ]; then \
	    echo "Python 3.11 or newer with its venv module is needed, and none of these is one: $(CANDIDATES) (name yours with PYTHON=...)." >&2; \
	    exit 2; \
	  fi; \
	  echo "Making the environment $(VENV) with $$($$python --version)."; \
	  "$$python" -m venv "$(VENV)"; \
	fi
	@echo "Installing the project and its tools into $(VENV), torch included: some minutes the first time."
	@start=$$SECONDS; \
	$(BIN)/python -m pip install --quiet --editable '.[dev]' \
	  && touch $@ && echo "Installed in $$((SECONDS - start)) s."

# Together with dev, so that pip finds versions that suit both: Ray's launcher wants an older cloudpickle than the
# newest joblib.
$(VENV)/.installed-%: $(READY)
	@echo "Installing the extra '$*'."
	@$(BIN)/python -m pip install --quiet --editable '.[dev,$*]' && touch $@
