"""Reads rule profiles from a USB stick, as root (systemd/units/feltwatch-stick.service).

A stick is untrusted: it is mounted read-only, no link on it is followed, and only plain files of a profile's length
whose names end in .toml are read, at its top. What they say is judged by who is shown them.
"""

import logging
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from firmware.messages import Message
from firmware.record.journal.disk import NotPlain, read_plain
from firmware.record.stick_request import MAX_PROFILES, StickProfile, write_profiles
from firmware.rules.profiles.toml_text import LONGEST_TEXT
from firmware.runtime.sticks.disks import StickWriteError
from firmware.runtime.sticks.write import OURS, Find, Teller, wait_for_stick

log = logging.getLogger(__name__)

UNREADABLE: Final = Message("The stick cannot be read. Use one with FAT, exFAT or ext4.")
NO_PROFILE: Final = Message("There is no file on the stick whose name ends in .toml.")
_MAX_ENTRIES: Final = 10_000
_LONGEST_NAME: Final = 80


def fetch(job: str, find: Find, teller: Teller, progress: Path, wait_s: float) -> bool:
    """Write the profiles on the stick, once it is in, to a file next to `progress`; return whether there are any."""
    try:
        stick = wait_for_stick(find, teller, wait_s)
        try:
            with stick.mounted(write=False) as folder:
                found = list(islice(_profiles(folder), MAX_PROFILES))
        except (StickWriteError, OSError) as error:
            log.warning("the stick cannot be read: %s", error)
            raise StickWriteError(UNREADABLE) from error
        if not found:
            raise StickWriteError(NO_PROFILE)
        write_profiles(progress, job, found)
    except StickWriteError as error:
        teller.say(step="failed", refusal=error.sentence.to_json())
        return False
    except Exception:
        teller.say(step="failed", refusal=OURS.to_json())
        raise
    log.info("%s profiles are read from the stick", len(found))
    teller.say(step="done")
    return True


def _profiles(at: Path) -> Iterator[StickProfile]:
    """Yield the profiles at the top of a stick, by name. Raises OSError if it fails."""
    folder = os.open(at, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with os.scandir(folder) as entries:
            files = (entry for entry in islice(entries, _MAX_ENTRIES) if entry.is_file(follow_symlinks=False))
            names = sorted(file.name for file in files)
        for name in names:
            if name.lower().endswith(".toml") and not name.startswith("."):
                try:
                    data = read_plain(name, 4 * LONGEST_TEXT, folder)
                except NotPlain as error:
                    log.warning("%r is left out: %s", name, error)
                    continue
                yield StickProfile(_printable(name), _text(data))
    finally:
        os.close(folder)


def _printable(name: str) -> str:
    """Return a file's name without what no page should show."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    return plain if len(plain) <= _LONGEST_NAME else f"{plain[:_LONGEST_NAME]}…"


def _text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return text if len(text) <= LONGEST_TEXT else None
