"""Release packages: signed by the maker, checked on the box before any of their code runs.

A package is a folder with `manifest.json` (the release, the time of its sources, every file's SHA-256, which of them
are programs) and `manifest.sig` (Ed25519 over the manifest's bytes, in hex). A box trusts only the key in `release.pub`
from its first installation. It refuses a package that is signed by another key, whose files differ from the manifest,
or whose sources are older than those that run: an old release with a known vulnerability would otherwise be a signed
attack.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import stat
import sys
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from firmware.record.evidence.signing import DeviceKey, fingerprint, signed_by
from firmware.table.errors import TableError

FORMAT: Final = "feltwatch-release"
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.sig"
PUBLIC_KEY: Final = "release.pub"
MOST_BYTES: Final = 2_000_000_000
"""Size when unpacked; a release has about 200 MB of wheels."""
MOST_AT_ONCE: Final = 4_000_000
MOST_FILES: Final = 5000
MOST_DEEP: Final = 20
"""Maximum depth of folders; a release has four."""
MODE: Final = 0o644
PROGRAM_MODE: Final = 0o755
_PUBLIC: Final = re.compile("[0-9a-f]{64}")


class UpdateRefused(TableError, ValueError):
    """The box refuses this package; the message is the reason."""


@dataclass(frozen=True)
class Release:
    """The content of a manifest."""

    name: str
    made: int
    """Time of its sources in seconds since 1970; an older release never replaces a later one."""
    files: dict[str, str]
    programs: frozenset[str]
    """The executable files: only they have the executable mode."""


def sign(folder: Path, key: DeviceKey, made: int) -> Release:
    """Write manifest, signature and public key into an unpacked package. Raises OSError."""
    (folder / PUBLIC_KEY).write_text(key.public.hex() + "\n", encoding="ascii")
    name = (folder / "RELEASE").read_text(encoding="utf-8").strip()
    files = {path: _hash(folder / path) for path in sorted(_files(folder))}
    programs = [path for path in files if (folder / path).stat().st_mode & stat.S_IXUSR]
    for path in files:  # independent of the builder's umask
        (folder / path).chmod(PROGRAM_MODE if path in programs else MODE)
    manifest = {"format": FORMAT, "release": name, "made": made, "files": files, "programs": programs}
    text = json.dumps(manifest, indent=1, sort_keys=True).encode()
    (folder / MANIFEST).write_bytes(text)
    (folder / SIGNATURE).write_text(key.sign(text).hex() + "\n", encoding="ascii")
    return Release(name, made, files, frozenset(programs))


def check(folder: Path, public: bytes, running: Path | None = None) -> Release:
    """Return the release of an unpacked package if it is signed by `public` and complete.

    `running`: the folder of the running release, with its manifest; the package's sources must not be older. Raises
    UpdateRefused.
    """
    release = _signed(folder, public)
    found = set(_files(folder))
    for path in sorted(found ^ set(release.files)):
        what = "is not in its manifest" if path in found else "is missing"
        raise UpdateRefused(f"The package was altered: {path} {what}. Nothing was changed.")
    for path, digest in release.files.items():
        if not _has_its_mode(folder / path, path in release.programs):
            raise UpdateRefused(
                f"The package was altered: {path} has not the mode that was signed. Nothing was changed."
            )
        if _hash(folder / path) != digest:
            raise UpdateRefused(
                f"The package was altered: {path} is not what was signed. Nothing was changed."
            )
    if running is not None and release.made < (now := _read_release(running).made):
        raise UpdateRefused(
            f"The package is older ({release.made}) than the release that runs ({now}). "
            "To go back to the release before: install --rollback"
        )
    return release


def running_release(installed: Path = Path(sys.prefix)) -> str:
    """Return the name of the release that runs, such as "0.2.0-1a2b3c4d"; its version where none is installed.

    The installer leaves each release's manifest in its folder. A version alone names no release: two may have the same.
    """
    try:
        return _read_release(installed).name
    except UpdateRefused:
        return version("feltwatch")


def unpack(archive: Path, to: Path) -> Path:
    """Unpack a package into a new folder, regular files and folders only; return its folder. Raises UpdateRefused."""
    if not archive.is_file():  # a pipe or a device may never end
        raise UpdateRefused(f"{archive} is no plain file.")
    try:
        with _Piecewise(archive) as plain, tarfile.open(fileobj=plain, mode="r:") as packed:
            members = _members(packed)
            if not members or archive.stat().st_size > MOST_BYTES:
                raise UpdateRefused(f"{archive} is not of the size of a release; nothing was unpacked.")
            if not all(one.isfile() or one.isdir() for one in members):
                raise UpdateRefused(f"{archive} holds links or devices; no release does.")
            if not all(_stays_inside(one.name) for one in members):
                raise UpdateRefused(f"{archive} holds paths that lead out of it; no release does.")
            if any(len(Path(one.name).parts) > MOST_DEEP for one in members):
                raise UpdateRefused(f"{archive} holds folders in one another without end; no release does.")
            if any(one.mode & ~PROGRAM_MODE for one in members):
                raise UpdateRefused(f"{archive} holds files that others may change; no release does.")
            if hasattr(tarfile, "data_filter"):
                packed.extraction_filter = tarfile.data_filter
            packed.extractall(to, members)
    except (tarfile.TarError, EOFError, OSError, ValueError, RecursionError, zlib.error) as error:
        if isinstance(error, UpdateRefused):
            raise
        why = str(error).splitlines()[0].rstrip(":.") if str(error) else "it is empty"
        raise UpdateRefused(f"{archive} is no whole release: {why}. Copy it again.") from error
    folders = list(to.iterdir())
    if len(folders) != 1 or not folders[0].is_dir():
        raise UpdateRefused(f"{archive} is no release: it holds more than one folder.")
    return folders[0]


def signed_release(archive: Path, public: bytes) -> Release:
    """Return the release of a package that `public` signed, by its manifest alone: its files are not compared.

    For a look at an archive without unpacking it. Raises UpdateRefused.
    """
    found: dict[str, bytes] = {}
    try:
        with _Piecewise(archive) as plain, tarfile.open(fileobj=plain, mode="r:") as packed:
            left = MOST_BYTES
            for number, one in enumerate(packed):
                left -= one.size
                if left < 0 or number > MOST_FILES:
                    break
                parts = Path(one.name).parts
                if len(parts) == 2 and parts[1] in (MANIFEST, SIGNATURE) and one.isfile():
                    file = packed.extractfile(one)
                    found[parts[1]] = file.read(MOST_AT_ONCE) if file is not None else b""
                if len(found) == 2:
                    break
        if set(found) != {MANIFEST, SIGNATURE}:
            raise UpdateRefused("The package is not signed; nothing was changed.")
        return _judged(found[MANIFEST], found[SIGNATURE].decode("ascii"), public, archive / MANIFEST)
    except (tarfile.TarError, EOFError, OSError, ValueError, RecursionError, zlib.error) as error:
        if isinstance(error, UpdateRefused):
            raise
        raise UpdateRefused(f"{archive.name} is no whole release. Copy it again.") from error


class _Piecewise(gzip.GzipFile):
    """Limits the size of a read: tarfile reads a whole header, whatever its declared length."""

    def read(self, size: int | None = -1) -> bytes:
        """Read this many bytes. Raises tarfile.ReadError for more than any part of a release has."""
        if size is None or not 0 <= size <= MOST_AT_ONCE:
            raise tarfile.ReadError("a part of it is too long")
        return super().read(size)


def _members(packed: tarfile.TarFile) -> list[tarfile.TarInfo]:
    """Return a package's members; none as soon as they are too much, because listing further means unpacking."""
    found: list[tarfile.TarInfo] = []
    left = MOST_BYTES
    for one in packed:
        found.append(one)
        left -= one.size
        if left < 0 or len(found) > MOST_FILES:
            return []
    return found


