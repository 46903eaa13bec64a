"""The newest checkpoint of the pit's log that this table holds, written by the uplink for slips of the record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware.record.evidence.notes import Checkpoint, NoNote, open_note, without_cosignatures
from firmware.record.evidence.signing import fingerprint
from firmware.record.journal.disk import read_plain
from firmware.uplink.status_file import FILE, MAX_BYTES, UNREADABLE

if TYPE_CHECKING:
    from firmware.uplink.witness import State


@dataclass(frozen=True)
class HeldCheckpoint:
    """A checkpoint that this table has checked and cosigned.

    `note`: the checkpoint with its log's signature alone, as `pit verify` takes it; `words`: the five key words of
    the log.
    `proven`: how many signed heads of that log most tables have cosigned, how many tables that were, and of how many;
    None if the pit has said nothing of it. `doubted`: the pit has shown another history since.
    """

    checkpoint: Checkpoint
    note: str
    words: str
    proven: tuple[int, int, int] | None = None
    doubted: bool = False

    @property
    def root(self) -> str:
        """The root, in base64 as in its note."""
        return self.checkpoint.text.split("\n")[2]

    @property
    def is_proven(self) -> bool:
        """Whether most tables have cosigned this checkpoint, or a later one of the same log."""
        return self.proven is not None and self.proven[0] >= self.checkpoint.size


def held_to_json(state: State) -> dict[str, Any] | None:
    """Return the checkpoint of a witness as the uplink writes it; None if the witness holds none."""
    if not state.note:
        return None
    return {
        "note": without_cosignatures(state.note),
        "log": state.log,
        "proven": list(state.proven) if state.proven else None,
        "doubted": bool(state.trouble),
    }


def read_checkpoint(folder: Path | None) -> HeldCheckpoint | None:
    """Return what the uplink has said in its folder in /run; None without a pit, or if it cannot be read."""
    if folder is None:
        return None
    try:
        return _read(json.loads(read_plain(folder / FILE, MAX_BYTES))["checkpoint"])
    except (*UNREADABLE, NoNote):
        return None


def _read(told: Mapping[str, Any] | None) -> HeldCheckpoint | None:
    if told is None:
        return None
    note, public = str(told["note"]), bytes.fromhex(told["log"])
    checkpoint = open_note(note, public)  # what is printed was signed
    proven: tuple[int, int, int] | None = None
    match told["proven"]:
        # figures of another log say nothing of this checkpoint
        case [checkpoint.origin, int(size), int(signers), int(heard)]:
            proven = size, signers, heard
    return HeldCheckpoint(checkpoint, note, fingerprint(public), proven, told["doubted"] is True)
