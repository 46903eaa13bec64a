"""The bill of materials: its schema, its totals, its power budget, and both in Markdown."""

from __future__ import annotations

import tomllib
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hardware.make.errors import BomError
from hardware.make.finding import Finding

MARGIN: Final = 0.2
"""The share of a supply that stays free."""
COPPER: Final = 0.0178
"""Ohm of a metre of copper wire of 1 mm², at 20 degrees."""
FRESH_DAYS: Final = 90
"""A price that is older is asked for anew."""
MOST_LOST: Final = 0.05
"""The share of a supply's volts that may be lost in a cable: USB promises a device 4.75 V, 5 % below 5 V."""

Price = Annotated[float, Field(gt=0)]
Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Choice(_Strict):
    """One way to buy a part.

    `price` is about one piece's on the day `dated`, `source` where it comes from, `spread` by what share it may differ.
    """

    name: Text
    price: Price
    dated: date
    why: Text
    recommended: bool = False
    spread: Annotated[float, Field(ge=0, lt=1)] = 0.25
    source: str = Field("estimate", alias="from")


class Supply(_Strict):
    """What power comes from."""

    id: Text
    name: Text
    volts: Annotated[float, Field(gt=0)]
    amps: Annotated[float, Field(gt=0)]

    @property
    def watts(self) -> float:
        """What it gives at most."""
        return self.volts * self.amps


class Part(_Strict):
    """One job to be done, and what may do it.

    `watts` is the most that all pieces together draw from `supply`; `length_m` a cable's length, `core_mm2` how thick
    the cores are through which it `feeds` other parts.
    """

    id: Text
    name: Text
    group: Text
    quantity: Annotated[int, Field(ge=1)]
    choices: Annotated[tuple[Choice, ...], Field(min_length=1)]
    supply: str | None = None
    watts: Annotated[float, Field(ge=0)] = 0.0
    length_m: Annotated[float, Field(gt=0)] | None = None
    core_mm2: Annotated[float, Field(gt=0)] | None = None
    feeds: tuple[str, ...] = ()
    optional: bool = False

    @property
    def choice(self) -> Choice:
        """The recommended choice."""
        return next(choice for choice in self.choices if choice.recommended)

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


class Load(_Strict):
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


class Loss(_Strict):
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
        return self.share <= MOST_LOST


