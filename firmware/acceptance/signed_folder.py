"""The signature of a report's folder: a list of its files' SHA-256, signed with the key that signs the record."""

import hashlib
import json
from pathlib import Path
from typing import Final

from firmware.acceptance.run_file import RunFile
from firmware.record.evidence.dispute_verifier import MANIFEST, SIGNATURE
from firmware.record.evidence.signing import DeviceKey, fingerprint, signed_by

_WHAT: Final = "feltwatch acceptance"


def sign_folder(run: RunFile, key: DeviceKey) -> None:
    """List every file of the run and sign the list. Raises RunUnusable, OSError."""
    manifest = {"what": _WHAT, "device": key.public.hex(), "files": _hashes(run.folder)}
    text = (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode()
    run.write(MANIFEST, text)
    run.write(SIGNATURE, key.sign(text).hex().encode())


def unsign_folder(folder: Path) -> None:
    """Remove a signature that no longer holds, or that nobody could renew. Raises OSError."""
    for name in (SIGNATURE, MANIFEST):
        (folder / name).unlink(missing_ok=True)


def check_folder(folder: Path) -> tuple[str, list[str]]:
    """Return the signing key in hex, and everything that is wrong with a report's folder; none: it holds."""
    try:
        text = (folder / MANIFEST).read_bytes()
        signature = bytes.fromhex((folder / SIGNATURE).read_text(encoding="ascii").strip())
        manifest = json.loads(text)
        device, files = str(manifest["device"]), dict(manifest["files"])
        public = bytes.fromhex(device)
        is_signed = manifest["what"] == _WHAT and len(public) == 32 and signed_by(public, signature, text)
    except FileNotFoundError as error:
        return "", [f"NOT signed: there is no {Path(error.filename).name}."]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return "", [f"The list of files cannot be read: {error}."]
    if not is_signed:
        return "", [f"{MANIFEST} was not signed by the key that it names."]
    here = _hashes(folder)
    wrong = [f"{name} is missing." for name in sorted(files.keys() - here.keys())]
    wrong += [f"{name} was added." for name in sorted(here.keys() - files.keys())]
    wrong += [f"{name} was changed." for name in sorted(files) if here.get(name, files[name]) != files[name]]
    return device, wrong


def words_of(device: str) -> str:
    """Return a key in words, to be compared by people."""
    return fingerprint(bytes.fromhex(device))


def _hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file, without the list itself. Raises OSError."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name not in (MANIFEST, SIGNATURE) and not path.name.startswith(".")
    }
