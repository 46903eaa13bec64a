"""The one way to a rule profile: the eight packaged ones, the house's own files and texts, and those of a record.

A profile names every option, or `extends` another one (by name, or by path from its own folder) and names only its
changes. Options of later releases may be missing: then the behaviour of earlier releases applies. An option is replaced
as a whole: a `[bonus] front = {...}` in a house file is the front's whole table. A clause given for a section is
that of each of its options without a clause of its own in the file.

What the house brings is judged here, for every program that asks for it: its name, its values, and what contradicts
itself. A packaged profile's name is reserved for its own rules. What a record holds is read as it is: it was judged
when it was written, by the release of that day, and its hash says which text it is.

The packaged profiles extend `_common.toml`, or one another, only to save writing: each is a game of its own.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from firmware.messages import Message
from firmware.rules.errors import ProfileError, Trouble, UnknownProfileError
from firmware.rules.profiles.contradictions import contradictions
from firmware.rules.profiles.options import short
from firmware.rules.profiles.profile import Profile
from firmware.rules.profiles.reading import ProfileReader
from firmware.rules.profiles.targets import quote, suggestion
from firmware.rules.profiles.toml_text import LONGEST_TEXT, KeyLines, tables_of

_PACKAGED: Final = Path(__file__).resolve().parent
LONGEST_TITLE: Final = 80
"""Maximum length of a title in characters."""
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_MAX_BYTES: Final = 4 * LONGEST_TEXT


@cache
def profile_names() -> tuple[str, ...]:
    """Return the names of the packaged profiles."""
    return tuple(sorted(path.stem for path in _PACKAGED.glob("[!_]*.toml")))


def load_profile(name_or_path: str | Path) -> Profile:
    """Return a packaged profile by its name, or a house's own by the path of its file (ending in .toml).

    Raises UnknownProfileError, or ProfileError with all that is wrong with it.

    >>> load_profile("washington-1-unit").foul.points
    3
    """
    return load_chain(name_or_path)[0]


def load_unjudged(name_or_path: str | Path, options: Mapping[str, object]) -> tuple[Profile, Profile]:
    """Return a profile, and it with options set, also where options contradict each other: to be shown, not played.

    Raises UnknownProfileError, or ProfileError for values that are not allowed.
    """
    written = _load(_find(name_or_path, Path()), (), is_judged=False)[0]
    return written, written.with_options(options)


def load_chain(name_or_path: str | Path) -> tuple[Profile, ...]:
    """Return a profile followed by the one that it extends, and so on. Raises as `load_profile` does."""
    return _load(_find(name_or_path, Path()), ())


def parse_profile(text: str, file: str = "") -> Profile:
    """Return the profile of a house's text: it may extend a packaged one, but no file of this machine.

    Raises ProfileError with all that is wrong with it, and the name `file`.
    """
    return _read(text, file, None, (), is_judged=True)[0]


def recorded_profile(text: bytes, options: Mapping[str, object] | None = None) -> Profile:
    """Return the profile of a record's text, with the options that the record sets.

    Raises ProfileError for a text that is not a profile. Only values are checked: a hand is settled by the rules that
    it was played under, also where a later release would refuse them.
    """
    try:
        written = _read(text.decode(), "", None, ())[0]
    except UnicodeDecodeError as error:
        raise ProfileError(Message("this is no text in UTF-8")) from error
    return replace(written, stated_hash=hashlib.sha256(text).hexdigest()).with_options(options or {})


def with_checked_options(profile: Profile, options: Mapping[str, object]) -> Profile:
    """Return a profile with options set, as `Profile.with_options` does.

    Raises ProfileError for options that are not allowed, or contradict each other.
    """
    changed = profile.with_options(options)
    if found := [Trouble(path, 0, sentence) for path, sentence in contradictions(changed)] if options else ():
        raise ProfileError.of(found)
    return changed


def name_trouble(name: str) -> Message | None:
    """Return why a profile of the house's own cannot have this name; None if it can."""
    if not _NAME.fullmatch(name):
        return Message(
            "A profile's name has 1 to 40 small letters, figures and hyphens, such as friday-game."
        )
    if name in profile_names():
        return Message("%(name)s is a packaged profile; give the house's own another name.", name=name)
    from firmware.names import look_alike, looks_like  # slow to import, and only for a house's own

    other = look_alike(name, profile_names())
    return None if other is None else looks_like(name, other)


