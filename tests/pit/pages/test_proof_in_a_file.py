"""A dispute file from the pit proves its hand in the log of the key that is named; bent ones are refused."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.record.evidence.anchors import Anchor, sign_head
from firmware.record.evidence.dispute_verifier import read_anchor
from firmware.record.evidence.notes import Checkpoint, Proof, as_base64, head_entry, parts, sign, verifier_key
from firmware.record.evidence.signing import DeviceKey, fingerprint
from firmware.table import events as ev
from firmware.uplink.witness import Witness
from pit.log.answers import Answers
from pit.log.keeper import Keeper
from pit.log.keys import accept
from pit.pages.people import PitRole
from pit.store.database import Database
from tests.dealer_ui.past import played
from tests.pit.conftest import as_role
from tests.pit.log.conftest import SigningTable
from tests.pit.log.outside import built, judged
from tests.pit.pages.conftest import House, lent_floor, opened_house
from tests.pit.pages.test_pages import bring_pictures
from tests.pit.postgres import DOOR, Postgres
from tests.tools import GO, needs

Files = dict[str, bytes]


@dataclass
class ProvenFile:
    """A file that the pit has made of a hand, and the keys with which somebody could bend it."""

    files: Files
    path: Path
    log: DeviceKey
    pit: DeviceKey
    table: DeviceKey
    entries: list[bytes]
    unproven: Files
    """The file of a hand after the last signed head."""

    def verified(self, log: str, files: Files | None = None) -> tuple[int, str]:
        """What the command says: its exit status and its words. Other files are sealed again with the pit's key."""
        path = self.path
        if files is not None:
            path = path.with_name("sealed-again.zip")
            rest = {name: data for name, data in files.items() if not name.startswith("manifest.")}
            manifest = json.loads(files["manifest.json"])
            manifest["files"] = {name: hashlib.sha256(data).hexdigest() for name, data in rest.items()}
            text = json.dumps(manifest).encode()
            sealed = rest | {"manifest.json": text, "manifest.sig": self.pit.sign(text).hex().encode()}
            with zipfile.ZipFile(path, "w") as packed:
                for name, data in sealed.items():
                    packed.writestr(name, data)
        done = CliRunner().invoke(main, ["hands", "verify", str(path), *(["--log", log] if log else [])])
        return done.exit_code, " ".join(done.output.split())


@pytest.fixture(scope="module")
def proven(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProvenFile]:
    """Made once: the tests only read it."""
    folder = tmp_path_factory.mktemp("proven")
    with (
        lent_floor(postgres) as owned,
        Database(as_role(owned, DOOR), connections=4) as database,
        opened_house(postgres, owned, database, folder) as house,
    ):
        yield prove(house, database, folder)


def prove(house: House, database: Database, own: Path) -> ProvenFile:
    """Both tables sign after their first hand, and witness the log."""
    keeper, folder = Keeper(database, own / "own"), own / "signing"
    answers, entries = Answers(database, keeper), []
    tables = []
    for number, (felt, sent) in enumerate(zip(house.felts, house.tables, strict=True)):
        key = DeviceKey.open(folder / str(number))
        felt.say(ev.KeyAnnounced(key.public.hex()))
        accept(house.database, sent.name, key.public)
        seq, digest = felt.journal.head
        event = sign_head(key, seq=seq, digest=digest, hands=1, wall_ms=1_790_000_000_000, table="12")
        felt.say(event)
        entries.append(head_entry(sent.reader.events_since(0, 1)[0].hash, Anchor.of(event).text))
        played(felt)  # a second hand, which nothing has signed yet
        sent.send()
        witness = Witness(folder / f"witness-{number}", log=keeper.key.public)
        tables.append(SigningTable(folder, database, sent.table, key, witness, felt.folder, sent.have))
    keeper.turn()
    for _ in range(2):
        for table in tables:
            table.ask(answers)
            assert not table.witness.state.trouble
    keeper.turn()
    later, path = own / "hand-2.zip", own / "hand-1.zip"
    unproven, files = downloaded(house, 2, later), downloaded(house, 1, path)
    pit = DeviceKey.open(house.app.extensions["feltwatch-pit"].folder / "key")
    return ProvenFile(files, path, keeper.key, pit, tables[0].key, entries, unproven)


def downloaded(house: House, hand: int, path: Path) -> Files:
    """Get a hand's dispute file from the pit's pages."""
    client = house.logged_in(PitRole.AUDITOR)
    client.get(f"/record/1/review/{hand}/dispute")  # asks for the pictures
    bring_pictures(house)
    made = client.post(f"/record/1/review/{hand}/make-file", data={"token": house.token()})
    assert made.status_code == 303
    with client.get(f"/record/1/review/{hand}/file") as got:
        path.write_bytes(got.data)
    with zipfile.ZipFile(path) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def proof_of(files: Files) -> tuple[str, Proof]:
    """The name and the content of a file's proof."""
    from firmware.record.evidence.dispute_verifier import read_proof

    (name,) = [one for one in files if one.endswith(".tlog-proof")]
    number, hashes, note = read_proof(files[name].decode())
    return name, Proof(number, tuple(hashes), note)


