# The commands of this repository: `make help` lists them. `make setup` needs Python 3.11 or newer and nothing else.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

BIN := .venv/bin
STAMP := .venv/.installed
# Compiled modules are kept here, also where the environment says to keep none: the tests start hundreds of processes, and
# each would compile all of taoloop again.
export PYTHONPYCACHEPREFIX := $(CURDIR)/.taoloop/bytecode
export PYTHONDONTWRITEBYTECODE :=
# Each process takes its own half of the tests and, when it is done, some of the other's: a module's tests mostly stay
# together with the servers that they share, and no process waits for the last long module. ARGS=-n0 runs them in one.
PROCESSES = $(if $(findstring no:xdist,$(ARGS)),,-n logical --maxprocesses 8 --dist worksteal)
# The trees of this checkout that hold Python.
TREES = $(shell for tree in services tests benchmarks loadtest examples; do \
	[ -z "$$(find $$tree -name '*.py' -print -quit 2>/dev/null)" ] || echo $$tree; done)
NAME ?= skeleton

.PHONY: help setup demo test test-real test-vllm check coverage-action fmt proto lock docs chaos chaos-action chaos-queue cases jsonlogic bench loadtest images up down test-containers

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## create .venv with everything pinned (does nothing when up to date)

$(STAMP): pyproject.toml requirements/dev.txt requirements/setup.txt scripts/setup
	@scripts/setup

demo: $(STAMP) ## run seventeen tasks end to end on this machine: no GPU, container or key
	@$(BIN)/taoloop demo

test: $(STAMP) ## run all tests that need wheels only (ARGS=...)
	@$(BIN)/python -m pytest -m "not real and not vllm" $(PROCESSES) $(ARGS)

test-real: $(STAMP) ## install Redis, PostgreSQL, Prometheus, Go and Java by apt and run the tests that use them (ARGS=...)
	@scripts/real-parts
	@scripts/chart-tools
	@$(BIN)/python -m pytest -m real $(ARGS)

test-vllm: $(STAMP) ## install vLLM for this processor (3.5 GB) and run the tests of language models on it (ARGS=...)
	@scripts/vllm
	@scripts/chart-tools
	@$(BIN)/python -m pytest -m vllm tests/vllm tests/contract $(ARGS)

check: $(STAMP) ## check format, lint, types, import rules, proto, generated code and docs
	@scripts/check $(TREES)

coverage-action: $(STAMP) ## run the tests of Action alone and fail below its share of covered lines and branches (ARGS=--install)
	@scripts/coverage-action $(ARGS)

fmt: $(STAMP) ## format code and proto files, apply safe lint fixes
	@$(BIN)/ruff format $(TREES)
	@$(BIN)/ruff check --fix-only --quiet $(TREES)
	@$(BIN)/buf format --write proto

proto: $(STAMP) ## regenerate services/taoloop/api from proto/
	@scripts/proto

lock: $(STAMP) ## rebuild requirements/*.txt (UPGRADE=--upgrade takes newer releases)
	@scripts/lock $(UPGRADE)

docs: $(STAMP) ## regenerate the generated pages of docs/
	@$(BIN)/python -m taoloop.cli.docs write

chaos: $(STAMP) ## make runs while loop, workers, Action, Observation and the stores are killed by SIGKILL (COUNT=3000 STORE=postgresql|sqlite SEED=1 SECONDS=360 ARGS=--json)
	@$(BIN)/python -m tests.chaos.loop --count $(or $(COUNT),3000) --store $(or $(STORE),postgresql) --seed $(or $(SEED),1) --seconds $(or $(SECONDS),360) $(ARGS)

chaos-action: $(STAMP) ## place orders while Action and its store are killed by SIGKILL (COUNT=3000 STORE=postgresql|sqlite SEED=1)
	@$(BIN)/python -m tests.chaos.action --count $(or $(COUNT),3000) --store $(or $(STORE),postgresql) --seed $(or $(SEED),1)

chaos-queue: $(STAMP) ## ask for thoughts while workers, fronts and Redis are killed, paused and cut off (COUNT=20000 MODE=single|sentinel|both SEED=1 SECONDS=200)
	@$(BIN)/python -m tests.chaos.queue --count $(or $(COUNT),20000) --mode $(or $(MODE),both) --seed $(or $(SEED),1) --seconds $(or $(SECONDS),200)

cases: $(STAMP) ## run a file of cases through the product (FILE=... [ONLY=component,component])
	@$(BIN)/python -m taoloop.evaluation.cases $(FILE) $(ONLY)

jsonlogic: $(STAMP) ## run the public JsonLogic suites and our corner lines ([ARGS="--json SUITE ..."])
	@$(BIN)/python -m tests.jsonlogic $(ARGS)

bench: $(STAMP) ## run one benchmark (NAME=skeleton)
	@$(BIN)/python -m benchmarks.$(NAME) $(ARGS)

loadtest: $(STAMP) ## send open-loop load to a running loop (ARGS=...)
	@$(BIN)/python -m loadtest run $(ARGS)

images: ## build the images of docker-compose.yml
	@docker compose build

up: ## start all of taoloop in containers and wait until it is healthy (docker-compose.yml)
	@docker compose up --build --detach --wait

down: ## stop what `make up` started and forget its data
	@docker compose down --volumes

test-containers: $(STAMP) ## build the images by podman, start docker-compose.yml and test it (needs apt and root)
	@scripts/containers $(ARGS)
