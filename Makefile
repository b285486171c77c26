# Everything a developer does. Needs make and Python 3.11 or newer; the rest goes into .venv.

PYTHON ?= $(shell for p in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
VENV := .venv
# What writes the files that the readers read; nothing else needs it.
WRITERS := .venv-writers
# And what validates the metadata of archives, and other plugins of MkDocs.
VALIDATORS := .venv-validators
# And Spark, with the other engines that large tables lie in.
SPARK := .venv-spark
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
QUIET := --quiet --progress-bar off
COMPILE = $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate
# Those packages of a file of requirements that are named.
PICK = awk -v names="$(1)" 'BEGIN { split(names, list, " "); for (n in list) named[list[n]] } \
	/^[^ ]/ { split($$0, part, "=="); found = part[1] in named } found' reportgen/site/starter/requirements.txt
# With LOCKED=1, as in continuous integration: the versions of requirements.lock, each by its hash.
FROM_LOCK := --require-hashes --only-binary :all: -r requirements.lock
export PIP_ROOT_USER_ACTION := ignore

.DEFAULT_GOAL := site
.PHONY: site serve guide test test-slow environments test-writers test-spark release-check lint lock bench screenshots \
	clean help

site: $(VENV)/.installed ## build the example report into site/
	@$(BIN)/reportgen build

serve: $(VENV)/.installed ## show it, with live reload
	@$(BIN)/reportgen serve

guide: $(VENV)/.installed-test ## write the guide's tables of keys and options as the code says them
	@$(BIN)/python -m pytest -q -p no:xdist --accept tests/test_guide.py -k tables

# Three processes for two cores: one of them waits for its browser.
test: $(VENV)/.installed-test ## every test that takes seconds, in a real browser too
	@$(BIN)/python tests/find_chromium.py --install
	@$(BIN)/python -m pytest -n 3 --durations 10

test-slow: environments test-writers test-spark $(VENV)/.installed-uv ## simulations, long random inputs, many kills, other plugins and themes, test-writers, test-spark, release-check
	@$(BIN)/python -m pytest -n 2 --durations 10 --slow

# At the same time: half of it is waiting for files.
environments: $(VENV)/.installed-test
	@$(MAKE) --silent --jobs 3 $(WRITERS)/.installed $(VALIDATORS)/.installed $(SPARK)/.installed

test-writers: $(VENV)/.installed-test $(WRITERS)/.installed $(VALIDATORS)/.installed ## files by the real writers, read; ACCEPT=1 renews tests/data
	@$(BIN)/python -m pytest -n 2 tests/writers $(if $(ACCEPT),--accept)

test-spark: $(SPARK)/.installed ## tables on Spark, Spark Connect, Polars and DuckDB give the same bits
	@$(BIN)/python tests/find_java.py --install
	@$(SPARK)/bin/python -m pytest --confcutdir tests/spark tests/spark \
		-W ignore::ResourceWarning -W ignore::pytest.PytestUnraisableExceptionWarning

release-check: $(VENV)/.installed-test $(VENV)/.installed-uv ## build what is published into dist/, install it elsewhere, and compare what it builds
	@$(BIN)/python -m pytest -q -p no:xdist --slow tests/test_starter.py -k release_check

lint: $(VENV)/.installed-test $(VENV)/.installed-lint ## ruff and mypy
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

lock: $(VENV)/.installed-uv ## renew the versions and hashes that continuous integration and a new report install
	@echo 'uv==0.13.9' | $(COMPILE) - --output-file .ci/uv.txt
	@echo 'setuptools>=77' | $(COMPILE) pyproject.toml - --output-file reportgen/site/starter/requirements.txt
	@echo 'setuptools>=77' | $(COMPILE) pyproject.toml - --extra test --extra lint --output-file requirements.lock
	@$(call PICK,annotated-types msgspec pydantic pydantic-core typing-extensions typing-inspection) > action/comment/requirements.txt
	@$(call PICK,click numpy vl-convert-python) > action/comment/pictures.txt

bench: $(VENV)/.installed-test ## times of builds, reviews and archives as ratios, of publishing, the weight of a page, and live figures in a browser
	@$(BIN)/python benchmarks/build.py
	@$(BIN)/python benchmarks/review.py
	@$(BIN)/python benchmarks/archive.py
	@$(BIN)/python benchmarks/publish.py
	@$(BIN)/python benchmarks/hub.py
	@$(BIN)/python benchmarks/page_weight.py
	@$(BIN)/python benchmarks/live_figures.py

screenshots: site $(VENV)/.installed-test ## pictures of every page into screenshots/
	@$(BIN)/python tests/find_chromium.py --install
	@$(BIN)/python tests/take_screenshots.py

clean: ## remove what can be made again, but no environment
	rm -rf site .site.* screenshots build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# pip only where it works already: a half-made environment is made again.
$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "reportgen needs Python 3.11 or newer, and none was found on PATH." \
		"Install one, or say where it is: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$(PYTHON) is not Python 3.11 or newer, which reportgen needs." >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { \
		$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
			echo "$(PYTHON) cannot make virtual environments: its module ensurepip is missing." \
			"On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }; \
		echo "Making $(VENV) with $$($(PYTHON) --version) ..."; $(PYTHON) -m venv --clear $(VENV); }
	@touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/.made
	@echo "Installing reportgen into $(VENV) ..."
	@$(if $(LOCKED),$(PIP) install $(QUIET) $(FROM_LOCK))
	@$(PIP) install $(QUIET) $(if $(LOCKED),--no-deps --no-build-isolation) -e .
	@touch $@

$(VENV)/.installed-%: pyproject.toml $(VENV)/.installed
	@echo "Installing what make $* needs ..."
	@$(PIP) install $(QUIET) $(if $(LOCKED),--no-deps --no-build-isolation) -e '.[$*]'
	@touch $@

$(VENV)/.installed-uv: .ci/uv.txt $(VENV)/.installed
	@$(PIP) install $(QUIET) --require-hashes --only-binary :all: -r $<
	@touch $@

# Half a gigabyte: made anew only if the list of versions changes.
$(SPARK)/.installed: tests/spark/requirements.txt pyproject.toml | $(VENV)/.made
	@echo "Installing Spark, which make test-spark runs ..."
	@test -x $(SPARK)/bin/python || $(BIN)/python -m venv --clear $(SPARK)
	@$(SPARK)/bin/python -m pip --disable-pip-version-check --no-input install $(QUIET) -r $< -e .
	@touch $@

# Made afresh for every list of versions: what an older one left would not be told.
$(WRITERS)/.installed: tests/writers/requirements.txt tests/writers/constraints.txt | $(VENV)/.made
	@echo "Installing what writes the files that make test-writers reads ..."
	@$(BIN)/python -m venv --clear $(WRITERS)
	@$(WRITERS)/bin/python -m pip --disable-pip-version-check --no-input install $(QUIET) -r $<
	@touch $@

$(VALIDATORS)/.installed: tests/writers/validators.txt | $(VENV)/.made
	@echo "Installing what validates the metadata of archives ..."
	@$(BIN)/python -m venv --clear $(VALIDATORS)
	@$(VALIDATORS)/bin/python -m pip --disable-pip-version-check --no-input install $(QUIET) -r $<
	@touch $@
