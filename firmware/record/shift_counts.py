"""What a shift report holds: totals, downs, dealers, faults and hours; as numbers, and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Counts:
    """Totals; money in cents.

    `hands` were settled and closed; `voids` and `misdeals` settled nothing. `fouls` and `naturals` count seats in the
    final settlements of `hands`. `reopened` counts reopened past hands; `corrected` each time that a person
    changed a card, or keyed a row anew that the camera had read. `cards` were read by the camera; the dealer was asked
    about `unsure` of them; of `errors` the camera was sure, and a person changed them. `faults` counts how often a
    device failed. `collection` is the fees due to the house.
    """

    hands: int = 0
    voids: int = 0
    misdeals: int = 0
    fouls: int = 0
    naturals: int = 0
    reopened: int = 0
    corrected: int = 0
    cards: int = 0
    unsure: int = 0
    errors: int = 0
    faults: int = 0
    collection: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Counts)))

    @property
    def unsure_share(self) -> float | None:
        """The share of unsure cards among the cards read; None if none was read."""
        return self.unsure / self.cards if self.cards else None


@dataclass(frozen=True)
class Down:
    """A dealer's time at the table; `dealer` is "" if nobody was logged on. Times are UTC milliseconds."""

    dealer: str
    number: int
    began_ms: int
    ended_ms: int
    counts: Counts


@dataclass(frozen=True)
class Report:
    """A report. `faults` are counts by device, `hours` the hands closed in each hour (its first UTC millisecond)."""

    began_ms: int | None = None
    ended_ms: int | None = None
    downs: tuple[Down, ...] = ()
    faults: tuple[tuple[str, int], ...] = ()
    hours: tuple[tuple[int, int], ...] = ()

    @property
    def total(self) -> Counts:
        """The sum of all downs."""
        return sum((down.counts for down in self.downs), Counts())

    @property
    def dealers(self) -> tuple[tuple[str, Counts], ...]:
        """The sum of each dealer's downs, in the order of their first downs."""
        found: dict[str, Counts] = {}
        for down in self.downs:
            found[down.dealer] = found.get(down.dealer, Counts()) + down.counts
        return tuple(found.items())

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON-able data."""
        return {
            "from": self.began_ms,
            "to": self.ended_ms,
            "total": vars(self.total),
            "dealers": [{"dealer": dealer, **vars(counts)} for dealer, counts in self.dealers],
            "downs": [
                {
                    "dealer": down.dealer,
                    "down": down.number,
                    "from": down.began_ms,
                    "to": down.ended_ms,
                    **vars(down.counts),
                }
                for down in self.downs
            ],
            "faults": dict(self.faults),
            "hours": [{"from": hour, "hands": hands} for hour, hands in self.hours],
        }
