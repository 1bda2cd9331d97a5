# SPDX-License-Identifier: Apache-2.0
#
# The front door. Each target says what it does in `make help`; the work is done by CMake and by scripts in tests/.
.DEFAULT_GOAL := help
SHELL := /bin/bash

BUILD  ?= build
JOBS   ?= $(shell nproc)
PREFIX ?= /usr/local
LAB    ?= lab
# Tests on the control plane that run at once.
WORKERS ?= 5
# Of each fuzz target.
SECONDS_EACH ?= 60
# What `make lint` compares with: where this branch left main, or the last commit.
SINCE ?= $(shell git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD~1)
COUNT ?= 20
FILES ?=
SEED ?= 0
PYTHON = $(shell tests/tools/python)
# The contract in short, for the backend that k3s runs on; test-long runs all of it there.
ON_SQLITE := $(addprefix tests/e2e/teamspace/test_,story.py pass.py drift.py deletion.py quota.py)
# What holds whether passes linger or not; test-long runs all of it with passes that do.
ON_LINGERING := $(addprefix tests/e2e/teamspace/test_,story.py drift.py deletion.py)
ON_LINGERING_LONG := $(ON_LINGERING) $(addprefix tests/e2e/teamspace/test_,crash.py stale.py races.py interleaving.py pass.py \
                       namespace.py quota.py)
PYTEST = tests/tools/run-pytest $(abspath $(BUILD))/pytest/$@
# Each worker has a control plane of its own; the tests of a file share what they set up.
PARALLEL := -n $(WORKERS) --dist loadscope
WITH_BINARY := CNPA_OP=$(abspath $(BUILD)/cnpa-op)
# What checks the examples with programs that no control plane needs.
WITH_CHECKERS := tests/e2e/cli/test_metrics.py tests/e2e/cli/test_workflow.py
CMAKE_FLAGS := -G Ninja $(if $(CI),-DCNPA_WERROR=ON) -DCMAKE_INSTALL_PREFIX='$(PREFIX)'
# One at a time: targets that run side by side build in one folder.
ALONE := flock Makefile
NINJA := $(ALONE) ninja -C $(BUILD) -j $(JOBS)
define CONFIGURE
@$(ALONE) cmake -S . -B $(BUILD) $(CMAKE_FLAGS) $(1) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
@rm -f $(BUILD).log
endef

.PHONY: help deps build build-clang build-tests unit sanitize fuzz fuzz-short lint lint-all format ci-rest contract e2e e2e-rest e2e-sqlite \
        e2e-linger test ci test-long bench bench-quick bench-linger bench-micro servers servers-rest demo lab pictures \
        cluster cluster-stop systemd-test deb tarball deb-test debian13 mutate install clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps: ## installs the missing Debian packages for all targets; without root, names them
	@tests/tools/deps

build: ## builds build/cnpa-op
	@tests/tools/deps build
	$(call CONFIGURE)
	@$(NINJA) cnpa-op cnpa_documents

build-tests: ## builds the unit tests as well
	@tests/tools/deps test
	$(call CONFIGURE,-DCNPA_BUILD_TESTS=ON)
	@$(NINJA)

unit: build-tests ## runs the unit tests: a minute, no server
	@$(BUILD)/tests/cnpa_tests

build-clang: # for sanitizers and fuzzing
	@tests/tools/deps
	@cmake -S . -B $(BUILD)-clang $(CMAKE_FLAGS) -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG='-O1 -g1' \
	  -DCMAKE_CXX_COMPILER=clang++ -DCNPA_FUZZ=ON -DCNPA_BUILD_TESTS=ON > /dev/null

sanitize: build-clang ## builds and runs the unit tests under ASan and UBSan
	@ninja -C $(BUILD)-clang -j $(JOBS) cnpa_tests
	@$(BUILD)-clang/tests/cnpa_tests

fuzz: build-clang ## fuzzes every parser, SECONDS_EACH=60 each; keeps what it finds in the cache
	@ninja -C $(BUILD)-clang -j $(JOBS) fuzz
	@$(PYTHON) tests/fuzz/run --jobs $(JOBS) --seed $(SEED) $(BUILD)-clang $(SECONDS_EACH)

# The same inputs each time: what is new is for `make fuzz` to find.
fuzz-short: SECONDS_EACH = 3
fuzz-short: SEED = 1
fuzz-short: fuzz

lint: deps ## checks layers and formatting, and runs clang-tidy on what differs from the commit SINCE
	@tests/lint/lint $(BUILD)-tidy $(SINCE)

lint-all: deps # the same for all files: minutes
	@tests/lint/lint $(BUILD)-tidy

format: deps ## formats the sources with clang-format
	@git ls-files '*.h' '*.cc' | xargs clang-format -i

contract: ## runs the contract on a real control plane
	@$(WITH_BINARY) $(PYTEST) $(PARALLEL) tests/e2e $(addprefix --ignore=,$(WITH_CHECKERS))

e2e: build servers servers-rest ## runs all tests on a real control plane
	@$(MAKE) --no-print-directory ci-rest contract e2e-rest e2e-sqlite e2e-linger

e2e-rest: # the tests of tools and examples
	@$(WITH_BINARY) $(PYTEST) $(PARALLEL) $(WITH_CHECKERS) tests/cluster tests/lab tests/pictures tests/bench tests/tools

e2e-sqlite: # the contract in short, on what k3s keeps its objects in
	@$(WITH_BINARY) CNPA_OP_TEST_BACKEND=sqlite $(PYTEST) $(PARALLEL) $(ON_SQLITE)