def test_the_command_verifies_the_proof_in_a_file_that_the_pit_made(proven: ProvenFile) -> None:
    for named in (fingerprint(proven.log.public), proven.log.public.hex()):
        code, said = proven.verified(named)
        assert code == 0, said
        assert "2 of the 2 tables whose keys are in the file have cosigned it." in said
        assert "of the 2 in the log" in said
        assert "It is the key that was given." in said
    told = CliRunner().invoke(main, ["hands", "verify", str(proven.path), "--log", named, "--json"])
    assert json.loads(told.output)["ok"] is True
    wrong = CliRunner().invoke(main, ["hands", "verify", "--all", "--log", named])
    assert (wrong.exit_code, "--log is for a dispute file" in wrong.output) == (2, True)


@needs(GO)
def test_the_verifier_of_other_authors_agrees_with_that_proof(proven: ProvenFile, tmp_path: Path) -> None:
    _, proof = proof_of(proven.files)
    checkpoint = Checkpoint.parse(parts(proof.note)[0])
    log, *tables = proven.files["proofs/keys.txt"].decode().splitlines()
    entries = [entry.decode() for entry in in_the_logs_order(proven, checkpoint)]
    found = judged(
        built(tmp_path),
        Entries=entries,
        Inclusion=[{"Size": checkpoint.size, "Number": proof.number, "Hashes": as_base64(proof.hashes)}],
        Extend=[],
        Notes=[{"Text": proof.note, "Keys": [log], "Tables": tables}],
        Sign="text\n",
    )
    assert found["Roots"][-1] == as_base64([checkpoint.root])[0]
    assert (found["Refused"], found["Opened"]) == (None, [3])


def in_the_logs_order(proven: ProvenFile, checkpoint: Checkpoint) -> list[bytes]:
    from itertools import permutations

    from firmware.record.evidence.merkle import leaf_hash, of_leaves, root

    return next(
        list(order)
        for order in permutations(proven.entries)
        if root(of_leaves([leaf_hash(one) for one in order]), checkpoint.size) == checkpoint.root
    )


def _other_log(proven: ProvenFile, files: Files, folder: Path) -> Files:
    """Its own checkpoint, over the same root, with a key of its own."""
    name, proof = proof_of(files)
    forger = DeviceKey.open(folder / "forger")
    checkpoint = Checkpoint.parse(parts(proof.note)[0])
    forged = Proof(proof.number, proof.hashes, sign(forger, checkpoint))
    keys = f"{verifier_key(checkpoint.origin, forger.public)}\n"
    return files | {name: forged.text.encode(), "proofs/keys.txt": keys.encode()}


def _no_proofs(proven: ProvenFile, files: Files, folder: Path) -> Files:
    return {name: data for name, data in files.items() if not name.startswith("proofs/")}


def _another_hash(proven: ProvenFile, files: Files, folder: Path) -> Files:
    name, proof = proof_of(files)
    bent = Proof(proof.number, (bytes(32), *proof.hashes[1:]), proof.note)
    return files | {name: bent.text.encode()}


def _another_place(proven: ProvenFile, files: Files, folder: Path) -> Files:
    name, proof = proof_of(files)
    return files | {name: Proof(proof.number ^ 1, proof.hashes, proof.note).text.encode()}


def _a_rewritten_hand(proven: ProvenFile, files: Files, folder: Path) -> Files:
    """A head of the table's own key that was never sent, with the proof of the one that was."""
    (text,) = files["anchors.txt"].decode().split()
    seq, digest, _ = read_anchor(text)
    event = sign_head(proven.table, seq=seq, digest=digest, hands=7, wall_ms=1, table="12")
    return files | {"anchors.txt": f"{Anchor.of(event).text}\n".encode()}


def _an_older_head(proven: ProvenFile, files: Files, folder: Path) -> Files:
    """Another hand of the same record, with the proof of a head from before that hand was over."""
    older = {name: data for name, data in files.items() if name.startswith(("proofs/", "anchors.txt"))}
    return proven.unproven | older


BENT: list[tuple[Callable[[ProvenFile, Files, Path], Files], str]] = [
    (_other_log, "signed by another log's key"),
    (_no_proofs, "holds no proof that its rows are in a pit's log"),
    (_another_hash, "is not in the log"),
    (_another_place, "is not in the log"),
    (_a_rewritten_hand, "is not in the log"),
    (_an_older_head, "No signed head that vouches for this hand is proven"),
]


def test_a_bent_file_is_refused_though_it_was_sealed_anew_with_the_pits_key(
    proven: ProvenFile, tmp_path: Path
) -> None:
    for bend, why in BENT:
        code, said = proven.verified(fingerprint(proven.log.public), bend(proven, proven.files, tmp_path))
        assert (code, why in said) == (1, True), (bend, said)
    other = DeviceKey.open(tmp_path / "other").public
    code, said = proven.verified(fingerprint(other), proven.files)
    assert (code, "signed by another log's key" in said) == (1, True), said
    name, proof = proof_of(proven.files)
    lines = proof.note.splitlines(keepends=True)
    fewer = Proof(proof.number, proof.hashes, "".join(lines[:-1])).text.encode()
    code, said = proven.verified(fingerprint(proven.log.public), proven.files | {name: fewer})
    assert (code, "1 of the 2 tables" in said) == (0, True), said
