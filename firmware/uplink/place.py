"""Puts an enrolment in its place on this table, and opens the uplink's way to the pit and to nothing else."""

from __future__ import annotations

import os
import shutil
import socket
from contextlib import suppress
from pathlib import Path
from typing import Final

from firmware.record.journal.disk import write_whole
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


def place(source: Path, folder: Path, drop_in: Path) -> tuple[str, ...]:
    """Copy the enrolment in `source` to `folder`, and let the service reach its pit; return the pit's addresses.

    Names become numbers here: the service can ask no name server. Everything is checked before anything is written.
    Raises UplinkError.
    """
    settings = load(source)
    if settings is None:
        raise UplinkError(
            "There is no enrolment in %(folder)s: it has no %(file)s.", folder=source, file=FILE
        )
    settings.context()
    settings.log()
    addresses = _numbers(settings)
    try:
        folder.mkdir(mode=0o750, parents=True, exist_ok=True)
        for name in (KEY, CERTIFICATE, AUTHORITY):
            _write(folder / name, (source / name).read_bytes())
        for name in (HOUSE, LOG):
            (folder / name).unlink(missing_ok=True)
            if (source / name).exists():  # an enrolment that an earlier pit wrote has none
                _write(folder / name, (source / name).read_bytes())
                (folder / name).chmod(0o644)  # the table checks with it what came from the pit
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


def _write(path: Path, data: bytes) -> None:
    """Write a file for the uplink's user alone."""
    before = os.umask(0o077)
    try:
        write_whole(path, data)
    finally:
        os.umask(before)
    if os.geteuid() == 0:
        with suppress(LookupError):  # a machine without our users: a test's
            shutil.chown(path, USER, "root")
