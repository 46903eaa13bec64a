"""Decks to judge by, never to train on: fetched from npm and Debian under LGPL/GPL, drawn into the cache.

`python -m models.training unseen` needs npm, rsvg-convert, apt-get and dpkg. Nothing of this art is committed or
reaches the weights. Ordinary decks (`VALIDATION`, `JUDGING`) have English indices in the usual places; those of
`ODD_JUDGING` have unusual colours, sizes or places: an index higher than a jumbo's 30 mm (nicu-white: 35 mm), a lower
index that is not the upper one turned (ancient-egyptians, tango_nuevo), and the like.
"""

import gzip
import re
from functools import lru_cache
from pathlib import Path

import cv2

from models.training.art import CACHE, HEIGHT_PX, draw_svg, npm_install, on_white, require, run_tool
from models.training.samples import TrainingError
from vision.base.arrays import Image
from vision.reading.cards import CARDS

FOLDER = CACHE / "unseen"
_NPM = {  # LGPL-3.0, LGPL-2.1, LGPL-3.0 (Chris Aguilar's Vectorized Playing Cards)
    "@younestouati/playing-cards-standard-deck": "3.0.0",
    "svg-cards": "4.0.2",
    "cardsJS": "1.1.1",
}
_DEBIAN = ("gnome-cards-data", "aisleriot", "kdegames-card-data-kf5")  # GPL-3+, GPL-3+, GPL-2+
_KDE = {  # folder: sheet; the package's other decks are the GNOME ones again, or have no English indices
    "ancient-egyptians": "Ancient_Egyptians",
    "jolly-royal": "jolly-royal",
    "nicu-white": "white",
    "standard": "standard",
}
VALIDATION = (
    *("anglo", "atlasnye", "bellot", "gnomangelo", "orell", "paris", "simplistic", "svg-cards", "tigullio"),
)
"""Ordinary decks to calibrate on, whose errors people look at. Nobody looks at the decks that judge the result."""
JUDGING = (
    *("younestouati", "aguilar", "anglo_bitmap", "anglo_modern", "anglo_poker", "jolly-royal", "standard"),
)
ODD_JUDGING = (
    *("ancient-egyptians", "anglo_modern_4_color", "bonded", "dondorf", "neoclassical"),
    *("neoclassical_4_color", "nicu-white", "ornamental", "plastic", "tango", "tango_nuevo"),
)
DECKS = (*VALIDATION, *JUDGING, *ODD_JUDGING)
_GRID_RANKS, _GRID_SUITS = "A23456789TJQK", "cdhs"  # columns and rows of the GNOME decks' sheets
_NUMBERS = {"A": "1", "T": "10", "J": "jack", "Q": "queen", "K": "king"}
_SUIT_WORDS = {"c": "club", "d": "diamond", "h": "heart", "s": "spade"}


def fetch() -> list[Path]:
    """Fetch and draw all decks; return one folder of 52 PNG files for each.

    Raises:
        TrainingError: a tool is missing or failed, or two cards of a deck look alike.
    """
    require("npm", "rsvg-convert", "apt-get", "dpkg")
    work = CACHE / "unseen-work"
    work.mkdir(parents=True, exist_ok=True)
    _unpack(work)
    _draw_npm_decks(work)
    _draw_gnome_decks(work)
    _draw_kde_decks(work)
    return [deck_folder(name) for name in DECKS]


def need_52(deck: Path) -> None:
    """Raise TrainingError if two cards of a drawn deck look alike: such a deck measures nothing."""
    seen: dict[bytes, str] = {}
    for code in CARDS:
        other = seen.setdefault((deck / f"{code}.png").read_bytes(), code)
        if other != code:
            raise TrainingError(
                f"{deck.name} was drawn wrong: {other} and {code} are the same picture; fetch the decks again"
            )


def is_there() -> bool:
    """Return whether the pictures of all decks are there."""
    return all((FOLDER / name / f"{code}.png").exists() for name in DECKS for code in CARDS)


@lru_cache(maxsize=len(DECKS))
def deck_folder(name: str) -> Path:
    """Return the folder of a deck's pictures.

    Raises:
        TrainingError: one is missing, or two cards look alike.
    """
    folder = FOLDER / name
    if not all((folder / f"{code}.png").exists() for code in CARDS):
        raise TrainingError(f"There are no pictures of {name}: fetch them first (unseen)")
    need_52(folder)
    return folder


