"""Rule profiles as TOML: the eight packaged ones, and the house's own files.

A profile names every option, or `extends` another one (by name, or by path from its own folder) and names only its
changes. Options of later releases may be missing: then the behaviour of earlier releases applies. An option is replaced
as a whole: a `[bonus] front = {...}` in a house file is the front's whole table. A clause given for a section is
that of each of its options without a clause of its own in the file.

The packaged profiles extend `_common.toml`, or one another, only to save writing: each is a game of its own.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from firmware.rules.errors import ProfileError, UnknownProfileError
from firmware.rules.profiles.options import quote, text_toml
from firmware.rules.profiles.profile import Profile
from firmware.rules.profiles.sections import FORMER_READINGS, OPTIONS, SECTIONS, check_option, suggestion

_PACKAGED = Path(__file__).resolve().parent

_ABOUT = ("name", "title", "source", "based_on", "extends", "notes")
_ABOUT_TABLES = ("profile", "clauses", "readings")


def profile_names() -> tuple[str, ...]:
    """Return the names of the packaged profiles."""
    return tuple(sorted(path.stem for path in _PACKAGED.glob("[!_]*.toml")))


def load_profile(name_or_path: str | Path) -> Profile:
    """Return a packaged profile by its name, or a house's own by the path of its file (ending in .toml).

    Raises UnknownProfileError or ProfileError.

    >>> load_profile("washington-1-unit").foul.points
    3
    """
    return load_chain(name_or_path)[0]


def load_chain(name_or_path: str | Path) -> tuple[Profile, ...]:
    """Return a profile followed by the one that it extends, and so on. Raises as `load_profile` does."""
    return _load(_find(name_or_path, Path()), ())


def parse_profile(text: str, file: str = "profile", folder: Path | None = None) -> Profile:
    """Return the profile of a TOML text; `extends` resolves files relative to `folder`.

    Raises ProfileError with the name `file`.
    """
    return _parse(text, file, folder or Path(), ())[0]


LONGEST_TEXT = 60_000
"""Maximum length of an uploaded profile; the packaged ones have 8,000 characters."""


def parse_sent_profile(text: str) -> Profile:
    """Return an uploaded profile: it may extend a packaged one, but no file of this machine.

    Raises ProfileError.
    """
    if len(text) > LONGEST_TEXT:
        raise ProfileError(f"this is too long for a profile: {len(text)} letters, allowed are {LONGEST_TEXT}")
    return _parse(text, "", None, ())[0]


def _find(name_or_path: str | Path, folder: Path | None) -> Path:
    """Return the path of a profile. Raises UnknownProfileError."""
    name = str(name_or_path)
    if name.endswith(".toml"):
        if folder is None:
            raise ProfileError(
                f"{quote(name)} is a file, and only a packaged profile can be extended here; "
                "put the whole text in, as `feltwatch profiles show` prints it",
                key="profile.extends",
            )
        path = folder / name
        if not os.path.isfile(path):  # noqa: PTH113 -- a name too long for any file is none; Path raises
            raise UnknownProfileError(f"there is no file {str(path)[:300]}")
        return path
    names = profile_names()
    if name not in names:
        hint = suggestion(name, names)
        raise UnknownProfileError(
            f'there is no profile "{name}"{hint}; there are {", ".join(names)}, or the path of a .toml file'
        )
    return _PACKAGED / f"{name}.toml"


def _load(path: Path, above: tuple[Path, ...]) -> tuple[Profile, ...]:
    """Return the chain of profiles from a file; `above` are the files that extend it."""
    path = path.resolve()
    if path in above:
        loop = " extends ".join(file.name for file in (*above[above.index(path) :], path))
        raise ProfileError(f"this is a loop: {loop}", key="profile.extends", file=path.name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"the file cannot be read: {error}", file=path.name) from error
    chain = _parse(text, path.name, path.parent, (*above, path))
    return (replace(chain[0], based_on=""),) if path.parent == _PACKAGED else chain


def _parse(text: str, file: str, folder: Path | None, above: tuple[Path, ...]) -> tuple[Profile, ...]:
    try:
        tables = _tables(text)
    except ProfileError as error:
        raise error.within(file) from None
    except RecursionError:
        raise ProfileError(
            "this is no profile: its tables lie in each other without end", file=file
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"this is not TOML: {error}", file=file) from error
    except ValueError:  # Python refuses very long numbers, because reading them takes too long
        raise ProfileError("a number in it has thousands of digits", file=file) from None
    try:
        about = _about(tables)
        bases: tuple[Profile, ...] = ()
        if extends := about.get("extends"):
            bases = _load(_find(extends, folder), above)
        return (_build(tables, about, bases[0] if bases else None), *bases)
    except ProfileError as error:
        raise error.within(file) from error.__cause__


_QUOTED = re.compile(r'"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'')
_MOST_DOTS = 20


@lru_cache(maxsize=32)
def _tables(text: str) -> Mapping[str, Any]:
    """Parse a TOML text: the same texts are asked for again and again. Raises ValueError, RecursionError.

    A key with thousands of parts is refused first: tomllib takes minutes for it.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _MOST_DOTS and _QUOTED.sub("", line).partition("#")[0].count(".") > _MOST_DOTS:
            raise ProfileError(f"line {number} has a key of more than {_MOST_DOTS} parts")
    return tomllib.loads(text)


