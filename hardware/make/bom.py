"""The bill of materials: its schema, its totals, its power budget, and both in Markdown."""

import re
from collections import Counter
from datetime import date
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from hardware.make.finding import Finding
from hardware.make.tables import DataTable, DataTableError, Text, fill

MARGIN: Final = 0.2
"""The share of a supply that stays free."""
COPPER: Final = 0.0178
"""Ohm of a metre of copper wire of 1 mm², at 20 degrees."""
FRESH_DAYS: Final = 90
"""A price that is older is asked for anew."""
MAX_LOSS: Final = 0.05
"""The share of a supply's volts that may be lost in a cable: USB promises a device 4.75 V, 5 % below 5 V."""

Above0 = Annotated[float, Field(gt=0)]


class Choice(DataTable):
    """One way to buy a part.

    `price` is about one piece's on the day `dated`, `source` where it comes from, `spread` by what share it may differ.
    """

    name: Text
    price: Above0
    dated: date
    why: Text
    recommended: bool = False
    spread: Annotated[float, Field(ge=0, lt=1)] = 0.25
    source: str = Field("estimate", alias="from")


class Supply(DataTable):
    """What power comes from."""

    id: Text
    name: Text
    volts: Above0
    amps: Above0

    @property
    def watts(self) -> float:
        """What it gives at most."""
        return self.volts * self.amps


class Part(DataTable):
    """One job to be done, and what may do it.

    `contents` are the pieces of a set. `watts` is the most that all pieces together draw from `supply`; `length_m` a
    cable's length, `core_mm2` how thick the cores are through which it `feeds` other parts.
    """

    id: Text
    name: Text
    contents: tuple[Text, ...] = ()
    group: Text
    quantity: Annotated[int, Field(ge=1)]
    choices: Annotated[tuple[Choice, ...], Field(min_length=1)]
    supply: str | None = None
    watts: Annotated[float, Field(ge=0)] = 0.0
    length_m: Above0 | None = None
    core_mm2: Above0 | None = None
    feeds: tuple[str, ...] = ()
    optional: bool = False

    @property
    def choice(self) -> Choice:
        """The recommended choice."""
        return next(choice for choice in self.choices if choice.recommended)

    @property
    def text(self) -> str:
        """Its name, its pieces and its recommended choice."""
        return ": ".join((self.name, *self.contents, self.choice.name))

    @property
    def listed(self) -> str:
        """Its name, and each piece of a set on a line of its own, for a cell of a table in Markdown."""
        return "<br>– ".join((self.name, *self.contents))

    @property
    def price(self) -> float:
        """What all its pieces cost."""
        return self.quantity * self.choice.price

    def number(self, pattern: str) -> float:
        """Return the number that this pattern finds there; 0 where it finds none."""
        found = re.search(pattern, self.text)
        return float(found[1]) if found else 0.0

    @model_validator(mode="after")
    def _one_recommended(self) -> Self:
        marked = sum(choice.recommended for choice in self.choices)
        if marked != 1:
            raise ValueError(f"part {self.id}: exactly one choice is recommended, not {marked}")
        if (self.watts > 0) != (self.supply is not None):
            raise ValueError(f"part {self.id}: watts and supply go together")
        if bool(self.feeds) != (self.core_mm2 is not None) or (self.feeds and self.length_m is None):
            raise ValueError(f"part {self.id}: what feeds others says length_m and core_mm2")
        return self


class Load(DataTable):
    """A supply and what hangs on it, watts."""

    supply: Supply
    parts: tuple[Part, ...]

    @property
    def watts(self) -> float:
        """What all parts draw at most, at the same time."""
        return sum(part.watts for part in self.parts)

    @property
    def allowed(self) -> float:
        """What they may draw: the supply less the margin."""
        return self.supply.watts * (1 - MARGIN)

    @property
    def ok(self) -> bool:
        """Whether they do."""
        return self.watts <= self.allowed


class Loss(DataTable):
    """What a cable loses of its supply's volts, there and back, when all that it feeds draws its most."""

    cable: Part
    amps: float
    volts: float
    of_volts: float

    @property
    def share(self) -> float:
        """The lost share of the supply's volts."""
        return self.volts / self.of_volts

    @property
    def ok(self) -> bool:
        """Whether enough arrives."""
        return self.share <= MAX_LOSS


class Candidate(DataTable):
    """A piece by its maker's number: the figures that were read, where, and what it lacks or nobody has read."""

    name: Text
    figures: Text
    where: Text
    lacks: Text


