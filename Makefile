# Every target makes its own virtual environment (.venv) first: only Python 3.11-3.13 and make are needed.
PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
TRAIN := .venv-training/bin
PARALLEL := --numprocesses auto --dist loadscope --no-loadscope-reorder
# One file starts no workers; only the page's states are spread one by one (tests/conftest.py).
ONE_FILE = $(filter-out tests/browser/test_states.py,$(if $(filter 1,$(words $(FILES))),$(FILES)))
FILES = $(filter tests/%.py,$(subst ::, ,$(ARGS)))
SUPPLY := .venv-supply/bin
BIOME_VERSION := $(shell sed -n 's|.*/schemas/\([0-9.]*\)/schema.json.*|\1|p' biome.jsonc)
BIOME := build/biome-$(BIOME_VERSION)/node_modules/.bin/biome
CROPS ?= 1000000
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
# TORCH_INDEX: an index with the build without CUDA (200 MB in the place of gigabytes), where the usual one has another.
TORCH := $(shell sed -n 's/.*"\(torch==[0-9.]*\)".*/\1/p' pyproject.toml)
TORCH_INDEX ?=
# Compiled modules are kept, outside the sources: tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/build/pycache
TORCH_FROM := --no-deps $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))

.PHONY: help words demo pit-demo test tests test-quick test-all coverage micropython biome fuzz fuzz-page fuzz-all campaign security-load lock audit-deps sbom golden page-load docs book-pdf lint bench cards hardware boards wheel rules-wheel release image test-image test-install test-install-pit smoke-aarch64 training test-training clean
help:
	@echo "make demo   plays the whole appliance, simulated, in the browser (ARGS=--help for its options)"
	@echo "make pit-demo  plays six simulated tables that send to a pit with a real PostgreSQL (ARGS='--tables 20')"
	@echo "make test   runs the tests of a change (ARGS='tests/firmware/rules -k foul': options of pytest)"
	@echo "make tests  is make test"
	@echo "make test-quick  runs the tests that take two minutes: no browser, no processes"
	@echo "make test-all    runs make test and the long tests: more sizes, load, benchmarks, long demos"
	@echo "make coverage  runs make test and lists the lines and branches that no test reaches"
	@echo "make micropython  builds Debian trixie's MicroPython in build/, for the tests of the puck reader (needs apt)"
	@echo "make biome  installs the linter of JavaScript in build/, for make lint (needs npm)"
	@echo "make fuzz   sends a million damaged frames through every parser of the puck readers (ARGS=--help)"
	@echo "make fuzz-page  sends requests to the page's HTTP interface as every role, by its description (ARGS=--help)"
	@echo "make fuzz-all   sends damaged pictures, profiles, settle JSON, requests and frames for ten minutes (ARGS=--help)"
	@echo "make campaign  runs one of tests/campaigns (ARGS='appliance.kill_campaign --help')"
	@echo "make security-load  measures the table process under a full load of requests: docs/security-load.md"
	@echo "make lock   writes requirements/*.lock again, with hashes, for x86-64 and aarch64"
	@echo "make audit-deps  asks the advisory service about each package that is installed on the box or the pit"
	@echo "                   (ARGS='--write docs/dependency-report.md')"
	@echo "make sbom   lists the packages of box and pit and their licences: build/sbom.json, build/licences.txt"
	@echo "make golden  draws the pictures of every state of the page, docs/screens.png and the book's (ARGS='state name')"
	@echo "make page-load  measures 30 screens, with a settlement a second for a minute: docs/page-load.md"
	@echo "make docs   builds the book in build/docs, and the dealer's card to laminate"
	@echo "make book-pdf  prints the book as one PDF with contents: build/feltwatch-book.pdf (needs chromium)"
	@echo "make lint   runs ruff, mypy --strict, import-linter, and Biome where make biome has installed it"
	@echo "make bench  measures the figures on this machine"
	@echo "make words  gathers the page's messages, updates the translations and compiles them"
	@echo "make cards  draws the page's card faces from our deck (vision/synthetic/deck.py)"
	@echo "make hardware  writes parts list, checks, looms, felt to print and printed parts: hardware/out (needs"
	@echo "                   openscad, xvfb)"
	@echo "make boards  lets KiCad check both circuit boards, and writes their plots, part lists and pictures (needs kicad 9)"
	@echo "make wheel  builds the package that can be installed, in dist/"
	@echo "make rules-wheel  builds the rules alone as a package for other programs (ARGS=FOLDER instead of dist)"
	@echo "make release  builds what is carried to a box: wheels, services, installer; dist/index.html lists it (ARGS='aarch64 3.11 3.13')"
	@echo "make image  makes a card for a Raspberry Pi 5 with that release, signed (needs mmdebstrap, arch-test, qemu-user-static,"
	@echo "                   squashfs-tools, fdisk, e2fsprogs, dosfstools, mtools, uidmap; systemd/image/README.md)"
	@echo "make test-image  boots that card in QEMU, plays, cuts its power, breaks an update (needs qemu-system-arm, qemu-utils, cpio;"
	@echo "                   ARGS='--write docs/image-report.md')"
	@echo "make test-install  installs, breaks, upgrades and removes the release in a booted Debian (needs root, mmdebstrap,"
	@echo "                   systemd-container)"
	@echo "make test-install-pit  does the same for the server of many tables, which a table sends to meanwhile"
	@echo "make smoke-aarch64  tests the wheels, a frame and a hand on arm64, under emulation (needs qemu-user-static,"
	@echo "                   debootstrap, proot; ARGS='--write FILE')"
	@echo "make training  trains the card reader's model again, for hours (DATA=FOLDER CROPS=N; models/training/README.md)"
	@echo "make test-training  tests a training run of two minutes, in a folder of its own"
	@echo "make clean  removes the environments, the builds and the caches"

