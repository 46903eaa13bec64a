"""Remote access to past hands: people with a passphrase, their sessions, rate limits.

People and passphrases exist only for this purpose and are made at the box's console. They are stored next to the
certificate, in a folder that only the review's own user may read. They are in no record, backup, bundle or log.
"""

from __future__ import annotations

import ipaddress
import json
import os
import secrets
import threading
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from dealer_ui.web.errors import PageError
from dealer_ui.web.sessions import Sessions
from firmware.access.pins import verified, verifier
from firmware.messages import MessageError
from firmware.names import NameRefused, new_name
from firmware.record.journal.disk import write_private
from firmware.table.people import Person, Role

PEOPLE: Final = "people.json"
LEAST: Final = 12
"""Letters of a passphrase; at the pace that is let through even a poor one stands for years."""
MOST: Final = 200
IDLE_S: Final = 15 * 60.0
"""Seconds without a request after which a session is over."""
LONGEST_S: Final = 10 * 3600.0
"""Seconds after which it is over whatever is asked: a shift."""
MOST_SESSIONS: Final = 64
NETWORK: Final = 4
"""So many times an address's share all of one IPv6 network (/64) have together: a machine has as many addresses as it
likes, and must not take its neighbours' share with one of them."""
MOST_KNOWN: Final = 64
"""Addresses from which somebody has logged in: who tries there waits for nobody else's tries."""
MOST_ADDRESSES: Final = 4096
"""Addresses whose requests are counted each by itself; who is forgotten for more still counts among all."""


class AccessError(PageError, MessageError, ValueError):
    """An invalid name or passphrase, or a list of people that cannot be read or written."""


def private(path: Path, data: bytes, *, for_the_service: bool = True) -> None:
    """Write a file that only its owner may read, durably, in one step. Raises OSError.

    A file that root writes `for_the_service` belongs to the folder's owner, the service's user; else to root.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    owner = path.parent.stat() if for_the_service and os.geteuid() == 0 else None
    write_private(path, data, owner=owner and (owner.st_uid, owner.st_gid))


class LanPeople:
    """The people with access, in a folder of secrets. Read again when the file has changed: changes take effect at
    once.
    """

    def __init__(self, folder: Path) -> None:
        self.path: Final = folder / PEOPLE
        self._one_at_a_time = threading.Lock()
        self._nobody: Final = verifier(secrets.token_hex(16))
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
        name = checked_name(name, people)
        passphrase = checked_passphrase(passphrase, name)
        self._store({**people, name: {"id": secrets.token_hex(8), **verifier(passphrase)}})
        return name

    def remove(self, name: str) -> None:
        """Take a person's access away; existing sessions end. Raises AccessError."""
        people = dict(self._load())
        if people.pop(name, None) is None:
            raise AccessError("%(name)s is not listed; see: feltwatch review list", name=name)
        self._store(people)

    def matches(self, name: str, passphrase: str) -> str | None:
        """Return the passphrase's id if it is this person's; None for a wrong one, or a name that is not listed.

        Both cases take the same time. Checks run one at a time: each needs 32 MB. Raises AccessError.
        """
        stored = self._load().get(" ".join(name.split()))
        with self._one_at_a_time:
            right = verified(stored or self._nobody, normal(passphrase)[:MOST])
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
                "%(path)s cannot be read: run this as root, or take it away and list again who may look.",
                path=self.path,
            ) from error
        return self._known

    def _store(self, people: dict[str, dict[str, Any]]) -> None:
        try:
            private(self.path, json.dumps({"people": people}).encode())
        except OSError as error:
            raise AccessError(
                "%(path)s cannot be written: %(why)s. Run this as root.", path=self.path, why=error.strerror
            ) from error


def checked_name(name: str, listed: Iterable[str]) -> str:
    """Return a new name in its stored form, or the listed name that it is. Raises AccessError."""
    try:
        return new_name(name, listed)
    except NameRefused as error:
        raise AccessError(error.sentence) from error


def checked_passphrase(passphrase: str, name: str) -> str:
    """Return a passphrase of this person in its stored form. Raises AccessError for an invalid one."""
    passphrase = normal(passphrase)
    if not LEAST <= len(passphrase) <= MOST:
        raise AccessError(
            "A passphrase has %(least)s to %(most)s letters: several words do.", least=LEAST, most=MOST
        )
    if len(set(passphrase)) < 6 or name.casefold() in passphrase.casefold():
        raise AccessError(
            "That passphrase is too easy to guess; choose several words that have no name in them."
        )
    return passphrase


