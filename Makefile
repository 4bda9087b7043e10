# make help
PYTHON ?= python3
VENV := .venv
BUILD := build/release
BIN := $(VENV)/bin
JOBS ?= 2
native := CMakeLists.txt python/CMakeLists.txt $(shell find cmake src python/bindings -type f)
tests = $(wildcard tests/python tests/mpi tests/e2e tests/install)
format = $(shell find src python/bindings tests benchmarks examples -name '*.cpp' -o -name '*.hpp' -o -name '*.[ch]')
export PATH := $(CURDIR)/$(BIN):$(PATH)
export CULMEN_BUILD := $(CURDIR)/$(BUILD)

.PHONY: help bootstrap build tests demo test test-all bench format lint clean
help:
	@echo 'make build | demo | test | test-all | bench | format | lint | clean'

bootstrap:
	@tools/bootstrap

$(VENV)/requirements.txt: pyproject.toml | bootstrap
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "culmen needs Python 3.10 or later; give it as make PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python tools/requirements > $@.new
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $@.new
	mv $@.new $@

# Editable: the package's Python files are used where they stand, so only native sources lead to a rebuild.
$(VENV)/culmen.stamp: $(VENV)/requirements.txt $(native)
	CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps \
	  --config-settings=build-dir=$(BUILD) -e .
	touch $@

build: $(VENV)/culmen.stamp

demo: build
	culmen launch -n 9 run $(wildcard examples/*/pion_form_factor.toml)

tests: build
	cmake -S . -B $(BUILD) -DCULMEN_TESTS=ON >$(BUILD)/configure.log || { cat $(BUILD)/configure.log; false; }
	cmake --build $(BUILD) -j $(JOBS)

test: tests lint
	ctest --test-dir $(BUILD) --parallel $(JOBS) --output-on-failure
	python -m pytest -q $(tests)

test-all: export CULMEN_TEST_ALL := 1
test-all: test

bench: build
	cmake -S . -B $(BUILD) -DCULMEN_BENCHMARKS=ON >$(BUILD)/configure.log || { cat $(BUILD)/configure.log; false; }
	cmake --build $(BUILD) -j $(JOBS)
	python benchmarks/run.py

format: build
	tools/quote_examples
	@clang-format-16 -i $(format)
	ruff format python tools tests examples benchmarks
	ruff check --fix python tools tests examples benchmarks

lint: build
	tools/check_layers --self-test
	tools/check_layers
	tools/quote_examples --check
	ruff check --quiet $(wildcard python tools tests examples benchmarks)
	ruff format --quiet --check $(wildcard python tools tests examples benchmarks)
	@clang-format-16 --dry-run --Werror $(format)

clean:
	rm -rf build $(VENV)
