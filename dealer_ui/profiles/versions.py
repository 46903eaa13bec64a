"""The available rule profiles: packaged ones, the house's own with all their versions, and the one in force."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from dealer_ui.text.hand_words import natural_words
from dealer_ui.text.rule_words import option_says, rule_text, target_words
from dealer_ui.text.words import money
from firmware.messages import Message
from firmware.record.journal.journal import JournalReader
from firmware.rules import Profile, RulesError, load_profile, profile_names, recorded_profile
from firmware.rules.profiles.document import SECTION_TITLES
from firmware.rules.profiles.natural_kinds import NaturalKinds
from firmware.rules.profiles.options import Bonuses, Kind, Schedule
from firmware.table.errors import JournalError
from firmware.table.events import HouseSet
from firmware.table.phase import OPEN
from firmware.table.state import State
from firmware.table.topics.profiles import Version, versions

SHORT: Final = 10
"""Letters of a version's hash that are shown and that an address names it by."""


@dataclass(frozen=True)
class ProfileVersion:
    """One version of a profile. `versions` are the house's, the newest first."""

    name: str
    profile: Profile
    packaged: bool
    hash: str
    versions: tuple[Version, ...] = ()
    in_force: bool = False

    @property
    def title(self) -> str:
        """The title shown while it is played."""
        return self.profile.title

    @property
    def short(self) -> str:
        """The version's short form, for addresses."""
        return self.hash[:SHORT]

    @property
    def is_newest(self) -> bool:
        """Whether it is the version stored last."""
        return not self.versions or self.versions[0].hash == self.hash


@dataclass(frozen=True)
class InForce:
    """The profile that the next hand opens with. `since_ms` is Unix time, `by` the journal's actor; both empty if
    configured.

    `options` are the table's own settings on top of the profile. `open_hand` is the title of the open hand's profile,
    if it is another one.
    """

    name: str
    hash: str
    rules: Profile
    since_ms: int = 0
    by: str = ""
    reason: str = ""
    options: tuple[tuple[str, str], ...] = ()
    open_hand: str = ""


class Shelf:
    """All profiles in the record's current state. Raises JournalError if it cannot be read."""

    def __init__(self, reader: JournalReader, state: State) -> None:
        self._reader = reader
        self._state = state
        self._rows = reader.about_profiles()
        self._kept = versions(self._rows)
        self.in_force = self._find_in_force()

    def all(self) -> tuple[ProfileVersion, ...]:
        """Return every profile in its newest version: the house's own, then the packaged ones."""
        house = [found for name in self._kept if (found := self.find(name)) is not None]
        packaged = [found for name in profile_names() if (found := self.find(name)) is not None]
        force = self.in_force
        if force is not None and force.hash not in {one.hash for one in (*house, *packaged)}:
            # from the configuration's file, or an earlier release's text
            found = self.find(force.name, force.hash)
            house = [*([found] if found else []), *house]
        return (*house, *packaged)

    def find(self, name: str, version: str = "") -> ProfileVersion | None:
        """Return a profile, in its newest version or the one whose hash begins so; None if there is none."""
        force = self.in_force
        if name in profile_names():
            profile, digest = read_packaged(name)
            if digest.startswith(version):
                return ProfileVersion(
                    name, profile, True, digest, (), force is not None and force.hash == digest
                )
        kept = self._kept.get(name, ())
        hashes = [*(one.hash for one in kept), *([force.hash] if force and force.name == name else [])]
        digest = next((found for found in hashes if found.startswith(version)), "")
        profile_now = self._profile(digest) if digest else None
        if profile_now is None:
            return None
        return ProfileVersion(
            name, profile_now, False, digest, kept, force is not None and force.hash == digest
        )

    def _profile(self, digest: str) -> Profile | None:
        text = self._reader.content(digest)
        try:
            return recorded_profile(text) if text is not None else None
        except RulesError as error:
            raise JournalError(
                Message("A profile in the record cannot be used: %(error)s.", error=error)
            ) from error

    def _find_in_force(self) -> InForce | None:
        house, opened = self._state.house, self._state.opened
        name, digest = house.profile, house.profile_hash
        options: Mapping[str, Any] = house.options
        if not digest and opened is not None:
            name, digest, options = opened.profile, opened.profile_hash, opened.options
        written = self._profile(digest) if digest else None
        if written is None:
            return None
        try:
            rules = written.with_options(dict(options))
        except RulesError as error:
            raise JournalError(
                Message("The table's options cannot be used: %(error)s.", error=error)
            ) from error
        statement = self._stored(digest)
        return InForce(
            name,
            digest,
            rules,
            options=tuple((one.title, one.one) for one in compare_profiles(rules, written) if one.differs),
            open_hand=self._open_hand(digest, dict(options)),
            **statement,
        )

    def _stored(self, digest: str) -> dict[str, Any]:
        """Return when, by whom and why another profile was last put in force."""
        for entry in reversed(self._rows):
            event = entry.event
            if isinstance(event, HouseSet) and event.profile_hash is not None:
                if event.profile_hash != digest:
                    return {}
                return {"since_ms": entry.wall_ms, "by": entry.actor, "reason": event.reason}
        return {}

    def _open_hand(self, digest: str, options: Mapping[str, Any]) -> str:
        opened = self._state.opened
        if opened is None or self._state.phase not in OPEN:
            return ""
        if (opened.profile_hash, dict(opened.options)) == (digest, options):
            return ""
        plays = self._profile(opened.profile_hash)
        return plays.title if plays else opened.profile


@cache
def read_packaged(name: str) -> tuple[Profile, str]:
    """Return a packaged profile and the hash of its text."""
    profile = load_profile(name)
    return profile, profile.hash


# ---- two side by side ----


@dataclass(frozen=True)
class OptionComparison:
    """An option in two profiles: its meaning in each, line by line if it is a table."""

    path: str
    title: str
    section: str
    one: str
    other: str
    differs: bool
    lines: tuple[tuple[str, str, str], ...] = ()


def compare_profiles(one: Profile, other: Profile) -> tuple[OptionComparison, ...]:
    """Return every option of two profiles, the differences first."""
    theirs = {path: value for path, _, value in other.options()}
    found = [_compare(path, kind, value, theirs[path]) for path, kind, value in one.options()]
    return tuple(sorted(found, key=lambda option: not option.differs))


def _compare(path: str, kind: Kind, one: Any, other: Any) -> OptionComparison:
    return OptionComparison(
        path,
        rule_text(kind.title),
        rule_text(SECTION_TITLES[path.partition(".")[0]]),
        option_says(kind, one),
        option_says(kind, other),
        one != other,
        tuple(_lines(kind, one, other)) if one != other else (),
    )


def _lines(kind: Kind, one: Any, other: Any) -> Iterator[tuple[str, str, str]]:
    match kind:
        case Bonuses():
            yield from _points(
                *(
                    {target_words(hand, front=kind.front): points for hand, points in pairs}
                    for pairs in (one, other)
                )
            )
        case NaturalKinds():
            yield from _points(
                *({natural_words(entry): entry.value for entry in entries} for entries in (one, other))
            )
        case Schedule():
            fees = [{rate.option: rate for rate in rates} for rates in (one, other)]
            for number in dict.fromkeys((*fees[0], *fees[1])):
                cells = [
                    f"{money(rate.fee)} ({money(rate.limit)})" if rate else "–"
                    for rate in (fees[0].get(number), fees[1].get(number))
                ]
                yield str(number), cells[0], cells[1]


def _points(ours: Mapping[str, int], theirs: Mapping[str, int]) -> Iterator[tuple[str, str, str]]:
    for words in dict.fromkeys((*ours, *theirs)):
        yield words, str(ours.get(words, "–")), str(theirs.get(words, "–"))