demo: .venv/demo.stamp
	$(BIN)/feltwatch demo $(ARGS)

pit-demo: .venv/pit-demo.stamp
	$(BIN)/feltwatch pit demo $(ARGS)

test tests: .venv/dev.stamp
	$(BIN)/pytest $(if $(ONE_FILE),,$(PARALLEL)) -m "not exhaustive" $(ARGS)

test-quick: .venv/dev.stamp
	$(BIN)/pytest $(PARALLEL) --numprocesses logical -m "not exhaustive and not slow and not browser" $(ARGS)

test-all golden: export FELTWATCH_CHROMIUM ?= /usr/bin/chromium
test-all: export FELTWATCH_THOROUGH = 1
test-all: .venv/dev.stamp
	$(BIN)/pytest $(PARALLEL) $(ARGS)

coverage: .venv/dev.stamp
	$(BIN)/pytest $(PARALLEL) -m "not exhaustive" --cov --cov-report=term:skip-covered $(ARGS)

micropython: build/micropython/micropython

build/micropython/micropython: tests/firmware/puck_reader/micropython.sh
	tests/firmware/puck_reader/micropython.sh build/micropython

biome: $(BIOME)

$(BIOME):
	npm install --silent --no-audit --no-fund --prefix build/biome-$(BIOME_VERSION) @biomejs/biome@$(BIOME_VERSION)

fuzz: .venv/dev.stamp
	$(BIN)/python -m tests.firmware.devices.fuzz $(ARGS)

fuzz-page: .venv/dev.stamp
	$(BIN)/python -m tests.dealer_ui.fuzz $(ARGS)

fuzz-all: .venv/dev.stamp
	$(BIN)/python -m tests.campaigns.security.fuzz $(ARGS)

campaign: .venv/dev.stamp
	$(BIN)/python -m tests.campaigns.$(or $(ARGS),pit.kill_campaign --help)

security-load: .venv/dev.stamp
	$(BIN)/python -m tests.campaigns.security.load --write docs/security-load.md $(ARGS)

# A release step each. No lock names where its parts come from: that is for anyone who installs to say.
LOCK := $(SUPPLY)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links pyproject.toml --extra pi
lock: .venv-supply/supply.stamp
	$(LOCK) --output-file requirements/box.lock
	$(LOCK) --extra dev --output-file requirements/dev.lock
	$(subst --extra pi,--extra pit,$(LOCK)) --constraint requirements/box.lock --output-file requirements/pit.lock

audit-deps: .venv-supply/supply.stamp
	$(SUPPLY)/python -m tests.security.supply_chain audit requirements/box.lock requirements/pit.lock $(ARGS)

sbom: .venv-supply/supply.stamp
	$(PYTHON) -m venv --clear build/box
	build/box/bin/python $(PIP_INSTALL) --require-hashes --requirement requirements/box.lock --requirement requirements/pit.lock
	build/box/bin/python $(PIP_INSTALL) --no-deps .
	$(SUPPLY)/cyclonedx-py environment build/box/bin/python --output-file build/sbom.json
	$(SUPPLY)/python -m tests.security.supply_chain licences build/sbom.json --of build/box >build/licences.txt

golden: .venv/dev.stamp
	$(BIN)/python -m tests.browser.golden $(ARGS)

page-load: .venv/dev.stamp
	$(BIN)/python -m tests.campaigns.browser.load --write docs/page-load.md $(ARGS)

docs: .venv/dev.stamp
	$(BIN)/sphinx-build --builder html --fresh-env --fail-on-warning --keep-going --quiet -d build/docs-trees docs build/docs
	@echo "The book: build/docs/index.html"

book-pdf: .venv/dev.stamp
	$(BIN)/sphinx-build --builder singlehtml --fail-on-warning --keep-going --quiet -D html_theme=basic -d build/paper-trees docs build/paper
	$(BIN)/python -m docs.paper build/paper/index.html build/feltwatch-book.pdf

