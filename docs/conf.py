"""How Sphinx builds the book (`make docs`). What it says of code and data is asked of them: docs/facts.py."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

project = "Feltwatch"
copyright = "the Feltwatch authors, Apache-2.0"
version = release = version_of("feltwatch")

extensions = ["myst_parser", "sphinx_copybutton", "docs.directives"]
exclude_patterns = ["pictures", "README.md"]
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 3
nitpicky = True
smartquotes_action = "qe"  # two dashes begin an option
highlight_language = "none"  # most blocks are lines for a shell

html_theme = "furo"
html_title = "Feltwatch"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_search_scorer = str(Path(__file__).parent / "static/scorer.js")  # pages with tasks stand before reports
html_copy_source = False
html_show_sphinx = False
copybutton_selector = (
    "div.highlight-none pre, div.highlight-toml pre"  # commands and settings; no drawings, no output
)
templates_path: list[str] = []
