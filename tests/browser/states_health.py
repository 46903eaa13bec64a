"""The states of the page of the table's health."""

from __future__ import annotations

from typing import Any, Final

from firmware.adaptive_limit import AdaptiveLimit
from firmware.messages import Message
from firmware.table import events as ev
from firmware.table.people import Role
from firmware.update.house import HouseFile
from firmware.uplink.inbox.requests import NOTES, FileRequest, write_list
from tests.browser.state import State
from tests.dealer_ui.felt import Felt

_PICTURE: Final = {
    "sharpness": {"ok": True, "figure": 0.71, "limit": 1.3, "text": "The picture is sharp."},
    "light": {"ok": True, "figure": 182.0, "limit": 70.0, "text": "The light is right."},
    "banding": {
        "ok": False,
        "figure": 0.062,
        "limit": 0.04,
        "text": "The light flickers: set the mains frequency and the exposure, or change the lamps.",
    },
    "markers": {"ok": True, "figure": 8, "limit": 8, "text": "All markers are seen."},
    "camera": {"ok": True, "figure": 0.4, "limit": 3.0, "text": "The camera is where it was."},
}
_READING: Final = AdaptiveLimit(20, 300)
_READING.took(1.2)
_START: Final = AdaptiveLimit(60, 600)
_START.took(2.4)
_FACTS: Final[dict[str, Any]] = {
    "picture": _PICTURE,
    "readers_ok": 5,
    "readers": 5,
    "buttons": True,
    "free_mb": 21_340,
    "worn_percent": 90,
    "synchronised": True,
    "rtc": True,
    "jumped_ms": 0,
    "celsius": 57.0,
    "weak": False,
    "was_weak": True,
    "memory_mb": 1240,
    "model_hash": "c8654ec2" * 8,
    "model_named": "c8654ec2" * 8,
    "limits": {"reading": _READING.to_json(), "reader_start": _START.to_json()},
    "pit": {"have": 3, "silent_s": 4.0, "trouble": ""},
}


def troubled(felt: Felt) -> None:
    """Light that flickers, a puck reader without its cable, a worn disk, a weak supply, a pit that hears nothing."""
    silent = {**_FACTS["pit"], "silent_s": 740.0}
    felt.health = {**_FACTS, "pit": silent, "faults": {"puck": "The puck reader does not answer."}}
    felt.say(ev.DeviceFault("puck", "The puck reader does not answer."))


def well(felt: Felt) -> None:
    """Nothing to be put right."""
    flicker = {"ok": True, "figure": 0.012, "limit": 0.04, "text": "No stripes."}
    felt.health = {
        **_FACTS,
        "was_weak": False,
        "worn_percent": 10,
        "picture": {**_PICTURE, "banding": flicker},
    }


def from_the_pit(felt: Felt) -> None:
    """A deck and a release wait, a profile is in force, another was refused."""
    waits = Message("A technician takes it at the table.")
    hours = Message("The house allows no hours for updates. A technician starts it at the table.")
    alien = Message("It was not signed by the house. Nothing was changed.")

    def item(number: int, kind: str, name: str, state: str, why: Message | None = None) -> FileRequest:
        version = name if kind == "release" else ""
        digest = f"{number:064x}"
        return FileRequest(number, digest, state, why, HouseFile(digest, 10, kind, name, version, "Ines"))

    items = (
        item(1, "profile", "friday-game", "in_force"),
        item(2, "deck", "House deck", "waiting", waits),
        item(3, "release", "0.3.0-1a2b3c4d", "waiting", hours),
        item(4, "profile", "friday-game", "refused", alien),
    )
    write_list(felt.folder / NOTES, items)


HEALTH: Final = (
    State("files from the pit", from_the_pit, path="/setup/files", role=Role.TECHNICIAN),
    State("health with troubles", troubled, path="/health"),
    State("health", well, path="/health"),
    State("health without a table", answers=False, path="/health"),
)