def normal(passphrase: str) -> str:
    """Normalize a passphrase: keyboards encode accented letters in two ways."""
    return unicodedata.normalize("NFC", passphrase).strip()


class LanSessions(Sessions):
    """Sessions of this process's lifetime, all auditors'. Each ends when idle, too old, or without its passphrase."""

    cookie = "__Host-feltwatch_review"
    """Browsers take a cookie of such a name over TLS only, and from no other host."""

    def __init__(self, people: LanPeople, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._people = people
        self._began: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def open(self, name: str, passphrase_id: str) -> str:
        """Begin a session after a correct passphrase, and return its token."""
        token = secrets.token_urlsafe(32)
        self.begin({"session": token, "name": name, "role": Role.AUDITOR, "expires_s": IDLE_S})
        self._began[token] = (passphrase_id, self._clock())
        while len(self._began) > MOST_SESSIONS:
            self.end(next(iter(self._began)))
        return token

    def role(self, token: str | None, people: Iterable[Person] = ()) -> Role | None:
        """Return the role of an open session, and extend it; None for the table's people."""
        began = self._began.get(token or "")
        name, left = self.left(token or "")
        if token is None or began is None:
            return None
        if left <= 0 or self._clock() - began[1] >= LONGEST_S or not self._people.has(name, began[0]):
            self.end(token)
            return None
        self.used(token)
        return Role.AUDITOR

    def end(self, token: str) -> None:
        """Forget a session."""
        self._began.pop(token, None)
        super().end(token)


class Bucket:
    """A token bucket: a burst, then a constant rate per second."""

    def __init__(self, burst: int, per_s: float) -> None:
        self._burst, self._per_s = burst, per_s
        self._left, self._at = float(burst), float("-inf")

    def wait_s(self, now: float) -> float:
        """Return the seconds until a token is available; 0 if there is one."""
        self._left = min(self._burst, self._left + (now - self._at) * self._per_s)
        self._at = now
        return max(0.0, (1 - self._left) / self._per_s)

    def take(self) -> None:
        """Take one token."""
        self._left -= 1


class Limit:
    """A rate limit: per address, and for all addresses together."""

    def __init__(
        self, each: tuple[int, float], of_all: tuple[int, float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`each` and `of_all`: the burst, then the rate per second."""
        self._each, self._clock = each, clock
        self._all = Bucket(*of_all)
        self._of: OrderedDict[str, Bucket] = OrderedDict()
        self._known: OrderedDict[str, Bucket] = OrderedDict()
        self._lock = threading.Lock()

    def wait_s(self, address: str) -> float:
        """Count one request, and return 0; beyond the limit, return the seconds to wait."""
        with self._lock:
            now = self._clock()
            buckets = self._buckets(address)
            if wait := max(bucket.wait_s(now) for bucket in buckets):
                return wait
            for bucket in buckets:
                bucket.take()
            return 0.0

    def know(self, address: str) -> None:
        """From now on, count an address separately from its network: an authorized person uses it."""
        with self._lock:
            self._known.setdefault(address, self._bucket(address, 1))
            self._known.move_to_end(address)
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)

    def _buckets(self, address: str) -> list[Bucket]:
        if known := self._known.get(address):
            return [known]
        buckets = [self._all, self._bucket(address, 1)]
        if (network := network_of(address)) != address:
            buckets.append(self._bucket(network, NETWORK))
        return buckets

    def _bucket(self, name: str, times: int) -> Bucket:
        burst, per_s = self._each
        bucket = self._of.setdefault(name, Bucket(times * burst, times * per_s))
        self._of.move_to_end(name)
        if len(self._of) > MOST_ADDRESSES:
            self._of.popitem(last=False)
        return bucket


def counted_as(address: str) -> str:
    """Return the canonical form of an address, under which its requests are counted.

    >>> counted_as("::ffff:192.0.2.7"), counted_as("2001:db8::0:7:1")
    ('192.0.2.7', '2001:db8::7:1')
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(found)))


def network_of(address: str) -> str:
    """Return the IPv6 network (/64) of an address from `counted_as`; any other address unchanged.

    >>> network_of("2001:db8::7:1"), network_of("192.0.2.7")
    ('2001:db8::/64', '192.0.2.7')
    """
    if ":" not in address:
        return address
    return str(ipaddress.ip_network((int(ipaddress.IPv6Address(address)), 64), strict=False))