def _stays_inside(name: str) -> bool:
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts


def trusted_key(path: Path) -> bytes:
    """Return the release key in a file, 32 bytes. Raises UpdateRefused."""
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise UpdateRefused(
            f"This box knows no release key ({path}); its first installation puts it there."
        ) from error
    if not _PUBLIC.fullmatch(text):
        raise UpdateRefused(f"{path} holds no release key: 64 hex digits.")
    return bytes.fromhex(text)


def _signed(folder: Path, public: bytes) -> Release:
    try:
        text = (folder / MANIFEST).read_bytes()
        signature = (folder / SIGNATURE).read_text(encoding="ascii")
    except (OSError, ValueError) as error:
        raise UpdateRefused("The package is not signed; nothing was changed.") from error
    return _judged(text, signature, public, folder / MANIFEST)


def _judged(text: bytes, written: str, public: bytes, path: Path) -> Release:
    signature = written.strip()
    if not re.fullmatch("[0-9a-f]{128}", signature) or not signed_by(public, bytes.fromhex(signature), text):
        raise UpdateRefused(
            f"The package was not signed by the release key of this box ({fingerprint(public)}). Nothing was changed."
        )
    return _parsed(text, path)


def _read_release(folder: Path) -> Release:
    path = folder / MANIFEST
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UpdateRefused(f"{path} is no release's manifest.") from error
    return _parsed(text, path)


def _parsed(text: bytes, path: Path) -> Release:
    try:
        manifest = json.loads(text)
        if manifest["format"] != FORMAT:
            raise ValueError
        programs = frozenset(map(str, manifest.get("programs", ())))  # older releases had none
        return Release(str(manifest["release"]), int(manifest["made"]), dict(manifest["files"]), programs)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UpdateRefused(f"{path} is no release's manifest.") from error


def _files(folder: Path) -> Iterator[str]:
    """Yield every file except manifest and signature. Raises UpdateRefused for anything but regular files."""
    for at, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(at) / name
            mode = path.lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise UpdateRefused(
                    f"{path.relative_to(folder)} is a link or a device; no release holds one."
                )
            if stat.S_ISREG(mode) and path not in (folder / MANIFEST, folder / SIGNATURE):
                yield str(path.relative_to(folder))


def _has_its_mode(path: Path, is_program: bool) -> bool:
    """Return whether a file is executable only if it should be, and not writable by others. A umask may remove more."""
    mode = stat.S_IMODE(path.stat().st_mode)
    return bool(mode & stat.S_IXUSR) == is_program and not mode & ~PROGRAM_MODE


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
