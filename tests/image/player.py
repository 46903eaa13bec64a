"""Runs inside a card that QEMU has booted, with the installed release's Python: plays hands by touching the page.

    python player.py HANDS FOLDER [GO]

HANDS: how many; 0 without end. FOLDER has empty.bmp and a picture for each of two deals; view.bmp is what the camera
sees. GO: a file; until it is there, nothing is touched. After each touch that the page has confirmed it prints the
record's last row: what no power cut may take back.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from firmware.record.journal.journal import JournalReader
from firmware.table.phase import BETWEEN_HANDS, Phase

DATA = Path("/var/lib/feltwatch")
PAGE = "http://127.0.0.1:8013"
PUCK = 1
"""The seat at which the puck lies all the time."""


def main(hands: int, folder: Path, go: Path | None = None) -> None:
    """Play."""
    if go is not None:
        say(ready=True)
        while not go.exists():
            time.sleep(0.1)
    touch = Finger()
    reader = JournalReader(DATA)
    before = reader.recover()[0]
    found = before.hand if before.phase is Phase.SETTLED else None  # is not one that was played here
    settled = 0
    if before.phase in (Phase.SHOWDOWN, Phase.READING):  # the power was cut: the cards still lie there
        lay(folder, f"deal{before.hand % 2}")
    while not hands or settled < hands:
        state = reader.recover()[0]
        if state.phase is Phase.SETTLED:
            if state.hand != found:
                settled += 1
                say(settled=state.hand)
            if hands and settled == hands:
                return
            touch({"do": "archive"})
        elif state.phase in (Phase.SHOWDOWN, Phase.READING) or state.puck.seat != PUCK:
            time.sleep(0.5)
        else:
            if state.phase in BETWEEN_HANDS:
                lay(folder, "empty")
            if state.phase is Phase.SETTING:
                lay(folder, f"deal{state.hand % 2}")
            refused = touch({"do": "next"} if state.dealer else {"do": "log_on", "person": "Robin"})
            if "seat" in refused:  # nobody is here who could move the puck to where it is due
                touch({"do": "keep_button", "seat": PUCK})


def lay(folder: Path, name: str) -> None:
    """Let the camera see these hands."""
    shutil.copy(folder / f"{name}.bmp", folder / "view.new")
    os.replace(folder / "view.new", folder / "view.bmp")  # noqa: PTH105


class Finger:
    """Touches the page."""

    def __init__(self) -> None:
        self._token = ""

    def __call__(self, order: dict[str, object]) -> dict[str, object]:
        """Give a command, and say how far the record had come once it was confirmed.

        Return the arguments of the sentence that refuses it; a refused one is seen again.
        """
        if not self._token:
            with urllib.request.urlopen(f"{PAGE}/", timeout=120) as page:
                found = re.search('name="csrf-token" content="([^"]*)"', page.read().decode())
            self._token = found[1] if found else ""
        headers = {"Content-Type": "application/json", "X-CSRF-Token": self._token}
        request = urllib.request.Request(f"{PAGE}/command", json.dumps(order).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=120):
                pass
        except urllib.error.HTTPError as error:
            self._token = ""
            refusal = error.read().decode()
            say(refused=refusal[:300], order=order)
            time.sleep(1)
            args: dict[str, object] = json.loads(refusal).get("args", {})
            return args
        with sqlite3.connect(f"file:{DATA}/journal.sqlite?mode=ro", uri=True) as db:
            seq, digest = db.execute("SELECT seq, hash FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
        say(confirmed=[seq, digest], order=order)
        return {}


def say(**what: object) -> None:
    """Print a line of JSON."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), *map(Path, sys.argv[2:]))
