# `make demo` compiles an example and prints its graph; `make test` passes the tests. Both make what they need first.

VENV ?= .venv
JOBS ?= auto
EXAMPLE ?= examples/explicit-startup-order.yaml
# python3, unless it was built without optimizations, as by pyenv, and runs slower by an eighth: then the distribution's where it is recent.
IS_OPTIMIZED = import sysconfig; assert "--enable-optimizations" in sysconfig.get_config_var("CONFIG_ARGS")
IS_RECENT = import ensurepip, sys; assert sys.version_info >= (3, 11)
PYTHON ?= $(shell python3 -c '$(IS_OPTIMIZED); $(IS_RECENT)' 2>/dev/null && echo python3 || \
	for python in /usr/bin/python3 python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c '$(IS_RECENT)' 2>/dev/null && echo $$python && break; done)
BIN = $(VENV)/bin
# Where PYTHONDONTWRITEBYTECODE is set, as in many images, Python would compile the sources again at every start.
COMPILE = $(BIN)/python $(PROGRESS) compiling $(BIN)/python -m compileall -q applier grove_cli grove_compiler grove_operator kube_objects
PROGRESS = applier/testing/progress.py
INSTALL = $(BIN)/python $(PROGRESS) "installing into $(VENV)" $(BIN)/python -m pip install --disable-pip-version-check --editable

.DEFAULT_GOAL = help
.PHONY: help demo test check costs control-plane lint format bench bench-applier bench-operator wheel images push pin clean

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## compile an example and print its graph
	$(BIN)/grove compile $(EXAMPLE) -o summary

test: $(VENV)/.installed-dev ## run the tests, or those in TESTS; CLUSTER=restricted: where admission is strict
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup $(if $(CLUSTER),--cluster=$(CLUSTER)) $(TESTS)

# Where there is neither Go nor a control plane, PyPI's Go goes into the virtual environment.
costs: $(VENV)/.installed-dev ## run the tests, and print where the time goes
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --costs

SINCE ?= HEAD
BUDGET ?= 90
# Types before tests: mypy remembers what it has checked. Snapshots of tests that the budget leaves out are not unused.
check: lint ## what a change needs while one writes it: style, types, layers, and for 90 seconds the tests without a server that it can touch
	EFFORT=$(or $(EFFORT),check) $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m "not cluster" --touched=$(SINCE) --budget=$(BUDGET) --snapshot-disable-unused

control-plane: $(VENV)/.installed-dev ## build a real control plane, once, for the tests that need one (about 10 minutes)
	@$(BIN)/python -m applier.testing where >/dev/null 2>&1 || command -v go >/dev/null || \
		$(INSTALL) '.[control-plane]'
	$(BIN)/python -m applier.testing build
	@$(BIN)/python -m tests.go_programs

lint: $(VENV)/.installed-dev ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(BIN)/python $(PROGRESS) mypy $(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev ## put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed-bench ## measure start-up, size, and others side by side
	$(BIN)/python -m tests.benchmarks.start
	$(BIN)/python -m tests.benchmarks.size
	$(BIN)/python -m tests.benchmarks.disaggregated
	$(BIN)/python -m tests.benchmarks.step
	$(BIN)/python -m tests.benchmarks.admission
	$(BIN)/python -m tests.benchmarks.preflight_admission
	$(BIN)/python -m tests.benchmarks.fit
	$(BIN)/python -m tests.benchmarks.page
	$(BIN)/python -m tests.benchmarks.compare

bench-applier: control-plane $(VENV)/.installed-bench ## measure the applier, beside kubectl and others
	$(BIN)/python -m tests.benchmarks.applier_decide
	$(BIN)/python -m tests.benchmarks.applier_cache
	$(BIN)/python -m tests.benchmarks.applier_transport
	$(BIN)/python -m tests.benchmarks.applier_decisions
	$(BIN)/python -m tests.benchmarks.applier_decisions --pairs 20000 --of nothing
	$(BIN)/python -m tests.benchmarks.applier_compare

bench-operator: control-plane $(VENV)/.installed-bench ## measure the operator, beside the upstream one's figures and JobSet
	$(BIN)/python -m tests.benchmarks.operator_small
	$(BIN)/python -m tests.benchmarks.operator
	$(BIN)/python -m tests.benchmarks.operator_floor
	$(BIN)/python -m tests.benchmarks.operator_sets 100
	$(BIN)/python -m tests.benchmarks.jobs
	$(BIN)/python -m tests.benchmarks.preflight_admission
	$(BIN)/python -m tests.benchmarks.jobset

wheel: $(VENV)/.installed-dev ## build the wheel, with the rules compiled for this Python, and that of the extra `testing`
	@$(BIN)/python $(PROGRESS) "building dist" $(BIN)/python -m pip wheel --no-deps --wheel-dir dist . ./applier/testing

# Run under `make -n` as well, where it prints the commands. Any Python does, with nothing installed.
DRY = $(if $(findstring n,$(firstword -$(MAKEFLAGS))),--print)
IMAGES = $(PYTHON) tools/images.py
IMAGE_OPTIONS = --builder "$(BUILDER)" --registry "$(REGISTRY)" --flags "$(FLAGS)" $(if $(SBOM),--sbom) $(DRY)

images: ## build the images of operator and checks, with docker, podman or buildah (BUILDER=, SBOM=1, FLAGS=)
	+@$(IMAGES) build $(IMAGE_OPTIONS)

push: ## build the images and push them to REGISTRY=registry.example.com/grove
	+@$(IMAGES) push $(IMAGE_OPTIONS)

pin: ## pin the base images of `make images` by the digests that their registries tell, in base-images.lock (BUILDER=)
	+@$(IMAGES) pin --builder "$(BUILDER)"

clean: ## remove what was made here
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed; say where it is with make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) $(PROGRESS) "making $(VENV)" $(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml grove_compiler/version.py | $(BIN)/python
	@$(INSTALL) '.[all]'
	@$(COMPILE)
	@touch $@

$(VENV)/.installed-dev: pyproject.toml grove_compiler/version.py | $(BIN)/python
	@$(INSTALL) '.[dev]'
	@$(COMPILE)
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: pyproject.toml grove_compiler/version.py | $(BIN)/python
	@$(INSTALL) '.[dev,bench]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-dev
