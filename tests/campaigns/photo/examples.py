"""`python -m tests.campaigns.photo.examples`: draws the photographs of docs/examples, and writes what comes of each."""

from __future__ import annotations

from pathlib import Path

import cv2

from firmware.photo.asking import Answers, consider
from firmware.photo.cli import in_words, photo_cards
from tests.campaigns.photo.scenes import draw
from vision.base.pictures import load_picture
from vision.reading.network import CardReader
from vision.reading.surface_reading import read_surface

FOLDER = Path(__file__).parents[3] / "docs" / "examples"
EXAMPLES = {
    "two-hands": (11, 2, (1632, 1224), "traditional"),
    "three-hands": (12, 3, (2016, 1512), "washington-2-4"),
    "four-hands": (13, 4, (2592, 1944), "clean-sweep-online"),
}
"""Seed, hands, pixels and rules of each."""


def main() -> None:
    """Write all pictures and their settlements."""
    reader = CardReader(threads=2)
    for name, (seed, players, size, profile) in EXAMPLES.items():
        file = FOLDER / f"{name}.jpg"
        photograph = draw(seed, players, size)
        cv2.imwrite(str(file), photograph.picture, [cv2.IMWRITE_JPEG_QUALITY, 80])
        outcome = consider(photo_cards(read_surface(load_picture(file), reader)), Answers(), profile)
        (FOLDER / f"{name}.txt").write_text(in_words(Path(file.name), outcome) + "\n", encoding="utf-8")
        print(name, photograph.words, outcome.questions, bool(outcome.settlement))  # noqa: T201


if __name__ == "__main__":
    main()
