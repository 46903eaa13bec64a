"""The table's request to install a release from its inbox, and how it ended: small files between two programs.

The table has neither the rights nor the network to install. It writes `REQUEST`; root's program, which the service
manager starts for it (systemd/units/feltwatch-update.path), checks the release, installs it next to the running
release, waits for `MAY_SWITCH` before it stops anything, and writes `RESULT`. The start of an
update is a row of the record, because the release that starts next has to know of it.
"""

import json
from contextlib import suppress
from pathlib import Path
from typing import Final

from firmware.messages import Message
from firmware.record.journal.disk import write_whole
from firmware.record.stick_request import read_small
from firmware.table.errors import CommandRefused
from firmware.uplink.inbox.requests import FileRequest

FOLDER: Final = Path("/run/feltwatch")
REQUEST: Final = "update.json"
MAY_SWITCH: Final = "update-now"
"""Lies there while no hand lies on the table."""
RESULT: Final = Path("/run/feltwatch-update/result.json")


class InstallDesk:
    """The table's side: writes requests, reads results."""

    def __init__(self, folder: Path = FOLDER, result: Path = RESULT) -> None:
        """`folder`: the table's own in /run."""
        self._folder, self._result = folder, result

    def ask(self, one: FileRequest) -> None:
        """Ask for a release to be installed. Raises CommandRefused where nothing here installs."""
        path = self._folder / REQUEST
        try:
            _write(path, FileRequest(*one.key))
        except OSError as error:
            raise CommandRefused(
                "This box cannot be updated from here (%(path)s: %(why)s).", path=str(path), why=error
            ) from error

    def result(self, one: FileRequest) -> FileRequest | None:
        """Return how a request's update ended, in force or refused; None while nothing is known."""
        found = read_request(self._result)
        return found if found is not None and found.key == one.key else None

    def may_switch(self, now: bool) -> None:
        """Let root's program stop the table, or not: it may while no hand lies on it."""
        path = self._folder / MAY_SWITCH
        with suppress(OSError):  # root's program waits, and gives up in the end
            if now:
                path.touch(0o640)
            else:
                path.unlink(missing_ok=True)


def read_request(path: Path) -> FileRequest | None:
    """Return the request in a file of the other program; None without a valid one."""
    with suppress(OSError, ValueError):
        return FileRequest.from_json(read_small(path))
    return None


def write_result(path: Path, one: FileRequest, why: str) -> None:
    """Say how a request's update ended: "" for well. Raises OSError. For root."""
    failed = Message("The update failed: %(why)s", why=why[:300]) if why else None
    _write(path, FileRequest(*one.key, "refused" if why else "in_force", failed))
    path.chmod(0o644)


def _write(path: Path, one: FileRequest) -> None:
    write_whole(path, json.dumps(one.to_json()).encode())
