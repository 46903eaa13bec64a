"""The demo's floor page: the pit's own server for people, as a process of its own, and a person of each role."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from firmware.record.evidence.signing import fingerprint
from firmware.runtime.errors import AppError

ROLES: Final = ("floor", "auditor", "technician", "owner")
_PIT: Final = (sys.executable, "-m", "firmware.cli", "pit")
_SERVES: Final = "The pit: "


@contextmanager
def floor_page(url: str, folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Serve the pit's pages on a free port of loopback; yield their address, and each person's passphrase.

    People are called by their role. Raises AppError.
    """
    at_database = {**os.environ, "FELTWATCH_PIT_DATABASE": url}
    people = {role: fingerprint(secrets.token_bytes(16)) for role in ROLES}
    for role, passphrase in people.items():
        words = [*_PIT, "person", "add", role, "--role", role]
        done = subprocess.run(words, env=at_database, input=f"{passphrase}\n", capture_output=True, text=True)
        if done.returncode:
            raise AppError(f"Nobody can log in at the pit: {done.stderr.strip()}")
    words = [*_PIT, "serve-floor", "--folder", str(folder), "--name", "Demo", "--port", "0"]
    with subprocess.Popen(
        words, env=at_database, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        assert server.stderr is not None
        said: list[str] = []
        for line in server.stderr:
            said.append(line)
            if line.startswith(_SERVES):
                break
        else:
            raise AppError(f"The pit's pages are not served: {''.join(said[-3:]).strip()}")
        rest = threading.Thread(target=server.stderr.read, name="floor page's words", daemon=True)
        rest.start()
        try:
            yield line.removeprefix(_SERVES).strip(), people
        finally:
            server.terminate()
