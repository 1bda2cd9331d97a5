# SPDX-License-Identifier: Apache-2.0
#
# The front door. Each target says what it does in `make help`; the work is done by CMake and by scripts in tests/.
.DEFAULT_GOAL := help
SHELL := /bin/bash

BUILD  ?= build
JOBS   ?= $(shell nproc)
PREFIX ?= /usr/local
LAB    ?= lab
# Of each fuzz target.
SECONDS_EACH ?= 60
SEED ?= 0
PYTHON ?= $(shell tests/tools/python)
# The contract in short, for the backend that k3s runs on; test-long runs all of it there.
ON_SQLITE := $(addprefix tests/e2e/test_,story.py pass.py drift.py deletion.py quota.py)
# What holds whether passes linger or not; test-long runs all of it with passes that do.
ON_LINGERING := $(addprefix tests/e2e/test_,story.py drift.py deletion.py)
ON_LINGERING_LONG := $(ON_LINGERING) $(addprefix tests/e2e/test_,crash.py stale.py races.py interleaving.py pass.py \
                       namespace.py quota.py)
CMAKE_FLAGS := -G Ninja $(if $(CI),-DCNPA_WERROR=ON) -DCMAKE_INSTALL_PREFIX='$(PREFIX)'
define CONFIGURE
@cmake -S . -B $(BUILD) $(CMAKE_FLAGS) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
@rm -f $(BUILD).log
endef
# Of packages, whatever PREFIX and CI say.
PACKAGE_FLAGS := -G Ninja -DCNPA_BUILD_TESTS=OFF -DCMAKE_INSTALL_PREFIX

.PHONY: help deps build unit sanitize fuzz fuzz-short lint format e2e test test-long bench bench-quick bench-linger \
        bench-micro servers demo lab pictures cluster cluster-stop systemd-test deb tarball deb-test install clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps: ## installs the Debian packages that lack; without root, says which
	@tests/tools/deps

build: deps ## builds build/cnpa-op and the unit tests
	$(CONFIGURE)
	@ninja -C $(BUILD) -j $(JOBS)

unit: build ## runs the unit tests: seconds, no server
	@$(BUILD)/tests/cnpa_tests

sanitize: deps ## builds and runs the unit tests under ASan and UBSan
	@cmake -S . -B $(BUILD)-sanitize $(CMAKE_FLAGS) -DCMAKE_BUILD_TYPE=Debug -DCNPA_SANITIZE=address,undefined > /dev/null
	@ninja -C $(BUILD)-sanitize -j $(JOBS) cnpa_tests
	@$(BUILD)-sanitize/tests/cnpa_tests

fuzz: deps ## fuzzes every parser, SECONDS_EACH=60 each; what it finds is kept in the cache
	@cmake -S . -B $(BUILD)-fuzz $(CMAKE_FLAGS) -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG='-O1 -g' \
	  -DCMAKE_CXX_COMPILER=clang++ -DCNPA_FUZZ=ON -DCNPA_BUILD_TESTS=OFF > /dev/null
	@ninja -C $(BUILD)-fuzz -j $(JOBS) fuzz
	@$(PYTHON) tests/fuzz/run --jobs $(JOBS) --seed $(SEED) $(BUILD)-fuzz $(SECONDS_EACH)

# The same inputs each time: what is new is for `make fuzz` to find.
fuzz-short: SECONDS_EACH = 3
fuzz-short: SEED = 1
fuzz-short: fuzz

lint: build ## layers, clang-format, clang-tidy
	@tests/lint/lint $(BUILD)

format: deps ## formats the sources with clang-format
	@git ls-files '*.h' '*.cc' | xargs clang-format -i

e2e: build servers ## runs the tests on a real control plane (the first time builds it: about 18 minutes)
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) $(PYTHON) -m pytest -q tests/e2e tests/cluster tests/lab tests/pictures tests/bench
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) CNPA_OP_TEST_BACKEND=sqlite $(PYTHON) -m pytest -q $(ON_SQLITE)
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) CNPA_OP_TEST_LINGER=400ms $(PYTHON) -m pytest -q $(ON_LINGERING)

systemd-test: build servers ## runs the tests of the units on a systemd of their own (as root)
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) $(PYTHON) -m pytest -q tests/systemd

test: ## everything: build, unit tests, sanitizers, fuzzing, lint, a real control plane, systemd and packages
	@$(MAKE) --no-print-directory build unit sanitize fuzz-short lint e2e systemd-test deb-test

