"""A table that holds a checkpoint of a pit's log, as its uplink says it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from firmware.record.evidence.notes import Checkpoint, cosign, origin_of, sign
from firmware.record.evidence.signing import DeviceKey
from firmware.uplink.follow import UplinkStatus
from firmware.uplink.held_checkpoint import held_to_json
from firmware.uplink.status_file import write_status
from firmware.uplink.witness import State


def holds_checkpoint(
    folder: Path, size: int, proven: tuple[int, int, int] | None, *, doubted: bool = False
) -> Checkpoint:
    """Write into `folder` that the table holds a checkpoint of this size; return it."""
    log, witness = (DeviceKey(Ed25519PrivateKey.from_private_bytes(bytes([one] * 32))) for one in (3, 5))
    checkpoint = Checkpoint(origin_of(log.public, 1), size, hashlib.sha256(str(size).encode()).digest())
    note = sign(log, checkpoint)
    note += cosign(witness, note, 1_790_000_000)
    told = (checkpoint.origin, *proven) if proven else None
    state = State(log.public.hex(), note, proven=told, trouble="another history" if doubted else "")
    folder.mkdir(exist_ok=True)
    write_status(folder, UplinkStatus(), state.trouble, held_to_json(state))
    return checkpoint
