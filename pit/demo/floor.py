"""The demo's floor page: the pit's own server for people, as a process of its own, and a person of each role."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from firmware.record.evidence.signing import fingerprint
from firmware.runtime.errors import AppError
from firmware.threads import start_thread
from pit.store.database import Database

_PIT: Final = (sys.executable, "-m", "firmware.cli", "pit")
_SERVES: Final = "The pit: "


@contextmanager
def floor_page(url: str, folder: Path, port: int = 0) -> Iterator[tuple[str, dict[str, str]]]:
    """Serve the pit's pages on a port of loopback, 0 for a free one; yield their address, and each person's passphrase.

    People are called by their role. Raises AppError.
    """
    at_database = {**os.environ, "FELTWATCH_PIT_DATABASE": url}
    words = [*_PIT, "serve-floor", "--folder", str(folder), "--name", "Demo", "--port", str(port)]
    with subprocess.Popen(
        words, env=at_database, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        assert server.stderr is not None
        lines: list[str] = []
        try:
            people = _people(url)  # while it starts
            for line in server.stderr:
                lines.append(line)
                if line.startswith(_SERVES):
                    break
            else:
                raise AppError(f"The pit's pages are not served: {''.join(lines[-3:]).strip()}")
            start_thread(server.stderr.read, name="floor page's words")
            yield line.removeprefix(_SERVES).strip(), people
        finally:
            server.terminate()


def _people(url: str) -> dict[str, str]:
    """List a person of each role, and return the passphrases."""
    from pit.pages.people import PitPeople, PitRole

    people = {str(role): fingerprint(secrets.token_bytes(16)) for role in PitRole}
    with Database(url, connections=1) as database:
        for role, passphrase in people.items():
            PitPeople(database).add(role, PitRole(role), passphrase)
    return people
