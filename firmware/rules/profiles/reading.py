"""A profile from the tables of its text. All that is wrong with them is found at once."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from firmware.messages import Message, Text, message_of
from firmware.rules.errors import ProfileError, Trouble
from firmware.rules.profiles.options import short
from firmware.rules.profiles.profile import RANKED, Profile
from firmware.rules.profiles.sections import FORMER_READINGS, OPTIONS, SECTIONS, check_option, without_jokers
from firmware.rules.profiles.targets import quote, suggestion

_TEXTS: Final = ("name", "title", "source", "based_on", "extends")
_LISTS: Final = ("notes", "weaker_pays_more")
_ABOUT: Final = (*_TEXTS, *_LISTS)
_MAX_TROUBLES: Final = 100
_LISTED: Final = 6
_ABOUT_TABLES: Final = ("profile", "clauses", "readings")


class ProfileReader:
    """Reads one profile's tables; `troubles` are what is wrong with them so far. `line_of` finds a key's line."""

    def __init__(self, tables: Mapping[str, Any], line_of: Callable[[str], int]) -> None:
        self._tables = tables
        self._line_of = line_of
        self.troubles: list[Trouble] = []
        self._named: set[str] = set()
        self._about = self._read_about()
        self.extends: str = self._about.get("extends", "")
        """The profile that this one extends; empty for one that stands alone."""
        self.name: str = self._about.get("name", "")
        self.title: str = self._about.get("title", self.name)

    def note(self, key: str, message: Text, *, at: str = "", is_missing: bool = False) -> None:
        """Add to the troubles; `at`: its place, if the key is of more. Raises ProfileError once there are too many."""
        line = 0 if is_missing else self._line_of(at or key)
        self.troubles.append(Trouble(short(key), line, message_of(message)))
        if len(self.troubles) == _MAX_TROUBLES:
            raise ProfileError.of(self.troubles)

    def _refuse(self, name: str, value: object, allowed: Message, key: str = "") -> None:
        self.note(
            key or name,
            Message(
                "%(option)s = %(value)s will not do: allowed: %(allowed)s",
                option=short(name),
                value=quote(value),
                allowed=allowed,
            ),
        )

    def _read_about(self) -> dict[str, Any]:
        """Return what is valid of the [profile] table."""
        found = {}
        about = self._tables.get("profile")
        if not isinstance(about, dict):
            self.note("profile", Message('there is no [profile] table with a name = "..."'))
            return {}
        for key, value in about.items():
            path = f"profile.{key}"
            if key not in _ABOUT:
                self.note(path, _unknown(path, suggestion(key, _ABOUT)))
            elif key in _TEXTS and not isinstance(value, str):
                self._refuse(path, value, Message("a text"))
            elif key in _LISTS and not _are_texts(value):
                self._refuse(path, value, Message("an array of texts"))
            elif key == "weaker_pays_more" and not set(value) <= set(RANKED):
                self._refuse(path, value, Message(", ".join(RANKED)))
            else:
                found[key] = value
        if not about.get("name"):
            self.note("profile.name", Message("profile.name is missing"), is_missing=True)
        return found

    def profile(self, base: Profile | None) -> Profile | None:
        """Return the profile; None if there are troubles."""
        values = self._options()
        if not self.extends and (
            missing := [path for path in OPTIONS if path not in self._named and path not in FORMER_READINGS]
        ):
            self._miss(missing)
        clauses = self._texts("clauses", (*OPTIONS, *SECTIONS))
        readings = self._texts("readings", OPTIONS)
        if self.troubles:
            return None
        try:
            return self._build(values, clauses, readings, base)
        except ProfileError as error:
            self.note(error.key, error.message)
            return None

    def _miss(self, missing: list[str]) -> None:
        self.note(
            missing[0],
            Message(
                "missing: %(options)s; name every option, or under [profile] the game that is nearest: %(extends)s",
                extends='extends = "traditional"',
                options=", ".join(missing) if len(missing) <= _LISTED else f"{', '.join(missing[:_LISTED])}…",
            ),
            is_missing=True,
        )

    def _build(
        self,
        values: Mapping[str, object],
        given: Mapping[str, str],
        readings: Mapping[str, str],
        base: Profile | None,
    ) -> Profile:
        about = self._about
        sections = {}
        for section, kind in SECTIONS.items():
            before = vars(getattr(base, section)) if base else {}
            named = {
                path.partition(".")[2]: value
                for path, value in values.items()
                if path.startswith(f"{section}.")
            }
            sections[section] = kind(**{**before, **named})
        # The base's clauses and statements do not apply to a value that this file changes.
        clauses = {path: text for path, text in (base.clauses if base else ()) if path not in values}
        for path in OPTIONS:
            if (text := given.get(path, given.get(path.partition(".")[0]))) is not None:
                clauses[path] = text
        kept = tuple(path for path in (base.weaker_pays_more if base else ()) if path not in values)
        return Profile(
            name=self.name,
            title=self.title,
            source=about.get("source", base.source if base else ""),
            based_on=about.get("based_on", base.name if base else ""),
            notes=tuple(about.get("notes", base.notes if base else ())),
            weaker_pays_more=tuple(about.get("weaker_pays_more", kept)),
            clauses=tuple((path, clauses[path]) for path in OPTIONS if path in clauses),
            readings=tuple({**dict(base.readings if base else ()), **readings}.items()),
            **sections,
        )

    def _options(self) -> dict[str, object]:
        """Return the valid options, by path; `_named` are all that are there."""
        values: dict[str, object] = {}
        for section, table in self._tables.items():
            if section in _ABOUT_TABLES:
                continue
            if section not in SECTIONS:
                hint = suggestion(section, SECTIONS)
                said = without_jokers(section) or Message(
                    "[%(section)s] is no section%(hint)s", section=short(section), hint=hint
                )
                self.note(section, said)
            elif not isinstance(table, dict):
                self._refuse(section, table, Message("a table of options"))
            else:
                for name, value in table.items():
                    path = f"{section}.{name}"
                    self._named.add(path)
                    try:
                        values[path] = check_option(path, value)
                    except ProfileError as error:
                        for key, _, message in error.troubles:
                            self.note(path, message, at=key)
        return values

    def _texts(self, name: str, paths: Collection[str]) -> dict[str, str]:
        """Return what is valid of a table of texts by option path."""
        texts = self._tables.get(name, {})
        if not isinstance(texts, dict):
            self._refuse(name, texts, Message("a table of texts by option"))
            return {}
        found = {}
        for path, text in texts.items():
            key = f"{name}.{path}"
            if path not in paths:
                hint = suggestion(path, OPTIONS)
                said = Message(
                    '%(table)s: "%(option)s" is no option%(hint)s', table=name, option=short(path), hint=hint
                )
                self.note(key, said)
            elif not isinstance(text, str):
                self._refuse(f'{name}: "{path}"', text, Message("a text"), key)
            else:
                found[path] = text
        return found


def _unknown(path: str, hint: Text) -> Message:
    return Message("%(option)s is unknown%(hint)s", option=short(path), hint=hint)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
