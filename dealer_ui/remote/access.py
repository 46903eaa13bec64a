"""Remote access to past hands: people with a passphrase, and their sessions.

People and passphrases exist only for this purpose and are made at the box's console. They are stored next to the
certificate, in a folder that only the review's own user may read. They are in no record, backup, bundle or log.
"""

import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from dealer_ui.web.passphrases import (
    IDLE_S,
    LONGEST_PASSPHRASE,
    LONGEST_S,
    AccessError,
    check_name,
    check_passphrase,
    normalize,
)
from dealer_ui.web.sessions import Sessions
from dealer_ui.web.tls import write_owner_only
from firmware.access.pins import matches_verifier, verifier
from firmware.table.people import Person, Role

PEOPLE: Final = "people.json"
MAX_SESSIONS: Final = 64


class RemotePeople:
    """The people with access, in a folder of secrets.

    The file is read again whenever it has changed, so that a change takes effect at once.
    """

    def __init__(self, folder: Path) -> None:
        self.path: Final = folder / PEOPLE
        self._one_at_a_time = threading.Lock()
        self._dummy_verifier: Final = verifier(secrets.token_hex(16))
        self._read_at: tuple[int, int, int] | None = None
        self._known: dict[str, dict[str, Any]] = {}

    def names(self) -> list[str]:
        """Return the names of the people with access. Raises AccessError."""
        return sorted(self._load())

    def add(self, name: str, passphrase: str) -> str:
        """Give a person access, or a new passphrase; existing sessions end. Return the name as stored.

        Raises AccessError.
        """
        people = self._load()
        name = check_name(name, people)
        passphrase = check_passphrase(passphrase, name)
        self._store({**people, name: {"id": secrets.token_hex(8), **verifier(passphrase)}})
        return name

    def remove(self, name: str) -> None:
        """Take a person's access away; existing sessions end. Raises AccessError."""
        people = dict(self._load())
        if people.pop(name, None) is None:
            raise AccessError("%(name)s is not listed; see: feltwatch review list", name=name)
        self._store(people)

    def identify(self, name: str, passphrase: str) -> str | None:
        """Return the passphrase's id if it is this person's; None for a wrong one, or a name that is not listed.

        A name that is not listed takes as long as a listed one. Checks run one at a time: each needs 32 MB.
        Raises AccessError.
        """
        stored = self._load().get(" ".join(name.split()))
        with self._one_at_a_time:
            right = matches_verifier(
                stored or self._dummy_verifier, normalize(passphrase)[:LONGEST_PASSPHRASE]
            )
        return str(stored["id"]) if stored and right else None

    def has(self, name: str, passphrase_id: str) -> bool:
        """Return whether this is still a person's passphrase. Raises AccessError."""
        return bool(self._load().get(name, {}).get("id") == passphrase_id)

    def _load(self) -> dict[str, dict[str, Any]]:
        try:
            found = self.path.stat()
            seen = (found.st_ino, found.st_mtime_ns, found.st_size)
            if seen != self._read_at:
                self._known = dict(json.loads(self.path.read_bytes())["people"])
                self._read_at = seen
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AccessError(
                "%(path)s cannot be read: run this as root, or remove the file and list again who may look.",
                path=self.path,
            ) from error
        return self._known

    def _store(self, people: dict[str, dict[str, Any]]) -> None:
        try:
            write_owner_only(self.path, json.dumps({"people": people}).encode())
        except OSError as error:
            raise AccessError(
                "%(path)s cannot be written: %(why)s. Run this as root.", path=self.path, why=error.strerror
            ) from error


class RemoteSessions(Sessions):
    """Sessions in this process's memory, each with the role of an auditor.

    A session ends when it is idle or too old, and when its person gets another passphrase or is removed.
    """

    cookie = "__Host-feltwatch_review"
    """Browsers take a cookie of such a name over TLS only, and from no other host."""

    def __init__(self, people: RemotePeople, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._people = people
        self._began: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def open(self, name: str, passphrase_id: str) -> str:
        """Begin a session after a correct passphrase, and return its token."""
        token = secrets.token_urlsafe(32)
        self.begin({"session": token, "name": name, "role": Role.AUDITOR, "expires_s": IDLE_S})
        self._began[token] = (passphrase_id, self._clock())
        while len(self._began) > MAX_SESSIONS:
            self.end(next(iter(self._began)))
        return token

    def role(self, token: str | None, people: Iterable[Person] = ()) -> Role | None:
        """Return an open session's role, and extend it; None without one. The table's `people` do not count here."""
        began = self._began.get(token or "")
        name, left = self.person_and_seconds(token or "")
        if token is None or began is None:
            return None
        passphrase_id, began_at = began
        is_over = left <= 0 or self._clock() - began_at >= LONGEST_S
        if is_over or not self._people.has(name, passphrase_id):
            self.end(token)
            return None
        self.extend(token)
        return Role.AUDITOR

    def end(self, token: str) -> None:
        """Forget a session."""
        self._began.pop(token, None)
        super().end(token)
