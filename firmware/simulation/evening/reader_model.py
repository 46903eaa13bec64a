"""A reader with the measured error rates: cards on the felt → the camera's reading.

The rates come from `models/reader_errors.json`, which `python -m models.training errors` writes from rendered tables;
nothing here is tuned. What cannot be measured is assumed, and named below.
"""

from __future__ import annotations

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
"""Assumed: the share of readings in which a person's hand rests over some cards."""
RESTLESS: Final = 0.01
"""Assumed: the share of readings in which the table does not come to rest."""
SWAPPED: Final = 0.5
"""Assumed: the share of sure misreads in which two cards swap names, because the reader names cards jointly; in the
rest the name is on the table twice.
"""
CONSIDERED: Final = 0.9
"""Assumed: the share of unsure misreads whose candidates include the true card."""

Felt = Mapping[str, Mapping[str, Sequence[str]]]
"""The cards face up on the felt, by place and row, from the player's left to right."""


class ErrorsFileError(AppError, ValueError):
    """The counts of the reader's errors are invalid."""


@dataclass(frozen=True)
class Rates:
    """Shares of the cards on the felt; `extra_unsure` and `extra_sure` are names without a card."""

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
    """The reader's errors: at rest, under a person's hand, and the confusions between cards."""

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
        """Number of cards in the last reading with another card's name, marked as sure."""

    def restless(self) -> bool:
        """Return whether the table fails to come to rest this time."""
        return self._rng.random() < RESTLESS

    def read(self, felt: Felt, places: Sequence[str]) -> dict[str, Any]:
        """Return a reading of the places in play."""
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
                    named = self._card(card, wrong.get((place, row, index)), rates)
                    cards += [read | {"corners": corners} for read in named]
                zones.append({"place": place, "row": row, "cards": cards, "capture": None})
        return {"zones": zones, "others": others, "frame": None, "verdicts": {}, "ms": {}}

    def _sure_misreads(
        self, seen: Mapping[tuple[str, str], list[str]], rates: Rates
    ) -> dict[tuple[str, str, int], str]:
        lies = {
            (*zone, index): card
            for zone, cards in seen.items()
            for index, card in enumerate(cards)
            if card != FACE_DOWN
        }
        chosen = [spot for spot in lies if self._rng.random() < rates.misread_sure]
        wrong: dict[tuple[str, str, int], str] = {}
        for spot in chosen:
            named = self._taken_for(lies[spot])
            wrong[spot] = named
            other = next((at for at, card in lies.items() if card == named), None)
            if other is not None and self._rng.random() < SWAPPED:
                wrong[other] = lies[spot]
        return wrong

    def _card(self, card: str, surely: str | None, rates: Rates) -> list[dict[str, Any]]:
        """Return the reading of one card: once, not at all, or with an extra name next to it."""
        if surely is not None:
            return [_read(surely, True, (surely,))]
        rng, read = self._rng, [_read(card, True, (card,))]
        roll = rng.random()
        if roll < rates.missed:
            read = []
        elif roll < rates.missed + rates.misread_unsure:
            named = self._taken_for(card)
            read = [_read(named, False, (named, card) if rng.random() < CONSIDERED else (named,))]
        elif roll < rates.missed + rates.misread_unsure + rates.unsure:
            read = [_read(card, False, (card, self._taken_for(card)))]
        roll = rng.random()
        if roll < rates.extra_unsure + rates.extra_sure:
            named = self._taken_for(card)
            read.insert(rng.randint(0, len(read)), _read(named, roll < rates.extra_sure, (named,)))
        return read

    def _taken_for(self, card: str) -> str:
        """Return the name of a misread card: as measured, or, without a measurement, its rank in another suit."""
        seen = self._errors.confusions.get(card)
        if seen:
            return self._rng.choices(list(seen), list(seen.values()))[0]
        return card[0] + self._rng.choice([suit for suit in "cdhs" if suit != card[1]])


def with_sure_misreads(errors: ReaderErrors) -> ReaderErrors:
    """Return the same reader with as many sure misreads as the measurement cannot exclude."""
    most = errors.misread_sure_at_most
    return replace(
        errors,
        ordinary=replace(errors.ordinary, misread_sure=most),
        under_a_hand=replace(errors.under_a_hand, misread_sure=most),
    )


def _corners(place: str, row: str, index: int) -> list[list[float]]:
    """Return the corners of the card at an index: next to the previous one."""
    x, y = 1000.0 * "ABCD".index(place) + 150.0 * index, 300.0 * ("front", "middle", "back").index(row)
    return [[x, y], [x + 126, y], [x + 126, y + 176], [x, y + 176]]


def _read(card: str, sure: bool, candidates: tuple[str, ...]) -> dict[str, Any]:
    confidence = 0.999 if sure else 0.6
    return {
        "card": card,
        "confidence": confidence,
        "sure": sure,
        "candidates": list(candidates),
        "corners": [],
    }
