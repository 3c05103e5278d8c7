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
PINNED ?= yes
PYTHON ?= python3

SCALES := smoke quick paper
LAUNCHERS := basic joblib ray slurm
# One YAML is one table: the file's name is its target, and the first sentence in it is its line in `make help`.
EXPERIMENT_FILES := $(wildcard conf/experiment/*.yaml)
EXPERIMENTS := $(sort $(subst _,-,$(EXPERIMENT_FILES:conf/experiment/%.yaml=%)))
# With the underscores of the file's name, too.
ALIASES := $(filter-out $(EXPERIMENTS),$(EXPERIMENT_FILES:conf/experiment/%.yaml=%))

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

# The pinned versions; with PINNED=no the newest that pyproject.toml allows, with PINNED=lowest the oldest.
PINS = $(if $(filter no,$(PINNED)),,--constraint $(if $(filter lowest,$(PINNED)),<($(BIN)/python .ci/lowest),constraints.txt))
PIP_INSTALL = $(BIN)/python -m pip install --quiet $(PINS)

# A Python named by the user is the only candidate; otherwise the first one that is new enough.
ifeq ($(origin PYTHON),file)
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11
else
CANDIDATES := $(PYTHON)
endif

TARGETS := help install test test-slow test-browser check format docs notebooks report verdicts audit exactness bench clean spectral-gap $(EXPERIMENTS)
.PHONY: $(TARGETS) $(ALIASES)

help: ## list the targets and their variables
	@echo "usage: make TARGET [SCALE=smoke|quick|paper] [LAUNCHER=basic|joblib|ray|slurm] [OUTPUT=DIR] [ARGS='key=value ...']"
	@echo
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-22s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo
	@for name in $(EXPERIMENTS); do \
	  printf '  %-22s %s\n' "$$name" "$$(sed -n '/^# [^@]/{s/^# //;s/\.$$//;p;q;}' "conf/experiment/$${name//-/_}.yaml")"; \
	done
	@echo
	@echo "  SCALE (now $(SCALE)) is the budget, LAUNCHER (now $(LAUNCHER)) where the runs are computed, OUTPUT (now $(OUTPUT)) where"
	@echo "  results are kept, ARGS further overrides. DATA_ROOT in the environment is where data sets are (smoke needs none)."
	@echo "  VENV (now $(VENV)) is the environment, PYTHON makes it; INSTALL=no uses it as it is."
	@echo "  PINNED=no installs the newest versions of what the project needs instead of those in constraints.txt, PINNED=lowest the oldest."
	@echo "  $(BIN)/rungwise is one command for all of it: completion, lists of names, a plan before it runs (--help)."

# The table is rendered from the finished runs, also when a run failed, but not of a sweep that was stopped (75, or 130
# where Ctrl-C came before there was anything to save); the status is that of the first step that failed.
$(EXPERIMENTS) $(ALIASES): $(LAUNCHES)
	@$(BIN)/python -m runner -m +experiment=$(subst -,_,$@) scale=$(SCALE) hydra/launcher=$(LAUNCHER) output_root='$(OUTPUT)' $(ARGS); \
	swept=$$?; case $$swept in 2|75|130) exit $$swept;; esac; $(if $(filter --dry-run,$(ARGS)),exit $$swept;) \
	$(BIN)/python -m runner.table $(subst -,_,$@) scale=$(SCALE) output_root='$(OUTPUT)' $(ARGS); \
	drawn=$$?; if [ $$swept -ne 0 ]; then exit $$swept; fi; exit $$drawn

install: $(NEEDS) ## the environment, with the project and PyTorch in it

spectral-gap: $(NEEDS) ## the spectral gap of a kernel on a target: ARGS='target=bernoulli4 sampler=gibbs'
	@$(BIN)/python -m runner task=spectral_gap output_root='$(OUTPUT)' $(ARGS)

audit: $(NEEDS) ## the defects of papers and released code, each measured
	@$(BIN)/python -m runner.audit output_root='$(OUTPUT)' $(ARGS)

exactness: $(NEEDS) ## distance of every kernel from its target, by enumeration
	@$(BIN)/python -m runner.exactness output_root='$(OUTPUT)' $(ARGS)

bench: $(NEEDS) ## speed against plain implementations, as ratios within one run
	@$(BIN)/python -m runner.bench output_root='$(OUTPUT)' --wandb-server tests.support.wandb_server $(ARGS)

report: $(NEEDS) ## the HTML report of all results, in OUTPUT/report (ARGS=--watch serves it while a sweep runs)
	@$(BIN)/python -m runner.report output_root='$(OUTPUT)' $(ARGS)

verdicts: $(NEEDS) ## a verdict on every published number, from OUTPUT/record alone
	@$(BIN)/python -m runner.verdicts output_root='$(OUTPUT)' $(ARGS)

# Where no bytecode is written, no composed configuration is kept either, and a third of some tests is composing.
# A test that hangs fails by its name; one that cannot be interrupted at least says where it is, to standard error.
test: $(NEEDS) ## the tests (slow ones left out)
	@PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile \
	  --timeout 1800 -o faulthandler_timeout=900 $(ARGS)

test-slow: $(NEEDS) ## the slow tests (make test-slow LAUNCHER=ray also installs Ray for its test)
test-slow: $(LAUNCHES)
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow $(ARGS)

test-browser: $(NEEDS) $(if $(filter no,$(INSTALL)),,$(VENV)/.installed-browser) ## the report's pages in a Chromium that is already there
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/browser -m browser $(ARGS)

check: $(NEEDS) ## lint, format, types and layers, as CI does
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy
	@$(BIN)/lint-imports

format: $(NEEDS) ## format the code and fix what the linter can
	@$(BIN)/python -m ruff check --fix-only .
	@$(BIN)/python -m ruff format .

docs: $(NEEDS) $(if $(filter no,$(INSTALL)),,$(VENV)/.installed-docs) ## the documentation, in build/site
	@PYTHONPATH=. NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

notebooks: $(NEEDS) $(if $(filter no,$(INSTALL)),,$(VENV)/.installed-docs) ## execute the notebooks of the documentation anew
	@PYTHONPATH=$(CURDIR) $(BIN)/python -m nbconvert --to notebook --execute --inplace docs/notebooks/*.ipynb

clean: ## remove the environment and the tools' caches; results stay
	rm -rf '$(VENV)' .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build ./*.egg-info
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

# Each stamp is written last, so that an interrupted installation is repeated.
$(READY): pyproject.toml constraints.txt
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
	$(PIP_INSTALL) --editable '.[dev]' \
	  && touch $@ && echo "Installed in $$((SECONDS - start)) s."

# Together with dev, so that pip finds versions that suit both: Ray's launcher needs an older cloudpickle than the
# newest joblib.
$(VENV)/.installed-%: $(READY)
	@echo "Installing the extra '$*'."
	@$(PIP_INSTALL) --editable '.[dev,$*]' && touch $@

# A name that is no target: the nearest one is suggested where there is a Python to find it.
.DEFAULT:
	@near=$$(python3 -c 'import difflib, sys; print(*difflib.get_close_matches(sys.argv[1], sys.argv[2:], 1))' '$@' $(TARGETS) 2>/dev/null); \
	echo "There is no target '$@'$${near:+ (did you mean '$$near'?)}; 'make help' lists them all." >&2; exit 2