def _about(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked [profile] table."""
    about = tables.get("profile")
    if not isinstance(about, dict):
        raise ProfileError('there is no [profile] table with a name = "..."', key="profile")
    for key, value in about.items():
        if key not in _ABOUT:
            raise ProfileError(f"profile.{key} is unknown{suggestion(key, _ABOUT)}", key=f"profile.{key}")
        is_texts = isinstance(value, list) and all(isinstance(text, str) for text in value)
        if not (is_texts if key == "notes" else isinstance(value, str)):
            wanted = "an array of texts" if key == "notes" else "a text"
            raise ProfileError(
                f"profile.{key} = {quote(value)} will not do; allowed: {wanted}", key=f"profile.{key}"
            )
    if not about.get("name"):
        raise ProfileError("profile.name is missing", key="profile.name")
    return about


def _build(tables: Mapping[str, Any], about: Mapping[str, Any], base: Profile | None) -> Profile:
    values = _options(tables)
    if base is None:
        missing = [path for path in OPTIONS if path not in values and path not in FORMER_READINGS]
        if missing:
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            raise ProfileError(
                f"{missing[0]} is missing{more}: name every option, or extend another profile", key=missing[0]
            )
    sections = {}
    for section, kind in SECTIONS.items():
        before = vars(getattr(base, section)) if base else {}
        named = {
            path.partition(".")[2]: value for path, value in values.items() if path.startswith(f"{section}.")
        }
        sections[section] = kind(**{**before, **named})
    # The base's clause does not apply to a value that this file changes.
    clauses = {path: text for path, text in (base.clauses if base else ()) if path not in values}
    given = _texts(tables, "clauses", (*OPTIONS, *SECTIONS))
    for path in OPTIONS:
        if (text := given.get(path, given.get(path.partition(".")[0]))) is not None:
            clauses[path] = text
    readings = {**dict(base.readings if base else ()), **_texts(tables, "readings", OPTIONS)}
    return Profile(
        name=about["name"],
        title=about.get("title", about["name"]),
        source=about.get("source", base.source if base else ""),
        based_on=about.get("based_on", base.name if base else ""),
        notes=tuple(about.get("notes", base.notes if base else ())),
        clauses=tuple((path, clauses[path]) for path in OPTIONS if path in clauses),
        readings=tuple(readings.items()),
        **sections,
    )


def _options(tables: Mapping[str, Any]) -> dict[str, object]:
    """Return the checked options of a file, by path."""
    values: dict[str, object] = {}
    for section, table in tables.items():
        if section in _ABOUT_TABLES:
            continue
        if section not in SECTIONS:
            hint = suggestion(section, SECTIONS)
            raise ProfileError(f"[{section}] is no section{hint}", key=section)
        if not isinstance(table, dict):
            raise ProfileError(
                f"{section} = {quote(table)} will not do; allowed: a table of options", key=section
            )
        for name, value in table.items():
            path = f"{section}.{name}"
            values[path] = check_option(path, value)
    return values


def _texts(tables: Mapping[str, Any], name: str, paths: Collection[str]) -> dict[str, str]:
    """Return a table of texts by option path."""
    texts = tables.get(name, {})
    if not isinstance(texts, dict):
        raise ProfileError(
            f"{name} = {quote(texts)} will not do; allowed: a table of texts by option", key=name
        )
    for path, text in texts.items():
        if path not in paths:
            raise ProfileError(
                f'{name}: "{path}" is no option{suggestion(path, OPTIONS)}', key=f"{name}.{path}"
            )
        if not isinstance(text, str):
            raise ProfileError(
                f'{name}: "{path}" = {quote(text)} will not do; allowed: a text', key=f"{name}.{path}"
            )
    return texts


def profile_toml(profile: Profile) -> str:
    """Return a profile as TOML without `extends`: `parse_profile` gives the same profile back."""
    about = {"name": profile.name, "title": profile.title, "source": profile.source}
    if profile.based_on:
        about["based_on"] = profile.based_on
    lines = ["[profile]", *(f"{key} = {text_toml(text)}" for key, text in about.items())]
    if profile.notes:
        lines += ["notes = [", *(f"    {text_toml(note)}," for note in profile.notes), "]"]
    section = ""
    for path, kind, value in profile.options():
        table, _, name = path.partition(".")
        if table != section:
            section = table
            lines += ["", f"[{section}]"]
        lines.append(f"{name} = {kind.toml(value)}")
    for title, texts in (("clauses", profile.clauses), ("readings", profile.readings)):
        if texts:
            lines += ["", f"[{title}]", *(f"{text_toml(path)} = {text_toml(text)}" for path, text in texts)]
    return "\n".join(lines) + "\n"
