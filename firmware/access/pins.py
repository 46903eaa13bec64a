"""PINs: stores only their scrypt verifiers, one file each, readable only by the table's user.

They are not in the journal, because the page, auditors and dispute files read it, and a four-digit PIN can be found
from any verifier within minutes. An event names a verifier by a random id. Its file is synced before the event is
written, so that after a stop at any moment exactly one PIN is in force: the old one or the new one.
"""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from firmware.record.journal.disk import sync_folder
from firmware.table.errors import PinError
from firmware.table.people import PINS_FOLDER

_N: Final = 1 << 15
_R: Final = 8
_P: Final = 1
"""scrypt's cost: 32 MB and about 0.1 s an attempt. No cost protects four digits from a search; the lock-out does."""
_MEMORY: Final = 64 << 20


class PinStore:
    """The verifiers in a data folder."""

    def __init__(self, data: Path) -> None:
        self.folder = data / PINS_FOLDER

    def keep(self, pin: str) -> str:
        """Store a verifier for a PIN, durably, and return its id. Raises PinError."""
        name, stored = secrets.token_hex(8), verifier(pin)
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            handle = os.open(self._path(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                json.dump(stored, file)
                file.flush()
                os.fsync(file.fileno())
            sync_folder(self.folder)
            sync_folder(self.folder.parent)
        except OSError as error:
            raise PinError(
                "The PIN could not be stored (%(why)s); check the disk.", why=error.strerror or ""
            ) from error
        return name

    def matches(self, name: str, pin: str) -> bool:
        """Return whether this is the PIN of verifier `name`. Raises PinError if the verifier is missing or broken."""
        try:
            return matches_verifier(json.loads(self._path(name).read_text(encoding="ascii")), pin)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise PinError("That PIN's file is missing or broken; set a new PIN.") from error

    def matches_nobody(self, pin: str) -> bool:
        """Take as long as `matches`, for a name that means nobody, and return False."""
        verifier(pin)
        return False

    def forget(self, names: set[str]) -> None:
        """Remove verifiers that no event has in force."""
        for name in names:
            self._path(name).unlink(missing_ok=True)

    def known(self) -> set[str]:
        """Return the ids of all stored verifiers."""
        return {path.stem for path in self.folder.glob("*.json")}

    def _path(self, name: str) -> Path:
        return self.folder / f"{Path(name).name}.json"


def verifier(secret: str) -> dict[str, Any]:
    """Return a verifier for a PIN or a passphrase as JSON-able data: scrypt's cost, salt and key."""
    salt = secrets.token_bytes(16)
    key = _derive(secret, salt, _N, _R, _P)
    return {"scrypt": {"n": _N, "r": _R, "p": _P}, "salt": salt.hex(), "key": key.hex()}


def matches_verifier(stored: Mapping[str, Any], secret: str) -> bool:
    """Return whether a verifier matches a secret. Raises ValueError, KeyError or TypeError for an invalid verifier."""
    cost, salt, key = stored["scrypt"], bytes.fromhex(stored["salt"]), bytes.fromhex(stored["key"])
    tried = _derive(secret, salt, int(cost["n"]), int(cost["r"]), int(cost["p"]))
    return hmac.compare_digest(tried, key)


def _derive(pin: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(pin.encode(), salt=salt, n=n, r=r, p=p, maxmem=_MEMORY, dklen=32)
