"""The signer's side: a repository's metadata in a folder, signed and renewed with python-tuf's metadata API.

Version numbers are seconds since 1970, so that a signer whose disk was set back goes on above what others have seen.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from securesystemslib.signer import Key, SecretsHandler, Signature, Signer, SSlibKey
from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import Metadata, MetaFile, Role, Root, Snapshot, TargetFile, Targets, Timestamp
from tuf.api.serialization.json import JSONSerializer

from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.disk import FILE_MODE, make_folder, write_whole
from firmware.update.files import read_plain
from firmware.update.trust import MAX_ROOT, ROOT, Target, UpdateRefused

ROOT_LASTS: Final = timedelta(days=3653)
"""As long as the pit's certificates: a table may be off for years."""
ONLINE: Final = (Targets.type, Snapshot.type, Timestamp.type)
"""Roles that the online key signs. The root key signs only which keys count."""


class _KeySigner(Signer):
    """Signs with one of our keys."""

    def __init__(self, key: DeviceKey) -> None:
        self._key = key
        self._public = SSlibKey.from_crypto(Ed25519PublicKey.from_public_bytes(key.public))

    @classmethod
    def from_priv_key_uri(
        cls, priv_key_uri: str, public_key: Key, secrets_handler: SecretsHandler | None = None
    ) -> Signer:
        raise NotImplementedError  # a key is a file of ours

    @property
    def public_key(self) -> Key:
        return self._public

    def sign(self, payload: bytes) -> Signature:
        return Signature(self._public.keyid, self._key.sign(payload).hex())


class Repository:
    """A repository's metadata in a folder. Only one program signs at a time."""

    def __init__(
        self,
        folder: Path,
        root: DeviceKey,
        online: DeviceKey,
        lasts: timedelta,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`root` signs which keys count, `online` the rest; `lasts`: until what is published expires.

        Makes the first root where there is none, and the next one where `online` is new: a key that was lost or stolen
        is moved away. Raises OSError, UpdateRefused for a folder of another root key.
        """
        self._folder, self._lasts, self._now = folder, lasts, now
        self._root, self._online = _KeySigner(root), _KeySigner(online)
        if not (folder / ROOT).exists():
            self._write_root(1)
        elif self._online.public_key.keyid not in self._root_metadata().roles[Targets.type].keyids:
            self.rotate(root, online)

    def publish(self, targets: Mapping[str, Target]) -> None:
        """Name these files, by their paths, and no others. Raises OSError, UpdateRefused for a damaged folder."""
        version = max(self._version() + 1, int(self._now().timestamp()))
        expires = (self._now() + self._lasts).replace(microsecond=0)
        named = {
            path: TargetFile(one.size, {"sha256": one.sha256}, path, {"custom": dict(one.about)})
            for path, one in targets.items()
        }
        meta = MetaFile(version)
        self._write("targets.json", Metadata(Targets(version, expires=expires, targets=named)), self._online)
        snapshot = Snapshot(version, expires=expires, meta={"targets.json": meta})
        self._write("snapshot.json", Metadata(snapshot), self._online)
        timestamp = Timestamp(version, expires=expires, snapshot_meta=meta)
        self._write("timestamp.json", Metadata(timestamp), self._online)

    def published(self) -> dict[str, Target]:
        """Return the files that are named now, by their paths. Raises OSError, UpdateRefused if another signed them."""
        path = self._folder / "targets.json"
        if not path.exists():
            return {}
        try:
            targets = Metadata[Targets].from_file(str(path))
            self._root_metadata().verify_delegate(Targets.type, targets.signed_bytes, targets.signatures)
            return {
                name: Target(one.hashes["sha256"], one.length, one.custom or {})
                for name, one in targets.signed.targets.items()
            }
        except (RepositoryError, ValueError, KeyError) as error:
            raise UpdateRefused(f"{path} is not as it was signed here. Restore it from a backup.") from error

    def renew(self) -> bool:
        """Sign again what would expire soon; return whether it was necessary. Raises OSError, UpdateRefused."""
        signed = _timestamp(self._folder)
        if signed is not None and signed.expires - self._now() > self._lasts / 2:
            return False
        self.publish(self.published())
        return True

    def rotate(self, root: DeviceKey, online: DeviceKey) -> None:
        """Change the keys; the ones before sign the change, and nothing else from then on. Raises OSError."""
        version, targets, before = self._root_metadata().version, self.published(), self._root
        self._root, self._online = _KeySigner(root), _KeySigner(online)
        self._write_root(version + 1, before)
        self.publish(targets)

    @property
    def anchor(self) -> bytes:
        """The newest root metadata, as somebody takes it who trusts nothing yet. Raises OSError."""
        return read_plain(self._folder / ROOT, MAX_ROOT)

    def _root_metadata(self) -> Root:
        """Return the newest root, which our key has signed. Raises UpdateRefused."""
        try:
            root = Metadata[Root].from_bytes(self.anchor)
            root.signed.verify_delegate(Root.type, root.signed_bytes, root.signatures)
        except (RepositoryError, ValueError) as error:
            raise UpdateRefused(f"{self._folder / ROOT} cannot be used. Restore it from a backup.") from error
        if self._root.public_key.keyid not in root.signed.roles[Root.type].keyids:
            raise UpdateRefused(f"{self._folder} is signed by another key than the one that is here.")
        return root.signed

    def _write_root(self, version: int, *before: _KeySigner) -> None:
        keys = {one.public_key.keyid: one.public_key for one in (self._root, self._online)}
        roles = {name: Role([self._online.public_key.keyid], 1) for name in ONLINE}
        roles[Root.type] = Role([self._root.public_key.keyid], 1)
        expires = (self._now() + ROOT_LASTS).replace(microsecond=0)
        root = Metadata(Root(version, expires=expires, keys=keys, roles=roles, consistent_snapshot=False))
        for name in (f"{version}.{ROOT}", ROOT):
            self._write(name, root, self._root, *before)

    def _version(self) -> int:
        signed = _timestamp(self._folder)
        return signed.version if signed is not None else 0

    def _write(self, name: str, metadata: Metadata[Any], *signers: _KeySigner) -> None:
        metadata.signatures.clear()
        for one in signers:
            metadata.sign(one, append=True)
        make_folder(self._folder)
        write_whole(self._folder / name, metadata.to_bytes(JSONSerializer(compact=False)))
        (self._folder / name).chmod(FILE_MODE)


def ends(folder: Path) -> datetime | None:
    """Return until when a folder's signatures are valid; None if nothing was signed there.

    Raises OSError, UpdateRefused.
    """
    signed = _timestamp(folder)
    return signed.expires if signed is not None else None


def _timestamp(folder: Path) -> Timestamp | None:
    """Return the timestamp that was signed last in a folder; None without one. Raises OSError, UpdateRefused."""
    path = folder / "timestamp.json"
    if not path.exists():
        return None
    try:
        return Metadata[Timestamp].from_bytes(read_plain(path, MAX_ROOT)).signed
    except (RepositoryError, ValueError) as error:
        raise UpdateRefused(f"{path} is not as it was signed here. Restore it from a backup.") from error
