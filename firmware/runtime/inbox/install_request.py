"""The table's request to install a release from its inbox, and how it ended: small files between two programs.

The table has neither the rights nor the network to install. It writes `REQUEST`; root's program, which the service
manager starts for it (systemd/units/feltwatch-update.path), checks the release, installs it beside the one that runs,
waits for `MAY_SWITCH` before it stops anything, and writes `RESULT`. An attempt is remembered in the record's folder:
the release that starts next has to know of it.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from firmware.record.journal.clocks import Timestamp
from firmware.record.journal.disk import write_whole
from firmware.record.stick_request import read_small
from firmware.table.errors import CommandRefused
from firmware.uplink.inbox.requests import FileRequest

FOLDER: Final = Path("/run/feltwatch")
REQUEST: Final = "update.json"
MAY_SWITCH: Final = "update-now"
"""Lies there while no hand lies on the table."""
RESULT: Final = Path("/run/feltwatch-update/result.json")
ATTEMPT: Final = "update.json"
INSTALL_WITHIN_S: Final = 8 * 3600.0
"""Seconds after which an attempt without a result counts as ended: longer than root's program waits for the table."""


@dataclass(frozen=True)
class Attempt:
    """An update that was begun: by which request, and when, on the clock of that boot."""

    number: int
    sha256: str
    boot: str
    began_ns: int

    def goes_on(self, now: Timestamp) -> bool:
        """Return whether it may still end well."""
        took_s = (now.monotonic_ns - self.began_ns) / 1e9
        return self.boot == now.boot and 0 <= took_s <= INSTALL_WITHIN_S


class InstallDesk:
    """The table's side: writes requests, reads results."""

    def __init__(self, data: Path, folder: Path = FOLDER, result: Path = RESULT) -> None:
        """`data`: the folder of the record; `folder`: the table's own in /run."""
        self._attempt_path, self._folder, self._result = data / ATTEMPT, folder, result

    def ask(self, one: FileRequest, now: Timestamp) -> None:
        """Ask for a release to be installed. Raises CommandRefused where nothing here installs."""
        attempt = Attempt(one.number, one.sha256, now.boot, now.monotonic_ns)
        path = self._folder / REQUEST
        try:
            write_whole(self._attempt_path, json.dumps(asdict(attempt)).encode())
            write_whole(path, json.dumps(FileRequest(*one.key).to_json()).encode())
        except OSError as error:
            self._attempt_path.unlink(missing_ok=True)
            raise CommandRefused(
                "This box cannot be updated from here (%(path)s: %(why)s).", path=str(path), why=error
            ) from error

    def attempt(self, one: FileRequest) -> Attempt | None:
        """Return the attempt of a request for a release, None if there was none."""
        match _read(self._attempt_path):
            case {"number": one.number, "sha256": one.sha256, "boot": str(boot), "began_ns": int(began_ns)}:
                return Attempt(one.number, one.sha256, boot, began_ns)
        return None

    def result(self, one: FileRequest) -> str | None:
        """Return why a request's update failed; "" if it went well, None while nothing is known."""
        match _read(self._result):
            case {"number": one.number, "sha256": one.sha256, "why": str(why)}:
                return why
        return None

    def may_switch(self, now: bool) -> None:
        """Say whether the table may be stopped now: no hand lies on it."""
        path = self._folder / MAY_SWITCH
        with suppress(OSError):  # root's program waits, and gives up in the end
            if now:
                path.touch(0o640)
            else:
                path.unlink(missing_ok=True)


def read_request(folder: Path) -> FileRequest | None:
    """Return the request for a release that the table asks to be installed; None without a valid one. For root."""
    with suppress(ValueError):
        return FileRequest.from_json(_read(folder / REQUEST))
    return None


def write_result(path: Path, one: FileRequest, why: str) -> None:
    """Say how a request's update ended: "" for well. Raises OSError. For root."""
    write_whole(path, json.dumps({"number": one.number, "sha256": one.sha256, "why": why[:300]}).encode())
    path.chmod(0o644)


def _read(path: Path) -> dict[str, Any]:
    with suppress(OSError):
        return read_small(path)
    return {}
