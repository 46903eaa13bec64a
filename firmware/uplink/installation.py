"""Installs an enrolment on this table, and opens the uplink's way to the pit and to nothing else.

Root does it, in folders of the uplink's user, whose program speaks to the network. So nothing there is trusted: only
plain files are read, each once, and no link is followed.
"""

import os
import pwd
import socket
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from firmware.record.journal.disk import read_plain, write_private, write_whole
from firmware.uplink.errors import UplinkError
from firmware.uplink.settings import (
    AUTHORITY,
    CERTIFICATE,
    FILE,
    HOUSE,
    KEY,
    LOG,
    Settings,
    in_address,
    load,
    text_of,
)

USER: Final = "feltwatch-uplink"
MAX_BYTES: Final = 64 << 10
"""Bytes of a file of an enrolment; each has a few thousand at most."""


def install_enrolment(source: Path, folder: Path, drop_in: Path) -> tuple[str, ...]:
    """Copy the enrolment in `source` to `folder`, and let the service reach its pit; return the pit's addresses.

    Names become numbers here: the service can ask no name server. Everything is checked before anything is written.
    Raises UplinkError.
    """
    files = _files(source)
    if FILE not in files:
        raise UplinkError(
            "There is no enrolment in %(folder)s: it has no %(file)s.", folder=source, file=FILE
        )
    addresses = _check(files)
    try:
        folder.mkdir(mode=0o750, parents=True, exist_ok=True)
        for name in (KEY, CERTIFICATE, AUTHORITY):
            _write(folder / name, files[name])
        for name in (HOUSE, LOG):
            (folder / name).unlink(missing_ok=True)
            if name in files:  # an enrolment that an earlier pit wrote has none
                # the table checks with it what came from the pit
                _write(folder / name, files[name], mode=0o644)
        drop_in.parent.mkdir(parents=True, exist_ok=True)
        hosts = " ".join(dict.fromkeys(host for host, _ in addresses))
        write_whole(drop_in, f"[Service]\nIPAddressAllow={hosts}\n".encode())
        drop_in.chmod(0o644)
        shown = tuple(in_address(host, port) for host, port in addresses)
        # Last: where it lies, the table is enrolled.
        _write(folder / FILE, text_of(shown).encode())
    except OSError as error:
        raise UplinkError(
            "The enrolment cannot be put into %(folder)s (%(why)s). Run this as root.",
            folder=folder,
            why=error,
        ) from error
    return shown


def _files(source: Path) -> dict[str, bytes]:
    """Return the existing files of an enrolment. Raises UplinkError for anything except a regular file."""
    found: dict[str, bytes] = {}
    try:
        folder = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            for name in (KEY, CERTIFICATE, AUTHORITY, HOUSE, LOG, FILE):
                with suppress(FileNotFoundError):
                    found[name] = read_plain(name, MAX_BYTES, folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise UplinkError("%(path)s cannot be read (%(why)s).", path=str(source), why=error) from error
    return found


def _check(files: dict[str, bytes]) -> list[tuple[str, int]]:
    """Return the addresses of an enrolment that can be used. What is checked is what is written. Raises UplinkError."""
    with TemporaryDirectory(prefix="feltwatch-enrol-") as own:
        for name, data in files.items():
            write_private(Path(own) / name, data)
        settings = load(Path(own))
        assert settings is not None
        settings.context()
        settings.log()
    return _numbers(settings)


def _numbers(settings: Settings) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for host, port in settings.addresses:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise UplinkError(
                "The address of the pit, %(host)s, cannot be found (%(why)s). Enrol the table with its number.",
                host=host,
                why=error,
            ) from error
        found += [(str(answer[4][0]), port) for answer in answers]
    return list(dict.fromkeys(found))


def _write(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a file for the uplink's user."""
    owner = None
    if os.geteuid() == 0:
        with suppress(KeyError):  # a machine without our users: a test's
            owner = pwd.getpwnam(USER).pw_uid, 0
    write_private(path, data, mode=mode, owner=owner)
