"""A dispute file on a page: its hash and its signing key in words, also as a QR code."""

import hashlib
import json
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import segno
from markupsafe import Markup

from dealer_ui.web.services import services
from firmware.record.dispute_file import export_path
from firmware.record.evidence.dispute_verifier import MANIFEST
from firmware.record.evidence.signing import fingerprint


@dataclass(frozen=True)
class DisputeFile:
    """A dispute file that the table has made."""

    hand: int
    name: str
    bytes: int
    sha256: str
    key_words: str
    """The words of the key that signed it; "?" if the file does not say."""

    @property
    def text(self) -> str:
        """The text of the QR code, in characters that keep it small."""
        return f"FELTWATCH HAND {self.hand} SHA256 {self.sha256} KEY {self.key_words}".upper()

    @property
    def qr(self) -> Markup:
        """The QR code, as an SVG that scales with its container."""
        code = segno.make_qr(self.text, error="m")
        return Markup(code.svg_inline(border=4, omitsize=True, light="#fff", dark="#000"))


def record_folder() -> Path:
    """Return the folder of the record."""
    return services().captures.folder.parent


def plain_file(folder: Path, hand: int) -> Path:
    """Return the path of a hand's dispute file. Raises OSError for a link: the table makes none."""
    path = export_path(folder, hand)
    if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
        raise FileNotFoundError(path)  # a link could expose another file
    return path


def find_dispute_file(folder: Path, hand: int) -> DisputeFile | None:
    """Return a hand's dispute file; None if there is no readable one."""
    try:
        path = plain_file(folder, hand)
        found = path.stat()
        return _read_dispute_file(path, hand, found.st_mtime_ns, found.st_size)
    except OSError:
        return None


@lru_cache(maxsize=8)
def _read_dispute_file(path: Path, hand: int, _changed: int, size: int) -> DisputeFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return DisputeFile(hand, path.name, size, digest, _words(path))


def _words(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as packed:
            return fingerprint(bytes.fromhex(json.loads(packed.read(MANIFEST))["key"]))
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError):
        return "?"
