# Every target makes its own virtual environment (.venv) first: only Python 3.11-3.13 and make are needed.
PYTHON ?= python3
ARGS ?=
BIN := .venv/bin

.PHONY: help demo test lint bench cards wheel clean
help:
	@echo "make demo   the whole appliance, simulated, in the browser (ARGS=--help for its options)"
	@echo "make test   every test"
	@echo "make lint   ruff, mypy --strict, import-linter"
	@echo "make bench  the figures, measured on this machine"
	@echo "make cards  the page's card faces, from our deck (vision/deck.py)"
	@echo "make wheel  the installable package in dist/"

demo: .venv/demo.stamp
	$(BIN)/feltwatch demo $(ARGS)

test: .venv/dev.stamp
	$(BIN)/pytest $(ARGS)

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/demo.stamp
	$(BIN)/feltwatch bench $(ARGS)

cards: .venv/dev.stamp
	$(BIN)/python -c "import pathlib, vision.cards, vision.deck; \
	[pathlib.Path(f'dealer_ui/static/cards/{c}.svg').write_text(vision.deck.card_svg(c) + '\n') for c in vision.cards.CARDS]"

wheel: .venv/dev.stamp
	$(BIN)/python -m build --wheel

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
		{ echo "Feltwatch needs Python 3.11, 3.12 or 3.13; name one with: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv

.venv/demo.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/dev.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ .venv/demo.stamp

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage
