"""How a table comes to be (`build.toml`): where parts are ordered, and steps, each needing what an earlier one made."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hardware.make.bom import Bom
from hardware.make.errors import BuildError

Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Shop(_Strict):
    """A kind of shop, how many `weeks` before the building its list is sent, and the parts (ids of bom.toml) on it."""

    id: Text
    name: Text
    weeks: Annotated[int, Field(ge=0)]
    parts: tuple[Text, ...] = Field(min_length=1)


class Step(_Strict):
    """One step: `page` is a page of the book, with a heading; `uses` are parts of bom.toml."""

    title: Text
    page: Text
    makes: tuple[Text, ...] = Field(min_length=1)
    needs: tuple[Text, ...] = ()
    uses: tuple[Text, ...] = ()


class Build(_Strict):
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
    def load(cls, path: Path, bom: Bom) -> Build:
        """Read build.toml, and hold it against the parts list.

        Raises:
            BuildError: where a step needs what no earlier one makes, or parts and lists do not agree.
        """
        try:
            build = cls.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except (ValidationError, tomllib.TOMLDecodeError) as error:
            raise BuildError(f"{path.name}: {error}") from error
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
                raise BuildError(f"{path.name}: {', '.join(sorted(wrong))} {words}")
        return build


def order_lists(build: Build, bom: Bom) -> str:
    """Return one list for each kind of shop, in Markdown: pieces, recommended choice, price. Sums leave options out."""
    parts = {part.id: part for part in bom.part}
    said: list[str] = []
    for shop in sorted(build.shop, key=lambda one: -one.weeks):
        wanted = [parts[name] for name in shop.parts]
        total = sum(part.quantity * part.choice.price for part in wanted if not part.optional)
        said += [f"### {shop.name}", ""]
        said += [f"Order {shop.weeks} week{'s' if shop.weeks > 1 else ''} before the building.", ""]
        said += [f"| pieces | part | choice | about, {bom.currency} |", "|--:|---|---|--:|"]
        for part in wanted:
            name = f"{part.name} (optional)" if part.optional else part.name
            said.append(
                f"| {part.quantity:g} | {name} | {part.choice.name} | {part.quantity * part.choice.price:.2f} |"
            )
        said += [f"|  | together, without what is optional |  | {total:.2f} |", ""]
    return "\n".join(said)


def parts_used(build: Build, bom: Bom, page: str) -> str:
    """Return the parts that the steps on a page of the book use, in Markdown: how many, their names and choices.

    Raises:
        KeyError: no step is on that page.
    """
    used = [part for step in build.step if step.page == page for part in step.uses]
    if not any(step.page == page for step in build.step):
        raise KeyError(page)
    parts = {part.id: part for part in bom.part}
    lines = [
        f"- {parts[name].quantity:g} × {parts[name].name}{' (optional)' if parts[name].optional else ''}"
        for name in dict.fromkeys(used)
    ]
    return "\n".join(["From the parts list:", "", *lines])
