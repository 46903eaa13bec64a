"""The assembly, step by step: `assembly.toml`, each step with its picture; its page. UNTESTED on hardware."""

from __future__ import annotations

import itertools
import re
import tomllib
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hardware.make.errors import AssemblyError
from hardware.make.mech import SCENES

Text = Annotated[str, Field(min_length=1)]


class Step(BaseModel):
    """One step: the `section` of the book's page that it stands in, its picture and what that `shows`, what to `do`.

    `done` says how one sees that it is complete; `brings` names what is there from this step on.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Text
    section: Text
    title: Text
    scene: Text
    shows: Text
    do: Annotated[tuple[Text, ...], Field(min_length=1)]
    done: Text
    brings: tuple[Text, ...] = ()

    def names(self, thing: str) -> bool:
        """Tell whether a sentence here names this thing, other than as what is done or met later."""
        said = [sentence for act in (*self.do, self.done) for sentence in re.split(r"(?<=[.:;]) ", act)]
        word = re.compile(rf"\b{re.escape(thing)}(?:s|es)?\b", re.IGNORECASE)
        return any(word.search(one) and not re.search(r"\blater\b", one, re.IGNORECASE) for one in said)


class Assembly(BaseModel):
    """All steps, in their order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: Annotated[tuple[Step, ...], Field(min_length=1)]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the steps. Raises AssemblyError: a step without a picture, a picture without a step, a step twice,
        a step that names what only a later one brings.
        """
        try:
            found = cls.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
            raise AssemblyError(f"{path.name} cannot be used: {error}") from error
        ids = [step.id for step in found.step]
        if twice := [name for name in ids if ids.count(name) > 1]:
            raise AssemblyError(f"step {twice[0]} is there twice")
        if unknown := [step for step in found.step if step.scene not in SCENES]:
            raise AssemblyError(f"step {unknown[0].id} shows {unknown[0].scene}, which is no picture")
        if unseen := sorted(set(SCENES) - {step.scene for step in found.step}):
            raise AssemblyError(f"no step shows the picture {unseen[0]}")
        for number, step in enumerate(found.step):
            for early, thing in itertools.product(found.step[:number], step.brings):
                if early.names(thing):
                    raise AssemblyError(
                        f"step {early.id} names {thing}, which only the later step {step.id} brings"
                    )
        return found

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
            lines += [
                f"{'#' * level} {step.title}",
                "",
                f"![{step.shows}](../../hardware/out/assembly-{step.scene}.png)",
                "",
                *(f"{number}. {act}" for number, act in enumerate(step.do, start=1)),
                "",
                f"**Done when** {step.done}",
                "",
            ]
        return "\n".join(lines)


def assembly_page(assembly: Assembly) -> str:
    """Write all steps in Markdown."""
    head = (
        "# The assembly, step by step\n\nMade by `make hardware` from `hardware/assembly.toml` and "
        "`hardware/mech`. UNTESTED "
        "on hardware: nobody\nhas followed these steps.\n\n"
    )
    return head + assembly.text().rstrip() + "\n"