class OpticalPart(DataTable):
    """What light passes: what is asked for, candidates, and how the piece that came is tested.

    `of` names the part of the list that it belongs to.
    """

    of: Text
    what: Text
    asked: Text
    candidates: tuple[Candidate, ...]
    test: Text


class Bom(DataTable):
    """One table's bill of materials."""

    as_of: date
    currency: Text
    supply: Annotated[tuple[Supply, ...], Field(min_length=1)]
    part: Annotated[tuple[Part, ...], Field(min_length=1)]
    optical: tuple[OpticalPart, ...] = ()

    @model_validator(mode="after")
    def _names_agree(self) -> Self:
        for ids in ([s.id for s in self.supply], [p.id for p in self.part]):
            twice = [name for name, times in Counter(ids).items() if times > 1]
            if twice:
                raise ValueError(f"{twice[0]} is named twice")
        if lost := sorted({it.of for it in self.optical} - {part.id for part in self.part}):
            raise ValueError(f"an optical piece belongs to {lost[0]}, which is no part")
        drawing = {part.id: part.supply for part in self.part if part.supply is not None}
        for part in self.part:
            if part.supply is not None and part.supply not in self.volts:
                raise ValueError(f"part {part.id}: there is no supply {part.supply}")
            if part.feeds and len({drawing.get(fed) for fed in part.feeds} - {None}) != 1:
                raise ValueError(f"part {part.id}: what it feeds draws from one supply of this list")
            if unknown := sorted(set(part.feeds) - drawing.keys()):
                raise ValueError(f"part {part.id}: {unknown[0]} draws nothing")
        return self

    def get(self, part_id: str) -> Part:
        """Return a part. Raises DataTableError: there is no such part."""
        for part in self.part:
            if part.id == part_id:
                return part
        raise DataTableError(f"the parts list has no {part_id}")

    @property
    def volts(self) -> dict[str | None, float]:
        """The volts of each supply."""
        return {supply.id: supply.volts for supply in self.supply}

    def total(self, tables: int = 1, side: int = 0) -> float:
        """Add up what is not optional for so many tables; `side` -1 or 1: each price as far off as its spread."""
        parts = (part for part in self.part if not part.optional)
        return tables * sum(part.price * (1 + side * part.choice.spread) for part in parts)

    def prices(self) -> Finding:
        """Judge whether every price was of use on the list's day."""
        days = [choice.dated for part in self.part for choice in part.choices]
        age = (self.as_of - min(days)).days
        figure = f"the oldest of {min(days)}, {age} days before the list"
        fresh = max(days) <= self.as_of and age <= FRESH_DAYS
        return Finding("Prices are dated", figure, f"{FRESH_DAYS} days, none after it", fresh)

    def stale(self, today: date) -> str:
        """Say that prices have to be asked for anew; empty while they are fresh."""
        age = (today - min(choice.dated for part in self.part for choice in part.choices)).days
        return f"the oldest price is {age} days old: ask for all of them anew" if age > FRESH_DAYS else ""

    def length_m(self, part_id: str) -> float:
        """Return how long a cable is. Raises DataTableError: there is no such part, or it is not a cable."""
        long = self.get(part_id).length_m
        if long is None:
            raise DataTableError(f"the parts list has no cable {part_id}")
        return long

    def loads(self) -> tuple[Load, ...]:
        """Say what hangs on each supply."""
        return tuple(
            Load(supply=s, parts=tuple(p for p in self.part if p.supply == s.id and not p.optional))
            for s in self.supply
        )

    def losses(self) -> tuple[Loss, ...]:
        """Say what each cable that feeds something loses. Several of one kind share what they feed."""
        found = []
        for cable in (part for part in self.part if part.feeds):
            fed = [self.get(name) for name in cable.feeds]
            of_volts = self.volts[fed[0].supply]
            amps = sum(part.watts for part in fed) / of_volts / cable.quantity
            lost = amps * 2 * (cable.length_m or 0) * COPPER / (cable.core_mm2 or 1)
            found.append(Loss(cable=cable, amps=amps, volts=lost, of_volts=of_volts))
        return tuple(found)

    def amps(self, names: list[str]) -> float:
        """Add up what these parts draw at most, amperes of their supply. Raises DataTableError: one draws nothing."""
        parts = {part.id: part for part in self.part if part.watts}
        if unknown := [name for name in names if name not in parts]:
            raise DataTableError(f"electric.toml: {unknown[0]} draws nothing by the parts list")
        return sum(parts[name].watts / self.volts[parts[name].supply] for name in names)


def bom_page(bom: Bom) -> str:
    """Write the parts, the totals and the power budget in Markdown."""
    return fill("bom.md", bom=bom, free=MARGIN, lost=MAX_LOSS)
