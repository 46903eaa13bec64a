"""What is shipped next to the code: the deck's faces, the script, the style."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from vision.reading.cards import CARDS
from vision.synthetic.deck import card_svg, signs_svg

STATIC = Path(str(files("dealer_ui"))) / "static"


def test_the_faces_are_those_of_our_deck() -> None:
    """Run `make cards` when the deck was drawn again."""
    shipped = {path.stem: path.read_text(encoding="utf-8") for path in (STATIC / "cards").glob("*.svg")}
    assert shipped == {code: f"{card_svg(code)}\n" for code in CARDS}


def test_the_signs_of_small_cards_are_those_of_our_deck() -> None:
    """Run `make cards` when the deck was drawn again."""
    shipped = (STATIC.parent / "templates/parts/signs.html").read_text(encoding="utf-8")
    assert shipped == f"{signs_svg()}\n"


def test_the_page_is_light() -> None:
    page = sum(
        (STATIC / name).stat().st_size
        for name in ("feltwatch.css", "feltwatch.js", "api.js", "screen_settings.js", "stream.js", "icon.svg")
    )
    assert page < 76_000
    assert max(path.stat().st_size for path in (STATIC / "cards").iterdir()) < 8_000


@pytest.mark.parametrize(
    "name", ["feltwatch.css", "feltwatch.js", "api.js", "screen_settings.js", "stream.js"]
)
def test_nothing_is_fetched_from_elsewhere(name: str) -> None:
    text = (STATIC / name).read_text(encoding="utf-8")
    assert "http:" not in text
    assert "https:" not in text
    assert "@import" not in text
