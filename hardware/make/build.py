"""How a table comes to be: where its parts are ordered, and the steps to it, each needing what an earlier one made.

`build.toml` has the shops and all steps, `assembly.toml` those of the assembly, with pictures. UNTESTED on hardware.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from hardware.make.bom import Bom, Part
from hardware.make.tables import DataTable, DataTableError, Text

Texts = Annotated[tuple[Text, ...], Field(min_length=1)]


class Shop(DataTable):
    """A kind of shop, how many `weeks` before the building its list is sent, and the parts (ids of bom.toml) on it."""

    id: Text
    name: Text
    weeks: Annotated[int, Field(ge=0)]
    parts: Texts


class Step(DataTable):
    """One step: `page` is a page of the book, with a heading; `uses` are parts of bom.toml."""

    title: Text
    page: Text
    makes: Texts
    needs: tuple[Text, ...] = ()
    uses: tuple[Text, ...] = ()


class Build(DataTable):
    """The whole way from a list to a table that is accepted."""

    shop: tuple[Shop, ...]
    step: tuple[Step, ...]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        made: set[str] = set()
        for step in self.step:
            if early := [thing for thing in step.needs if thing not in made]:
                raise ValueError(f"“{step.title}” needs {', '.join(early)}, which no earlier step makes")
            if again := made & set(step.makes):
                raise ValueError(f"“{step.title}” makes {', '.join(sorted(again))} a second time")
            made |= set(step.makes)
        needed = {thing for step in self.step for thing in step.needs}
        if idle := made - needed - set(self.step[-1].makes):
            raise ValueError(f"nothing needs {', '.join(sorted(idle))}")
        return self

    @classmethod
    def of(cls, path: Path, bom: Bom) -> Build:
        """Read build.toml, and compare it with the parts list. Raises DataTableError."""
        build = cls.load(path)
        listed = Counter(part for shop in build.shop for part in shop.parts)
        used = {part for step in build.step for part in step.uses}
        parts = {part.id for part in bom.part}
        for wrong, words in (
            (parts - set(listed), "is ordered nowhere"),
            ({part for part, times in listed.items() if times > 1}, "is ordered twice"),
            (set(listed) - parts, "is ordered and is no part of the list"),
            (parts - used, "is used in no step"),
            (used - parts, "is used and is no part of the list"),
        ):
            if wrong:
                raise DataTableError(f"{path.name}: {', '.join(sorted(wrong))} {words}")
        return build


def _name(part: Part) -> str:
    return f"{part.name} (optional)" if part.optional else part.name


def _listed(part: Part) -> str:
    return part.listed.replace(part.name, _name(part), 1)


def order_lists(build: Build, bom: Bom) -> str:
    """Return one list for each kind of shop, in Markdown: pieces, recommended choice, price. Sums leave options out."""
    lines: list[str] = []
    for shop in sorted(build.shop, key=lambda one: -one.weeks):
        wanted = [bom.get(name) for name in shop.parts]
        total = sum(part.price for part in wanted if not part.optional)
        lines += [f"### {shop.name}", ""]
        lines += [f"Order {shop.weeks} week{'s' if shop.weeks > 1 else ''} before the building.", ""]
        lines += [f"| pieces | part | choice | about, {bom.currency} |", "|--:|---|---|--:|"]
        lines += [f"| {p.quantity:g} | {_listed(p)} | {p.choice.name} | {p.price:.2f} |" for p in wanted]
        lines += [f"|  | together, without what is optional |  | {total:.2f} |", ""]
    return "\n".join(lines)


def parts_used(build: Build, bom: Bom, page: str) -> str:
    """Return the parts that the steps on a page of the book use, in Markdown: how many, their names and choices.

    Raises:
        KeyError: no step is on that page.
    """
    steps = [step for step in build.step if step.page == page]
    if not steps:
        raise KeyError(page)
    used = [bom.get(name) for name in dict.fromkeys(part for step in steps for part in step.uses)]
    return "\n".join(["From the parts list:", "", *(f"- {p.quantity:g} × {_name(p)}" for p in used)])


class Task(DataTable):
    """A step of the assembly: the `section` of the book's page that it stands in, its picture, what to `do`.

    `seen` is from where, and `shows` what; `done` is how one sees that it is complete, `brings` what is there from now.
    """

    id: Text
    section: Text
    title: Text
    scene: Text
    seen: tuple[float, float, float, float, float, float, float]
    shows: Text
    do: Texts
    done: Text
    brings: tuple[Text, ...] = ()

    @property
    def camera(self) -> str:
        """From where OpenSCAD sees it."""
        return ",".join(f"{value:g}" for value in self.seen)

    def names(self, thing: str) -> bool:
        """Return whether a sentence here names this thing, other than as what is done or met later."""
        sentences = [sentence for act in (*self.do, self.done) for sentence in re.split(r"(?<=[.:;]) ", act)]
        word = re.compile(rf"\b{re.escape(thing)}(?:s|es)?\b", re.IGNORECASE)
        return any(word.search(one) and not re.search(r"\blater\b", one, re.IGNORECASE) for one in sentences)


class Assembly(DataTable):
    """All steps of the assembly, in their order; no step is there twice, none names what only a later one brings."""

    step: Annotated[tuple[Task, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for names in ([step.id for step in self.step], [step.scene for step in self.step]):
            if twice := [name for name in names if names.count(name) > 1]:
                raise ValueError(f"step or picture {twice[0]} is there twice")
        for number, step in enumerate(self.step):
            for early, thing in itertools.product(self.step[:number], step.brings):
                if early.names(thing):
                    raise ValueError(
                        f"step {early.id} names {thing}, which only the later step {step.id} brings"
                    )
        return self

    def text(self, section: str | None = None, level: int = 2) -> str:
        """Write the steps of a section, or all, in Markdown below headings of this level.

        Raises:
            KeyError: there is no such section.
        """
        steps = [step for step in self.step if section in (None, step.section)]
        if not steps:
            raise KeyError(section)
        lines: list[str] = []
        for step in steps:
            lines += [f"{'#' * level} {step.title}", ""]
            lines += [f"![{step.shows}](../../hardware/out/assembly-{step.scene}.png)", ""]
            lines += [*(f"{number}. {act}" for number, act in enumerate(step.do, start=1)), ""]
            lines += [f"**Done when** {step.done}", ""]
        return "\n".join(lines)
