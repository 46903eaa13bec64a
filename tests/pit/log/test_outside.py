"""An implementation of other authors agrees: on every proof of up to 128 leaves, and on notes and cosignatures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firmware.record.evidence.merkle import consistency, inclusion, leaf_hash, of_leaves, root
from firmware.record.evidence.notes import (
    Checkpoint,
    as_base64,
    cosign,
    open_note,
    parts,
    public_of,
    sign,
    verifier_key,
    witness_name,
)
from firmware.record.evidence.signing import DeviceKey
from firmware.uplink.wire import COSIGNS
from tests.pit.log.outside import built, judged
from tests.tools import GO, needs

pytestmark = needs(GO)

ENTRIES = [f"feltwatch-head/v1\n{number:064x}\nFW1:…\n" for number in range(128)]
TREE = of_leaves([leaf_hash(entry.encode()) for entry in ENTRIES])
NOTHING: dict[str, Any] = {"Entries": [], "Inclusion": [], "Extend": [], "Notes": [], "Sign": "text\n"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("go"))


def test_it_agrees_with_every_root_and_every_proof_up_to_128_leaves_and_refuses_bent_ones(
    program: Path,
) -> None:
    sizes = range(1, len(ENTRIES) + 1)
    within: list[dict[str, Any]] = [
        {"Size": size, "Number": number, "Hashes": as_base64(inclusion(TREE, number, size))}
        for size in sizes
        for number in range(size)
    ]
    extending = [
        {"Size": size, "Number": old, "Hashes": as_base64(consistency(TREE, old, size))}
        for size in sizes
        for old in range(1, size + 1)
    ]
    found = judged(program, **NOTHING | {"Entries": ENTRIES, "Inclusion": within, "Extend": extending})
    assert found["Roots"] == [as_base64([root(TREE, size)])[0] for size in sizes]
    assert (found["Refused"], len(within), len(extending)) == (None, 8256, 8256)
    bent = [one | {"Hashes": one["Hashes"][1:]} for one in within if one["Hashes"]]
    found = judged(program, **NOTHING | {"Entries": ENTRIES, "Inclusion": bent})
    assert len(found["Refused"]) == len(bent)


def test_it_opens_our_checkpoints_with_our_cosignatures_and_refuses_changed_ones(
    program: Path, tmp_path: Path
) -> None:
    log, *tables = (DeviceKey.open(tmp_path / str(number)) for number in range(4))
    checkpoint = Checkpoint("feltwatch.local/pit/00000000/1", 128, root(TREE, 128))
    note = sign(log, checkpoint)
    for table in tables:
        note += cosign(table, note, 1_790_000_000)
    keys = {
        "Keys": [verifier_key(checkpoint.origin, log.public)],
        "Tables": [verifier_key(witness_name(one.public), one.public, COSIGNS) for one in tables],
    }
    other = note.replace("\n128\n", "\n127\n")
    found = judged(program, **NOTHING | {"Notes": [{"Text": note} | keys, {"Text": other} | keys]})
    assert found["Opened"] == [4, -1]


def test_we_open_a_checkpoint_that_it_has_signed(program: Path) -> None:
    text = Checkpoint("outside.example/log", 5, root(TREE, 5)).text
    found = judged(program, **NOTHING | {"Sign": text})
    name, public = public_of(found["Key"])
    assert open_note(found["Note"], public) == Checkpoint(name, 5, root(TREE, 5))
    assert parts(found["Note"])[0] == text
