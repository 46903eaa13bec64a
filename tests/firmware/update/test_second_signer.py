"""Repositories that others made, with python-tuf's own API and by the specification's other forms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import (
    DelegatedRole,
    Delegations,
    Metadata,
    MetaFile,
    Root,
    Snapshot,
    TargetFile,
    Targets,
    Timestamp,
)

from firmware.update.metadata import anchor_of
from firmware.update.trust import MAKER_NAME, Trust, UpdateRefused, folder_files

SOON = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
ROLES = ("root", "targets", "snapshot", "timestamp")


class Other:
    """A signer with a key for each role, lengths and hashes in its metadata, and file names with versions."""

    def __init__(self, folder: Path, *, of_ecdsa: bool = False) -> None:
        self.folder = folder
        folder.mkdir()
        make = CryptoSigner.generate_ecdsa if of_ecdsa else CryptoSigner.generate_ed25519
        self.keys = {role: [make(), make()] for role in ROLES}
        self.root = Root(version=1, expires=SOON, consistent_snapshot=True)
        for role, keys in self.keys.items():
            for key in keys:
                self.root.add_key(key.public_key, role)
            self.root.roles[role].threshold = 2
        self.targets = Targets(version=1, expires=SOON)

    def write(self, name: str, signed: Root | Targets | Snapshot | Timestamp, signers: int = 2) -> MetaFile:
        metadata: Metadata[Any] = Metadata(signed)
        for key in self.keys[signed.type][:signers]:
            metadata.sign(key, append=True)
        data = metadata.to_bytes()
        (self.folder / name).write_bytes(data)
        return MetaFile.from_data(signed.version, data, ["sha256", "sha512"])

    def publish(self, version: int = 1, signers: int = 2) -> bytes:
        self.targets.version = version
        self.write(f"{self.root.version}.root.json", self.root)
        targets = self.write(f"{version}.targets.json", self.targets, signers)
        snapshot = Snapshot(version=version, expires=SOON, meta={"targets.json": targets})
        met = self.write(f"{version}.snapshot.json", snapshot)
        self.write("timestamp.json", Timestamp(version=version, expires=SOON, snapshot_meta=met))
        return (self.folder / "1.root.json").read_bytes()


@pytest.mark.parametrize("of_ecdsa", [False, True])
def test_what_another_program_signed_is_read(tmp_path: Path, of_ecdsa: bool) -> None:
    other = Other(tmp_path / "other", of_ecdsa=of_ecdsa)
    file = TargetFile.from_data("one.tar.gz", b"data", ["sha512", "sha256"])
    file.unrecognized_fields["custom"] = {"release": "1.0", "more": [1, 2]}
    other.targets.targets["one.tar.gz"] = file
    trust = Trust(tmp_path / "trust", other.publish(), who=MAKER_NAME)
    (found,) = trust.refresh(folder_files(other.folder)).values()
    assert (found.size, found.sha256, found.about["more"]) == (4, file.hashes["sha256"], [1, 2])
    other.targets.targets.clear()
    other.publish(2)
    assert trust.refresh(folder_files(other.folder)) == {}


def test_two_signatures_are_two(tmp_path: Path) -> None:
    other = Other(tmp_path / "other")
    trust = Trust(tmp_path / "trust", other.publish(signers=1), who=MAKER_NAME)
    with pytest.raises(UpdateRefused, match="not signed by the maker"):
        trust.refresh(folder_files(other.folder))
    other.publish(2)
    assert trust.refresh(folder_files(other.folder)) == {}


def test_a_file_without_a_sha256_is_refused_in_a_sentence(tmp_path: Path) -> None:
    other = Other(tmp_path / "other")
    other.targets.targets["one"] = TargetFile.from_data("one", b"data", ["sha512"])
    trust = Trust(tmp_path / "trust", other.publish(), who=MAKER_NAME)
    with pytest.raises(UpdateRefused, match="not signed by the maker"):
        trust.refresh(folder_files(other.folder))


def test_what_a_delegate_signed_is_not_the_makers(tmp_path: Path) -> None:
    """Neither signer of ours delegates; anyone who does names nothing here."""
    other = Other(tmp_path / "other")
    key = CryptoSigner.generate_ed25519()
    role = DelegatedRole("friend", [key.public_key.keyid], 1, terminating=False, paths=["*"])
    other.targets.delegations = Delegations({key.public_key.keyid: key.public_key}, {"friend": role})
    trust = Trust(tmp_path / "trust", other.publish(), who=MAKER_NAME)
    assert trust.refresh(folder_files(other.folder)) == {}


def test_a_root_of_several_keys_is_no_anchor_of_one(tmp_path: Path) -> None:
    other = Other(tmp_path / "other")
    root = other.publish()
    for key in other.keys["root"]:
        public = bytes.fromhex(key.public_key.keyval["public"])
        with pytest.raises(UpdateRefused, match="signed by another key"):
            anchor_of(root, public)