class Bom(_Strict):
    """One table's bill of materials."""

    as_of: date
    currency: Text
    supply: Annotated[tuple[Supply, ...], Field(min_length=1)]
    part: Annotated[tuple[Part, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_agree(self) -> Self:
        for ids in ([s.id for s in self.supply], [p.id for p in self.part]):
            twice = [name for name, times in Counter(ids).items() if times > 1]
            if twice:
                raise ValueError(f"{twice[0]} is named twice")
        known = {supply.id for supply in self.supply}
        for part in self.part:
            if part.supply is not None and part.supply not in known:
                raise ValueError(f"part {part.id}: there is no supply {part.supply}")
        drawing = {part.id: part.supply for part in self.part if part.supply is not None}
        for part in self.part:
            if part.feeds and len({drawing.get(fed) for fed in part.feeds} - {None}) != 1:
                raise ValueError(f"part {part.id}: what it feeds draws from one supply of this list")
            if unknown := sorted(set(part.feeds) - drawing.keys()):
                raise ValueError(f"part {part.id}: {unknown[0]} draws nothing")
        return self

    @classmethod
    def load(cls, path: Path) -> Bom:
        """Read a bill of materials. Raises BomError."""
        try:
            return cls.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise BomError(f"{path} cannot be read: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BomError(f"{path} is no TOML file: {error}") from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise BomError(f"{path.name}: {where}: {first['msg']}") from error

    def total(self, tables: int = 1) -> float:
        """Add up the recommended choices of all parts that are not optional, for so many tables."""
        return tables * sum(p.quantity * p.choice.price for p in self.part if not p.optional)

    def range(self) -> tuple[float, float]:
        """Return the lowest and the highest sum of one table, every price as far off as its spread."""
        parts = [part for part in self.part if not part.optional]
        low, high = (
            sum(p.quantity * p.choice.price * (1 + side * p.choice.spread) for p in parts) for side in (-1, 1)
        )
        return low, high

    def prices(self) -> Finding:
        """Judge whether every price was of use on the list's day."""
        days = [choice.dated for part in self.part for choice in part.choices]
        age = (self.as_of - min(days)).days
        return Finding(
            "Prices are dated",
            f"the oldest of {min(days)}, {age} days before the list",
            f"{FRESH_DAYS} days, none after it",
            max(days) <= self.as_of and age <= FRESH_DAYS,
        )

    def stale(self, today: date) -> str:
        """Say that prices have to be asked for anew; empty while they are fresh."""
        age = (today - min(choice.dated for part in self.part for choice in part.choices)).days
        return f"the oldest price is {age} days old: ask for all of them anew" if age > FRESH_DAYS else ""

    def length_m(self, part_id: str) -> float:
        """Return how long a cable is.

        Raises:
            BomError: there is no such part, or it is no cable.
        """
        for part in self.part:
            if part.id == part_id and part.length_m is not None:
                return part.length_m
        raise BomError(f"the parts list has no cable {part_id}")

    def loads(self) -> tuple[Load, ...]:
        """Say what hangs on each supply."""
        return tuple(
            Load(supply=s, parts=tuple(p for p in self.part if p.supply == s.id and not p.optional))
            for s in self.supply
        )

    def losses(self) -> tuple[Loss, ...]:
        """Say what each cable that feeds something loses. Several of one kind share what they feed."""
        volts = {supply.id: supply.volts for supply in self.supply}
        parts = {part.id: part for part in self.part}
        found = []
        for cable in (part for part in self.part if part.feeds):
            assert cable.length_m is not None
            assert cable.core_mm2 is not None
            fed = [parts[name] for name in cable.feeds]
            of_volts = volts[str(fed[0].supply)]
            amps = sum(part.watts for part in fed) / of_volts / cable.quantity
            lost = amps * 2 * cable.length_m * COPPER / cable.core_mm2
            found.append(Loss(cable=cable, amps=amps, volts=lost, of_volts=of_volts))
        return tuple(found)


def load_of(bom: Bom, names: list[str]) -> float:
    """Add up what these parts draw at most, amperes of their supply.

    Raises:
        BomError: one draws nothing, or is no part.
    """
    parts = {part.id: part for part in bom.part if part.watts}
    if unknown := [name for name in names if name not in parts]:
        raise BomError(f"electric.toml: {unknown[0]} draws nothing by the parts list")
    volts = {supply.id: supply.volts for supply in bom.supply}
    return sum(parts[name].watts / volts[str(parts[name].supply)] for name in names)


def bom_page(bom: Bom) -> str:
    """Write the parts, the totals and the power budget in Markdown."""
    money = bom.currency
    low, high = bom.range()
    lines = [
        "# Parts of one table",
        "",
        f"Made from `hardware/bom.toml` by `make hardware`. About prices in {money} without tax, each with its day:",
        "estimates, not quotes, but where the list says otherwise; ask for them anew after 90 days.",
        "★ is the recommended choice; the others say when they are better.",
        "UNTESTED on hardware: nobody has built this list.",
    ]
    for group in dict.fromkeys(part.group for part in bom.part):
        lines += [
            "",
            f"## {group.capitalize()}",
            "",
            "| part | pieces | choice | each | together |",
            "|---|--:|---|--:|--:|",
        ]
        for part in (p for p in bom.part if p.group == group):
            for choice in sorted(part.choices, key=lambda c: not c.recommended):
                said = f"{'★ ' if choice.recommended else 'or: '}{choice.name}: {choice.why}"
                said += (
                    f" (price of {choice.dated}{'' if choice.source == 'estimate' else ', ' + choice.source})"
                )
                together = f"{part.quantity * choice.price:.2f}" if choice.recommended else ""
                name = part.name + (f", {part.length_m:g} m" if part.length_m else "")
                name += " (optional, in no total)" if part.optional else ""
                first = (name, str(part.quantity)) if choice.recommended else ("", "")
                lines.append(f"| {first[0]} | {first[1]} | {said} | {choice.price:.2f} | {together} |")
    lines += ["", "## Together", "", "| | " + money + " |", "|---|--:|"]
    lines += [f"| {n} table{'s' if n > 1 else ''} | {bom.total(n):,.2f} |" for n in (1, 10)]
    lines += [f"| 1 table, from … to | {low:,.0f} … {high:,.0f} |"]
    lines += ["", "Ten tables are ten times one: no discount was assumed, and no spares.", "", "## Power", ""]
    lines += [f"The most that everything draws at once; {MARGIN:.0%} of each supply must stay free.", ""]
    for load in bom.loads():
        lines += [f"| {load.supply.name} | W |", "|---|--:|"]
        lines += [f"| {part.name} | {part.watts:.2f} |" for part in load.parts]
        lines += [f"| together | {load.watts:.2f} |"]
        free = 1 - load.watts / load.supply.watts
        lines += [
            f"| allowed of {load.supply.volts:g} V × {load.supply.amps:g} A = {load.supply.watts:.1f} W "
            f"| {load.allowed:.2f} |",
            f"| stays free | {free:.0%}, {'enough' if load.ok else 'TOO LITTLE'} |",
            "",
        ]
    lines += [
        f"In the cables at most {MOST_LOST:.0%} of the volts may be lost, when all draws its most at once.",
        "",
        "| cable | carries | cores | loses | |",
        "|---|--:|--:|--:|---|",
    ]
    lines += [
        f"| {loss.cable.name} | {loss.amps:.2f}\u00a0A | {loss.cable.core_mm2:g}\u00a0mm² | {loss.volts:.2f}\u00a0V of "
        f"{loss.of_volts:g} | {loss.share:.1%}, {'enough arrives' if loss.ok else 'TOO THIN'} |"
        for loss in bom.losses()
    ]
    return "\n".join(lines) + "\n"
