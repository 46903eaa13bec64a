"""A model of the card reader: it turns the cards on the felt into a reading, with the measured error rates.

The rates come from `models/reader_errors.json`. `python -m models.training errors` measures them on rendered tables and
writes this file. Nothing here is tuned. The rates that cannot be measured are assumptions: the constants below.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Self

from firmware.runtime.errors import AppError
from firmware.simulation.live.players import FACE_DOWN

HAND_IN_VIEW: Final = 0.02
"""Assumed: the share of readings in which a person's hand covers some cards."""
RESTLESS: Final = 0.01
"""Assumed: the share of readings in which movement on the table does not stop."""
SWAPPED: Final = 0.5
"""Assumed: the share of sure misreads in which two cards exchange names, because the reader names all cards jointly.

In the other sure misreads, one name is on the table twice.
"""
CONSIDERED: Final = 0.9
"""Assumed: the share of unsure misreads whose candidates include the true card."""

Felt = Mapping[str, Mapping[str, Sequence[str]]]
"""The cards on the felt by place and row, from the player's left to right. `FACE_DOWN` is a card with its back up."""


class ErrorsFileError(AppError, ValueError):
    """The file with the counts of the reader's errors is unusable."""


@dataclass(frozen=True)
class Rates:
    """The reader's errors, as shares of the cards on the felt.

    `extra_unsure` and `extra_sure` are names that the reader reports where there is no card.
    """

    unsure: float
    misread_unsure: float
    misread_sure: float
    missed: float
    extra_unsure: float
    extra_sure: float

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Self:
        """Return the shares from counts."""
        cards = counts["cards"]
        return cls(*(counts[name] / cards for name in cls.__dataclass_fields__))


@dataclass(frozen=True)
class ReaderErrors:
    """The reader's errors: `ordinary`, with a person's hand over the cards, and which cards it confuses.

    `confusions` counts the wrong names by true card. `misread_sure_at_most` is the upper limit of the measurement's
    confidence interval.
    """

    model: str
    ordinary: Rates
    under_a_hand: Rates
    misread_sure_at_most: float
    confusions: Mapping[str, Mapping[str, int]]

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """Return the packaged counts, or those of another file. Raises ErrorsFileError."""
        source = path or files("models") / "reader_errors.json"
        try:
            counts = json.loads(source.read_text(encoding="utf-8"))
            return cls(
                counts["model"],
                Rates.of(counts["ordinary"]),
                Rates.of(counts["under_a_hand"]),
                float(counts["misread_sure_at_most"]),
                counts["confusions"],
            )
        except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
            raise ErrorsFileError(
                f"The counts of the reader's errors ({source}) cannot be used: {error}. "
                "`python -m models.training errors` writes them."
            ) from error


class ReaderModel:
    """Returns readings of a felt, in the form of `TableReading.to_json()`."""

    def __init__(self, errors: ReaderErrors, rng: random.Random) -> None:
        self._errors = errors
        self._rng = rng
        self.surely_wrong = 0
        """The number of cards in the last reading that have another card's name and are marked as sure."""

    def restless(self) -> bool:
        """Return at random whether movement on the table does not stop during this reading."""
        return self._rng.random() < RESTLESS

    def read(self, felt: Felt, places: Sequence[str]) -> dict[str, Any]:
        """Return a reading of these places, with random errors."""
        rates = self._errors.ordinary
        if self._rng.random() < HAND_IN_VIEW:
            rates = self._errors.under_a_hand
        seen = {(place, row): list(cards) for place, rows in felt.items() for row, cards in rows.items()}
        wrong = self._sure_misreads(seen, rates)
        self.surely_wrong = len(wrong)
        zones, others = [], []
        for place in places:
            for row in ("front", "middle", "back"):
                cards = []
                for index, card in enumerate(seen.get((place, row), ())):
                    corners = _corners(place, row, index)
                    if card == FACE_DOWN:
                        others.append({"what": "back", "corners": corners, "zones": [[place, row]]})
                        continue
                    named = self._read_card(card, wrong.get((place, row, index)), rates)
                    cards += [read | {"corners": corners} for read in named]
                zones.append({"place": place, "row": row, "cards": cards, "capture": None})
        return {"zones": zones, "others": others, "frame": None, "verdicts": {}, "ms": {}}

    def _sure_misreads(
        self, seen: Mapping[tuple[str, str], list[str]], rates: Rates
    ) -> dict[tuple[str, str, int], str]:
        """Choose the sure misreads of a reading. Return each card's wrong name, by place, row and index."""
        face_up = {
            (*zone, index): card
            for zone, cards in seen.items()
            for index, card in enumerate(cards)
            if card != FACE_DOWN
        }
        chosen = [spot for spot in face_up if self._rng.random() < rates.misread_sure]
        wrong: dict[tuple[str, str, int], str] = {}
        for spot in chosen:
            named = self._wrong_name(face_up[spot])
            wrong[spot] = named
            other = next((at for at, card in face_up.items() if card == named), None)
            if other is not None and self._rng.random() < SWAPPED:
                wrong[other] = face_up[spot]
        return wrong

    def _read_card(self, card: str, sure_misread: str | None, rates: Rates) -> list[dict[str, Any]]:
        """Return the readings of one card: none, one, or two if an extra name is next to it."""
        if sure_misread is not None:
            return [_read(sure_misread, True, (sure_misread,))]
        rng, read = self._rng, [_read(card, True, (card,))]
        roll = rng.random()
        if roll < rates.missed:
            read = []
        elif roll < rates.missed + rates.misread_unsure:
            named = self._wrong_name(card)
            read = [_read(named, False, (named, card) if rng.random() < CONSIDERED else (named,))]
        elif roll < rates.missed + rates.misread_unsure + rates.unsure:
            read = [_read(card, False, (card, self._wrong_name(card)))]
        roll = rng.random()
        if roll < rates.extra_unsure + rates.extra_sure:
            named = self._wrong_name(card)
            read.insert(rng.randint(0, len(read)), _read(named, roll < rates.extra_sure, (named,)))
        return read

    def _wrong_name(self, card: str) -> str:
        """Return a wrong name for a card: a measured confusion or, if none was measured, its rank in another suit."""
        counts = self._errors.confusions.get(card)
        if counts:
            return self._rng.choices(list(counts), list(counts.values()))[0]
        return card[0] + self._rng.choice([suit for suit in "cdhs" if suit != card[1]])


def with_sure_misreads(errors: ReaderErrors) -> ReaderErrors:
    """Return the same errors with the highest rate of sure misreads that the measurement does not exclude."""
    most = errors.misread_sure_at_most
    return replace(
        errors,
        ordinary=replace(errors.ordinary, misread_sure=most),
        under_a_hand=replace(errors.under_a_hand, misread_sure=most),
    )


def _corners(place: str, row: str, index: int) -> list[list[float]]:
    """Return invented corners for the card at an index, next to the previous card."""
    x, y = 1000.0 * "ABCD".index(place) + 150.0 * index, 300.0 * ("front", "middle", "back").index(row)
    return [[x, y], [x + 126, y], [x + 126, y + 176], [x, y + 176]]


def _read(card: str, sure: bool, candidates: tuple[str, ...]) -> dict[str, Any]:
    """Return one card of a reading as JSON, without its corners."""
    confidence = 0.999 if sure else 0.6
    return {
        "card": card,
        "confidence": confidence,
        "sure": sure,
        "candidates": list(candidates),
        "corners": [],
    }