def _draw_npm_decks(work: Path) -> None:
    npm_install(work, _NPM)
    modules = work / "node_modules"
    for code in CARDS:
        rank, suit = code[0], code[1]
        number = {"A": "1", "T": "10", "J": "11", "Q": "12", "K": "13"}.get(rank, rank)
        standard = modules / "@younestouati/playing-cards-standard-deck/cards" / f"{number}{suit}.svg"
        draw_svg(_without_miniature(standard), FOLDER / "younestouati" / f"{code}.png")
        picture = modules / "svg-cards/png/2x" / f"{_SUIT_WORDS[suit]}_{_NUMBERS.get(rank, rank)}.png"
        _write(on_white(picture, cut=False), FOLDER / "svg-cards" / f"{code}.png")
        vectorized = modules / "cardsJS/cards" / f"{rank.replace('T', '10')}{suit.upper()}.svg"
        draw_svg(vectorized, FOLDER / "aguilar" / f"{code}.png")


def _without_miniature(card: Path) -> Path:
    """Return the card's file, for the 4♠ a copy without its miniature: a large number over a large sign.

    In version 2.0.0 every card had such a miniature, hidden by its class `mini-card`. Version 3.0.0 removed them from
    the other cards. On the 4♠ it stays, in a group without a class.
    """
    text = card.read_text()
    if 'class="maxi-card"' not in text:
        return card
    mended = card.with_name(f"whole-{card.name}")
    mended.write_text(re.sub(r"<g>.*?</g>", "", text))
    return mended


def _write(picture: Image, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    width = round(HEIGHT_PX * picture.shape[1] / picture.shape[0])
    cv2.imwrite(str(path), cv2.resize(picture, (width, HEIGHT_PX), interpolation=cv2.INTER_AREA))


def _unpack(work: Path) -> None:
    for name in _DEBIAN:
        if not list(work.glob(f"{name}_*.deb")):
            run_tool(["apt-get", "download", "-q", name], work)
        (package,) = work.glob(f"{name}_*.deb")
        run_tool(["dpkg", "-x", package.name, "debian"], work)


def _draw_kde_decks(work: Path) -> None:
    """Draw each card of a sheet: the tool draws the shape of the card's name on a page, out of which it is cut."""
    for folder, name in _KDE.items():
        sheet = work / f"debian/usr/share/carddecks/svg-{folder}/{name}.svgz"
        plain, drawn = work / f"{folder}.svg", work / f"{folder}.png"
        plain.write_bytes(gzip.decompress(sheet.read_bytes()))
        for code in CARDS:
            shape = f"{_NUMBERS.get(code[0], code[0])}_{_SUIT_WORDS[code[1]]}"
            height = 400
            for _ in range(2):  # small first, to see how much of its page the card fills
                size = ["-h", str(height), "-i", shape, "-o", drawn.name, plain.name]
                run_tool(["rsvg-convert", "--unlimited", "-a", *size], work)
                card = on_white(drawn)
                height = min(6000, height * HEIGHT_PX // card.shape[0])
            _write(card, FOLDER / folder / f"{code}.png")


def _draw_gnome_decks(work: Path) -> None:
    """Draw each sheet of 13 × 5 cards whole and cut it."""
    for name in DECKS:
        sheet = work / "debian/usr/share/aisleriot/cards" / f"{name}.svgz"
        if not sheet.exists():
            continue
        plain = work / f"{name}.svg"
        plain.write_bytes(gzip.decompress(sheet.read_bytes()))
        drawn = plain.with_suffix(".png")
        run_tool(["rsvg-convert", "--unlimited", "-a", "-w", "3900", "-o", drawn.name, plain.name], work)
        picture = on_white(drawn, cut=False)
        h, w = picture.shape[0] / 5, picture.shape[1] / 13
        for row, suit in enumerate(_GRID_SUITS):
            for column, rank in enumerate(_GRID_RANKS):
                top, left = round(row * h), round(column * w)
                card = picture[top : round((row + 1) * h), left : round((column + 1) * w)]
                _write(card, FOLDER / name / f"{rank}{suit}.png")
