"""A house rule: a sentence, and the options and rules of the documents that it covers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dealer_ui.text.i18n import gettext, ngettext
from firmware.rules import Profile
from firmware.rules.profiles.document import Table
from firmware.rules.profiles.sources import sources


class Rule:
    """A rule in words. `about`: options by path, and rules without an option by the names of the sources' tables."""

    def __init__(self, text: str, *about: str) -> None:
        self.text = text
        self.about = about


Ruled = Rule | Table


class Values:
    """A profile's options by path, and the topics of its document."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.source = sources().get(profile.source)
        self._game = profile.based_on or profile.name
        self._values = {path: value for path, _, value in profile.options()}

    def __getitem__(self, path: str) -> Any:
        return self._values[path]

    def __iter__(self) -> Any:
        return iter(self._values)

    def references(self, about: Iterable[str]) -> str:
        """Return the document's references to any of these."""
        return self.source.references(about, self._game) if self.source else ""

    def speaks_of(self, rule: str) -> bool:
        """Return whether the document mentions a rule."""
        return bool(self.references([rule]))

    @property
    def has_bonuses(self) -> bool:
        """Whether any hand earns a bonus."""
        tables = (self[f"bonus.{row}"] for row in ("front", "middle", "back"))
        return self["bonus.pays"] != "none" and any(tables)

    @property
    def has_naturals(self) -> bool:
        """Whether any hand is a natural."""
        return bool(self["naturals.kinds"])


def points(number: int) -> str:
    """Format a number of points."""
    return ngettext("%(num)s point", "%(num)s points", number)


def listed(parts: Iterable[str]) -> str:
    """Format a list."""
    return gettext(", ").join(parts)