def title_trouble(title: str) -> Message | None:
    """Return why a profile cannot have this title; None if it can."""
    from firmware.names import NameRefused, check_name

    try:
        check_name(title, LONGEST_TITLE)
    except NameRefused as error:
        return error.sentence
    return None


def _find(name_or_path: str | Path, folder: Path | None) -> Path:
    """Return the path of a profile. Raises ProfileError."""
    name = str(name_or_path)
    if name.endswith(".toml"):
        if folder is None:
            raise ProfileError(
                Message(
                    "%(file)s is a file, and only a packaged profile can be extended here; put the whole text in, "
                    "as `feltwatch profiles show` prints it",
                    file=quote(name),
                ),
                key="profile.extends",
            )
        path = folder / name
        if not os.path.isfile(path):  # noqa: PTH113 -- a name too long for any file is none; Path raises
            raise UnknownProfileError(Message("there is no file %(file)s", file=str(path)[:300]))
        return path
    names = profile_names()
    if name not in names:
        raise UnknownProfileError(
            Message(
                'there is no profile "%(name)s"; there are %(names)s, or the path of a .toml file%(hint)s',
                name=short(name),
                hint=suggestion(name, names),
                names=", ".join(names),
            ),
            key="profile.extends",
        )
    return _PACKAGED / f"{name}.toml"


def _load(path: Path, above: tuple[Path, ...], *, is_judged: bool = True) -> tuple[Profile, ...]:
    """Return the chain of profiles from a file; `above` are the files that extend it."""
    path = path.resolve()
    if path in above:
        loop = " extends ".join(file.name for file in (*above[above.index(path) :], path))
        raise ProfileError(
            Message("this is a loop: %(loop)s", loop=loop), key="profile.extends", file=path.name
        )
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1).decode()
    except UnicodeDecodeError as error:
        raise ProfileError(Message("this is no text in UTF-8"), file=path.name) from error
    except OSError as error:
        raise ProfileError(
            Message("the file cannot be read: %(error)s", error=error), file=path.name
        ) from error
    if path.parent != _PACKAGED:
        return _read(text, path.name, path.parent, (*above, path), is_judged=is_judged)
    return (replace(_read(text, path.name, path.parent, (*above, path))[0], based_on=""),)


def _read(
    text: str, file: str, folder: Path | None, above: tuple[Path, ...], *, is_judged: bool = False
) -> tuple[Profile, ...]:
    """Return the chain of profiles from a text. `is_judged`: it is the house's. Raises ProfileError."""
    lines: list[KeyLines] = []

    def line_of(key: str) -> int:
        if not lines:
            lines.append(KeyLines(text))  # only a text with troubles is asked where they are
        return lines[0][key]

    bases: tuple[Profile, ...] = ()
    try:
        reader = ProfileReader(tables_of(text), line_of)
        if reader.extends:
            try:
                bases = _load(_find(reader.extends, folder), above)
            except ProfileError as error:
                if error.file:
                    raise
                reader.note("profile.extends", error.message)
        profile = reader.profile(bases[0] if bases else None)
        if is_judged:
            if profile and _is_packaged(profile):
                return (load_profile(profile.name),)
            for key, why in _judge(reader.name, reader.title, profile):
                reader.note(key, why)
        if profile is None or reader.troubles:
            raise ProfileError.of(sorted(reader.troubles, key=_by_line))
    except ProfileError as error:
        raise error.within(file) from error.__cause__
    return profile, *bases


def _by_line(trouble: Trouble) -> tuple[bool, int]:
    return not trouble.line, trouble.line


def _is_packaged(profile: Profile) -> bool:
    """Return whether a profile of a packaged one's name has its rules, too."""
    return profile.name in profile_names() and replace(profile, based_on="") == load_profile(profile.name)


def _judge(name: str, title: str, profile: Profile | None) -> Iterator[tuple[str, Message]]:
    """Yield what a house's own profile must not have, with its key. `profile`: None if its values cannot be used."""
    if name in profile_names():
        yield (
            "profile.name",
            Message(
                "%(name)s is the name of a packaged profile with other rules; give the house's own another name",
                name=name,
            ),
        )
    elif name and (why := name_trouble(name)):
        yield "profile.name", why
    if title and (why := title_trouble(title)):
        yield "profile.title", why
    if profile is not None:
        yield from contradictions(profile)