test-long: build servers ## the long forms: 100,000 passes, every crash point, 1,000 TeamSpaces at once, all on SQLite
	@$(BUILD)/tests/cnpa_tests '[.long]'
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) CNPA_OP_TEST_LONG=1 CNPA_OP_TEST_SCALE=1000 \
	  $(PYTHON) -m pytest -q tests/e2e tests/systemd
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) CNPA_OP_TEST_BACKEND=sqlite $(PYTHON) -m pytest -q tests/e2e
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) CNPA_OP_TEST_LINGER=400ms $(PYTHON) -m pytest -q $(ON_LINGERING_LONG)

bench: build servers ## measures passes and loops beside their peers: 25 minutes, best on a quiet machine
	@ninja -C $(BUILD) -j $(JOBS) cnpa_benchmarks
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) $(PYTHON) tests/bench/bench --output $(BUILD)/bench.json
	@$(PYTHON) tests/bench/plot.py $(BUILD)/bench.json $(BUILD)/bench.svg

bench-quick: build servers ## the same in two minutes: passes at 10 and 1,000, beside curl and kubectl
	@ninja -C $(BUILD) -j $(JOBS) cnpa_benchmarks
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) $(PYTHON) tests/bench/bench --quick --output $(BUILD)/bench-quick.json

bench-linger: build servers ## how soon --linger repairs, over 200 edits by hand: 20 minutes
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) $(PYTHON) tests/bench/bench --parts loops --sizes 1000 \
	  --loops cnpa-op-linger --edits 200 --output $(BUILD)/bench-linger.json

bench-micro: build ## decoding, quantities and plans alone, from 10 team spaces to 100,000
	@ninja -C $(BUILD) -j $(JOBS) cnpa_benchmarks
	@$(BUILD)/tests/bench/cnpa_benchmarks

servers: # the programs of the control plane, also kine, which stands in etcd's place for tests on SQLite, and checkers
	@tests/cluster/cluster build > /dev/null
	@tests/cluster/cluster build --backend sqlite > /dev/null
	@tests/cluster/cluster checkers > /dev/null

demo: build ## the main job on a real control plane, before your eyes
	@tests/cluster/cluster build
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) tests/cluster/cluster run -- tests/e2e/demo

lab: build ## the acceptance run: eight steps, its evidence in lab/, a checker that trusts none of it
	@tests/cluster/cluster build
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) $(PYTHON) tests/lab/lab $(LAB)

pictures: build ## records the README's pictures anew from the real program
	@tests/cluster/cluster build
	@tests/pictures/architecture docs/pictures/architecture.svg
	@CNPA_OP=$(abspath $(BUILD)/cnpa-op) tests/cluster/cluster run -- $(PYTHON) tests/pictures/record docs/pictures/recording.svg

cluster: ## starts a control plane on loopback for you, and says how to use and stop it
	@tests/cluster/cluster up

cluster-stop: ## stops it
	@tests/cluster/cluster down

install: deps ## installs below PREFIX (default /usr/local); DESTDIR is honoured
	$(CONFIGURE)
	@ninja -C $(BUILD) -j $(JOBS) cnpa-op cnpa_documents
	@umask 022 && cmake --install $(BUILD) --strip > $(BUILD)/install.log || { cat $(BUILD)/install.log; exit 1; }

deb: deps ## builds the Debian package, build/cnpa-op_VERSION_ARCHITECTURE.deb
	@cmake -S . -B $(BUILD)-deb $(PACKAGE_FLAGS)=/usr -DCNPA_DEBIAN=ON > /dev/null
	@ninja -C $(BUILD)-deb -j $(JOBS)
	@rm -f $(BUILD)-deb/*.deb
	@umask 022 && cd $(BUILD)-deb && { cpack > pack.log 2>&1 || { cat pack.log; exit 1; }; }
	@mkdir -p $(BUILD) && cp -v $(BUILD)-deb/*.deb $(BUILD)

tarball: deps ## builds build/cnpa-op-VERSION-linux-ARCHITECTURE.tar.gz, for machines without Debian
	@cmake -S . -B $(BUILD)-tarball $(PACKAGE_FLAGS)=/usr/local -DCNPA_PORTABLE=ON > /dev/null
	@ninja -C $(BUILD)-tarball -j $(JOBS)
	@mkdir -p $(BUILD) && src/package/tarball $(BUILD)-tarball $(BUILD)

deb-test: build deb tarball ## installs, upgrades, removes and runs what the two made, where it hurts nobody
	@CNPA_OP_BUILD=$(abspath $(BUILD)) $(PYTHON) -m pytest -q tests/package

clean: ## removes what was built; the control plane's binaries stay in the cache
	@rm -rf $(BUILD) $(BUILD)-* $(LAB)