# dealer_ui/translations/README.md
MARKS := -k _ -k gettext -k ngettext:1,2 -k N_ -k pgettext:1c,2 -k NP_:1c,2 -k Message -k Term -k TableError -k CommandRefused \
	-k HandStillOpen -k CommandNotAllowed -k UnknownEvent -k PinError -k CaptureError -k JournalError -k JournalBusy -k JournalFull \
	-k JournalDamaged -k JournalUncertain -k KeyUnusable -k UpdateRefused -k NeverTaken -k NoteUnusable -k DisputeFileError -k TableUnreachable -k DeviceError -k DeviceMissing \
	-k DeviceRefused -k DeviceSettings -k CameraError -k CameraMissing -k CameraHung -k FrameLate -k FrameUnreadable \
	-k NoMoreFrames -k SettingRefused -k NotAllowedError -k SeatingError -k StakesError -k CalibrationError -k MarkersError \
	-k NoMarkersError -k TooFewMarkersError -k DisagreeingMarkersError -k PictureError -k PhotoRefused -k ModelError -k EnrolmentError \
	-k _RestlessError -k PitUnreachable -k AccessError -k NoOwner -k PersonNotListed -k NameRefused -k PitError -k _problem:2 -k _contradiction:2 -k _unproven -k NoteUnusable 

words: .venv/dev.stamp
	$(BIN)/pybabel -q extract --no-default-keywords $(MARKS) -F dealer_ui/translations/babel.cfg --no-location \
		--sort-output --omit-header --width 110 -o dealer_ui/translations/messages.pot .
	for language in es zh_Hans zh_Hant; do $(BIN)/pybabel -q update -i dealer_ui/translations/messages.pot \
		-d dealer_ui/translations -l $$language --init-missing --no-fuzzy-matching --ignore-obsolete \
		--ignore-pot-creation-date --width 110; done
	$(BIN)/pybabel -q compile -d dealer_ui/translations

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if [ -x $(BIOME) ]; then $(BIOME) lint --error-on-warnings; \
	else echo "The JavaScript was not linted. Its linter: make biome (needs npm: sudo apt-get install npm)"; fi

bench: .venv/bench.stamp
	$(BIN)/feltwatch bench $(ARGS)

cards: .venv/dev.stamp
	$(BIN)/python -c "import pathlib, vision.reading.cards, vision.synthetic.deck; \
	[pathlib.Path(f'dealer_ui/static/cards/{c}.svg').write_text(vision.synthetic.deck.card_svg(c) + '\n') for c in vision.reading.cards.CARDS]; \
	pathlib.Path('dealer_ui/templates/parts/signs.html').write_text(vision.synthetic.deck.signs_svg() + '\n')"

hardware: .venv/dev.stamp
	$(BIN)/python -m hardware.make $(ARGS)

boards: .venv/dev.stamp
	$(BIN)/python -m hardware.make boards

wheel: .venv/dev.stamp
	$(BIN)/python -m build --wheel

rules-wheel: .venv/dev.stamp
	systemd/rules/make $(ARGS)

release: .venv/dev.stamp sbom wheel rules-wheel
	systemd/release $(ARGS)
	systemd/release-page

image: .venv/dev.stamp sbom
	rm -f dist/feltwatch-*-aarch64.tar.gz
	systemd/release aarch64 3.13
	systemd/image/make

test-image: .venv/dev.stamp
	$(BIN)/python -m tests.image.twin $(ARGS)

test-install: .venv/dev.stamp
	$(BIN)/pytest -p no:cacheprovider -p no:randomly --exitfirst tests/install/install_run.py --durations=0 $(ARGS)

test-install-pit: .venv/dev.stamp
	$(BIN)/pytest -p no:cacheprovider -p no:randomly --exitfirst tests/install/pit_upgrade_run.py tests/install/pit_run.py \
		tests/install/pit_loss_run.py --durations=0 $(ARGS)

smoke-aarch64: .venv/dev.stamp
	tests/aarch64/smoke $(ARGS)

training: .venv-training/training.stamp
	$(TRAIN)/python -m models.training all --crops $(CROPS) $(if $(DATA),--data $(DATA)) $(ARGS)

test-training: .venv-training/dev.stamp
	$(TRAIN)/pytest tests/models tests/models/training_run.py $(ARGS)

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
		{ echo "Feltwatch needs Python 3.11, 3.12 or 3.13; name one with: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv

.venv/demo.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/pit-demo.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python $(PIP_INSTALL) --editable '.[pit-demo]'
	@touch $@ .venv/demo.stamp

.venv/bench.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python $(PIP_INSTALL) --editable '.[pit]'
	@touch $@ .venv/demo.stamp

.venv/dev.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ .venv/demo.stamp .venv/pit-demo.stamp

.venv-training/training.stamp: pyproject.toml
	$(PYTHON) -m venv .venv-training
	$(TRAIN)/python $(PIP_INSTALL) $(TORCH_FROM) $(TORCH)
	$(TRAIN)/python $(PIP_INSTALL) --editable '.[training]'
	@touch $@

.venv-training/dev.stamp: .venv-training/training.stamp
	$(TRAIN)/python $(PIP_INSTALL) --editable '.[dev,training]'
	@touch $@

.venv-supply/supply.stamp: Makefile
	$(PYTHON) -m venv .venv-supply
	$(SUPPLY)/python $(PIP_INSTALL) click cyclonedx-bom packaging pip-audit uv
	@touch $@

clean:
	rm -rf .venv .venv-supply .venv-training build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage
