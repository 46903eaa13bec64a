"""The house's own rule profiles: storing versions, and listing the versions in the record.

A version is a text in the journal's content table and an event that names it. Old versions are never removed; to go
back to one, it is stored again. Storing a version does not put it in force: `set_house` does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from firmware.messages import Message
from firmware.rules import Profile, ProfileError, parse_profile, profile_toml
from firmware.rules.profiles.library import name_trouble
from firmware.rules.profiles.toml_text import LONGEST_TEXT
from firmware.table.command import Command, Context, Reason
from firmware.table.entry import Entry, content_hash
from firmware.table.errors import CommandRefused
from firmware.table.event import EVERY_PHASE, Event, stays
from firmware.table.people import FLOOR
from firmware.table.phase import Phase


class ProfileKept(Event, leads=EVERY_PHASE):
    """A version of a house's own profile was stored, with the reason; this does not put it in force.

    `hash` is the SHA-256 of its text in the journal's content table. A repeated hash means a return to that version.
    """

    type = "profile_kept"
    title = Message("Profile kept")
    name: str
    hash: str
    reason: str


class TrainingBegun(Event, leads=stays({Phase.IDLE}), in_doubt=True):
    """The first event of a training record: its hands are not real games, and no table opens it."""

    type = "training_begun"
    title = Message("Training begun")


class KeepProfile(Command, roles=FLOOR):
    """Store a version of a house's own profile: `text` is TOML, and may extend a packaged profile."""

    do: Literal["keep_profile"] = "keep_profile"
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
    reason: Reason

    def decide(self, context: Context) -> tuple[Event, ...]:
        if not self.reason.strip():
            raise CommandRefused("Say why the profile is changed.")
        name, text = complete_profile(self.text)
        return (ProfileKept(name, content_hash(text.encode()), self.reason.strip()),)


@dataclass(frozen=True)
class Version:
    """A stored version of a house's profile; `wall_ms` is UTC since 1970, `seq` the journal's row."""

    name: str
    hash: str
    reason: str
    actor: str
    wall_ms: int
    seq: int


def profile_of_text(text: str) -> Profile:
    """Parse a profile's text from a client. Raises CommandRefused with the rules core's message."""
    try:
        return parse_profile(text)
    except ProfileError as error:
        raise CommandRefused("The profile cannot be used: %(error)s", error=error) from error


def complete_profile(text: str) -> tuple[str, str]:
    """Return the name of a profile to be kept, and its complete text, which extends no other. Raises CommandRefused."""
    profile = profile_of_text(text)
    if why := name_trouble(profile.name):  # a packaged profile needs not be kept
        raise CommandRefused(why)
    return profile.name, profile_toml(profile)


def versions(entries: Iterable[Entry]) -> Mapping[str, tuple[Version, ...]]:
    """Return the versions of each house profile, the newest first, from journal rows in order."""
    found: dict[str, tuple[Version, ...]] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, ProfileKept):
            version = Version(event.name, event.hash, event.reason, entry.actor, entry.wall_ms, entry.seq)
            found[event.name] = (version, *found.get(event.name, ()))
    return found
