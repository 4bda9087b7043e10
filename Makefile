# make help
PYTHON ?= python3
VENV := .venv
BUILD := build/release
BIN := $(VENV)/bin
JOBS ?= $(shell nproc)
TEST_HANGS_S ?= 1800
native := CMakeLists.txt python/CMakeLists.txt $(shell find cmake src python/bindings -type f)
format = $(shell find src python/bindings tests benchmarks examples -name '*.cpp' -o -name '*.hpp' -o -name '*.[ch]')
export PATH := $(CURDIR)/$(BIN):$(PATH)
export CULMEN_BUILD := $(CURDIR)/$(BUILD)
export JOBS

.PHONY: help bootstrap build tests demo test test-all test-variants slurm nodes mpis peers sanitize checked fuzz bench bench-quality format check-format docs lint clean
help:
	@echo 'make build | demo | test | test-all | test-variants | slurm | nodes | mpis | peers | sanitize | checked | fuzz | bench | bench-quality | format | docs | lint | clean'

bootstrap:
	@tools/bootstrap

# install_into_venv LIST, NAMES: what tools/requirements prints for these names.
define install_into_venv
@$(BIN)/python tools/requirements $(2) > $(1).new
@echo "Downloading and installing Python packages into $(VENV); this can take minutes:"
@sed 's/[^A-Za-z0-9._-].*//' $(1).new | paste -sd' ' | fold -s -w 100 | sed 's/^/    /'
@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $(1).new
mv $(1).new $(1)
endef

$(VENV)/requirements.txt: pyproject.toml | bootstrap
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "culmen needs Python 3.10 or later; give it as make PYTHON=…")'
	@$(PYTHON) -m venv $(VENV)
	$(call install_into_venv,$@,)

# What only tests, lint and documents need: a user who builds culmen does not wait for it.
$(VENV)/dev.txt: $(VENV)/requirements.txt
	$(call install_into_venv,$@,dev)

# Editable: the package's Python files are used where they stand. Native sources lead to a rebuild, and so do Python files
# that came, went or moved, because the installation knows each by its place.
FORCE:
$(VENV)/modules.txt: FORCE | $(VENV)/requirements.txt
	@find python/culmen -name '*.py' | sort | cmp -s - $@ || find python/culmen -name '*.py' | sort >$@

$(VENV)/culmen.stamp: $(VENV)/requirements.txt $(VENV)/modules.txt $(native)
	@touch $@.new
	CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) tools/show_progress $(BUILD)/build.log $(BIN)/python -m pip install --verbose --disable-pip-version-check \
	  --no-build-isolation --no-deps --config-settings=build-dir=$(BUILD) -e .
	@mv $@.new $@

build: $(VENV)/culmen.stamp

demo: build
	@rm -f build/demo.db*
	culmen launch -n 9 run $(wildcard examples/*/pion_form_factor.toml) --store build/demo.db

# The C++ tests' programs.
tests: build
	cmake -S . -B $(BUILD) -DCULMEN_TESTS=ON -DCULMEN_TEST_HANGS_S=$(TEST_HANGS_S) >$(BUILD)/configure.log || { cat $(BUILD)/configure.log; false; }
	tools/show_progress $(BUILD)/tests.log cmake --build $(BUILD) -j $(JOBS)

# All parts, also after one that failed, and one list of what failed at the end.
test: build $(VENV)/dev.txt
	@tools/run_tests build cpp python alone lint

# The slow things: more kills, seeds and hand-offs, a Slurm, simulated nodes, other versions of the MPIs, tests of other projects, the sanitizers, a checked build, the fuzzers.
# It takes hours. A run that was stopped goes on with the parts that have not passed, while no source changes.
test-all: export CULMEN_TEST_ALL := 1
test-all: export TEST_HANGS_S := 14400
test-all: export CULMEN_TEST_SEEDS := 10000
test-all: export CULMEN_TEST_HANDOFFS := 10000000
test-all: build $(VENV)/dev.txt
	@tools/run_tests --go-on build/test-all.json build cpp python alone lint variants slurm nodes mpis peers sanitize checked fuzz

# The tests that compare numerical results, with the roundings of other machines. More seeds look at faults, not at roundings.
test-variants: export CULMEN_TEST_SEEDS := 200
test-variants: tests $(VENV)/dev.txt
	tools/variants

slurm: build $(VENV)/dev.txt
	tools/bootstrap tools/slurm-packages.txt
	python -m pytest -q tests/slurm

# Several nodes on this machine; root only.
nodes: build $(VENV)/dev.txt
	python -m pytest -q tests/nodes

# The tests under MPI with other versions of the MPIs.
mpis: tests $(VENV)/dev.txt
	tools/other_mpis

peers: build $(VENV)/dev.txt
	tools/bootstrap tools/peers-packages.txt
	python -m pytest -q tests/peers

# The sanitizers' own threads and memory break the tests that measure such; memory order is what the thread sanitizer is
# for (Door explores a model of it on one thread, for minutes).
sanitize: export CULMEN_TEST_SEEDS := 200
sanitize: export CULMEN_TEST_HANDOFFS := 100000
sanitize: build
	cmake --preset thread && cmake --build build/thread -j $(JOBS)
	GTEST_FILTER='-*use_no_processor_time:Door.*:*many_send_1_MiB*' \
	  ctest --test-dir build/thread --parallel $(JOBS) --output-on-failure -R '(unit|conformance)_transport|unit_(engine|store|study)'
	cmake --preset address && cmake --build build/address -j $(JOBS)
	ctest --test-dir build/address --parallel $(JOBS) --output-on-failure -R 'unit|simulation|optimizer'

# Assertions of the standard library's too; one definition of each class across the whole program.
checked: export CULMEN_TEST_SEEDS := 200
checked: build
	cmake --preset checked && cmake --build build/checked -j $(JOBS)
	ctest --test-dir build/checked --parallel $(JOBS) --output-on-failure -R 'unit|simulation|conformance'

fuzz: build
	cmake --preset fuzz && cmake --build build/fuzz -j $(JOBS) --target fuzz_codec fuzz_set_up fuzz_calls fuzz_expression fuzz_figures fuzz_network
	ctest --test-dir build/fuzz --parallel $(JOBS) --output-on-failure -R fuzz

bench: build $(VENV)/dev.txt
	cmake -S . -B $(BUILD) -DCULMEN_BENCHMARKS=ON >$(BUILD)/configure.log || { cat $(BUILD)/configure.log; false; }
	cmake --build $(BUILD) -j $(JOBS)
	python benchmarks/run.py

bench-quality: build $(VENV)/dev.txt
	python -m benchmarks.quality.bench
	python -m benchmarks.quality.mixed
	python -m benchmarks.quality.biobj --goals

format: build $(VENV)/dev.txt
	tools/quote_examples
	tools/quote_options
	tools/quote_settings
	tools/write_stub
	@clang-format-16 -i $(format)
	ruff format
	ruff check --fix

check-format:
	@clang-format-16 --dry-run --Werror $(format)
	@! grep -rnE '^TEST(_F|_P)?\(\w+, *[A-Z]' tests --include='*.cpp' || { echo 'Names of tests are in snake_case.'; false; }

# The site, in build/site; a warning is an error.
docs: build $(VENV)/dev.txt
	sphinx-build --quiet --fail-on-warning --keep-going --jobs auto --doctree-dir build/doctrees docs build/site

lint: build $(VENV)/dev.txt
	@tools/run_tests lint

clean:
	rm -rf build $(VENV)