e2e-linger: # the contract in short, with passes that linger
	@$(WITH_BINARY) CNPA_OP_TEST_LINGER=400ms $(PYTEST) $(PARALLEL) $(ON_LINGERING)

systemd-test: build-tests servers ## runs the tests of the units on a systemd of their own (as root)
	@$(WITH_BINARY) $(PYTEST) $(PARALLEL) tests/systemd

test: ## builds, runs the unit tests, and the contract on a real control plane, which it builds first
	@tests/tools/deps test
	@tests/tools/steps --logs $(BUILD)/logs build build-tests:build servers unit:build-tests contract:build,servers

ci: test ci-rest debian13 ## that and all else: sanitizers, fuzzing, lint, SQLite, lingering, systemd, packages, Debian 13

# In the order of how long they take: what computes and what waits share the cores.
ci-rest: deps build-tests
	@tests/tools/steps --jobs 3 --logs $(BUILD)/logs lint-all servers-rest sanitize systemd-test fuzz-short:sanitize \
	  e2e-rest:servers-rest e2e-sqlite:servers-rest e2e-linger deb-test

test-long: build-tests servers servers-rest ## the long forms: 100,000 passes, every crash point, 1,000 TeamSpaces at once, all on SQLite
	@$(BUILD)/tests/cnpa_tests '[.long]'
	@$(WITH_BINARY) CNPA_OP_TEST_LONG=1 CNPA_OP_TEST_SCALE=1000 $(PYTEST) tests/e2e tests/systemd
	@$(WITH_BINARY) CNPA_OP_TEST_BACKEND=sqlite $(PYTEST) tests/e2e
	@$(WITH_BINARY) CNPA_OP_TEST_LINGER=400ms $(PYTEST) $(ON_LINGERING_LONG)

bench: build-tests servers ## measures passes and loops beside their peers: 25 minutes, best on a quiet machine
	@$(NINJA) cnpa_benchmarks
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) $(PYTHON) tests/bench/bench --output $(BUILD)/bench.json
	@$(PYTHON) tests/bench/plot.py $(BUILD)/bench.json $(BUILD)/bench.svg

bench-quick: build-tests servers ## the same in two minutes: passes at 10 and 1,000, beside curl and kubectl
	@$(NINJA) cnpa_benchmarks
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) $(PYTHON) tests/bench/bench --quick --output $(BUILD)/bench-quick.json

bench-linger: build-tests servers ## how soon --linger repairs, over 200 edits by hand: 20 minutes
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) $(PYTHON) tests/bench/bench --parts loops --sizes 1000 \
	  --loops cnpa-op-linger --edits 200 --output $(BUILD)/bench-linger.json

bench-micro: build-tests ## decoding, quantities and plans alone, from 10 team spaces to 100,000
	@$(NINJA) cnpa_benchmarks
	@$(BUILD)/tests/bench/cnpa_benchmarks

servers: # the programs of the control plane
	@tests/tools/deps demo
	@tests/cluster/cluster build > /dev/null

servers-rest: # kine, which stands in etcd's place for tests on SQLite, and checkers
	@tests/cluster/cluster build --backend sqlite > /dev/null
	@tests/cluster/cluster checkers > /dev/null

demo: ## the main job on a real control plane; CLUSTER=mine: on the current kubeconfig's cluster, asking first
ifeq ($(CLUSTER),mine)
	@tests/tools/steps --logs $(BUILD)/logs build
	@$(WITH_BINARY) tests/e2e/demo --mine
else
	@tests/tools/steps --logs $(BUILD)/logs build servers
	@$(WITH_BINARY) tests/cluster/cluster run -- tests/e2e/demo
endif

lab: build servers ## the acceptance run: eight steps, its evidence in lab/, a checker that trusts none of it
	@$(WITH_BINARY) $(PYTHON) tests/lab/lab $(LAB)

pictures: build servers ## records the README's pictures from the real program
	@tests/pictures/architecture docs/pictures/architecture.svg
	@$(WITH_BINARY) tests/cluster/cluster run -- $(PYTHON) tests/pictures/record docs/pictures/recording.svg

cluster: ## starts a control plane on loopback for you, and says how to use and stop it
	@tests/cluster/cluster up

cluster-stop: ## stops it
	@tests/cluster/cluster down

install: build ## installs below PREFIX (default /usr/local); DESTDIR is honoured
	@umask 022 && cmake --install $(BUILD) --strip > $(BUILD)/install.log || { cat $(BUILD)/install.log; exit 1; }

deb: build ## builds the Debian package, build/cnpa-op_VERSION_ARCHITECTURE.deb
	@$(NINJA) cnpa_debian
	@rm -f $(BUILD)/*.deb
	@umask 022 && cd $(BUILD) && { cpack > pack.log 2>&1 || { cat pack.log; exit 1; }; }
	@ls $(BUILD)/*.deb

tarball: build ## builds build/cnpa-op-VERSION-linux-ARCHITECTURE.tar.gz, for machines without Debian
	@$(NINJA) cnpa-op-portable
	@src/package/tarball $(BUILD) $(BUILD)

deb-test: build-tests deb tarball ## installs, upgrades, removes and runs what the two made, where it hurts nobody
	@CNPA_OP_TEST_BUILD=$(abspath $(BUILD)) $(PYTEST) tests/package

debian13: ## builds and tests in a root of Debian 13 (as root)
	@tests/tools/debian13

mutate: deps ## changes a line of FILES at random, COUNT times, and says which changes no unit test notices
	@$(PYTHON) tests/tools/mutate --count $(COUNT) --seed $(SEED) $(FILES)

clean: ## removes what was built; the control plane's binaries stay in the cache
	@rm -rf $(BUILD) $(BUILD)-* $(LAB)
