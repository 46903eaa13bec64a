"""Where the pit is, and who this table is to it: the files of an enrolment. Without them the uplink is off."""

import json
import re
import ssl
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from firmware.uplink.errors import UplinkError

FILE: Final = "uplink.toml"
CERTIFICATE: Final = "table.crt"
KEY: Final = "table.key"
AUTHORITY: Final = "pit.crt"
HOUSE: Final = "house.pub"
"""The house's public key, 64 hex digits: what comes from the pit is signed with its other half."""
LOG: Final = "log.pub"
"""The public key of the pit's log, 64 hex digits: no other log is cosigned."""
_HOST: Final = re.compile(r"[0-9a-zA-Z._:%-]{1,253}")
_NO_CHECK_TIME: Final = 0x200000
"""X509_V_FLAG_NO_CHECK_TIME of OpenSSL: a Raspberry Pi without a clock battery may be years off."""


@dataclass(frozen=True)
class Settings:
    """An enrolment: the pit's addresses, in the order in which they are tried, and the folder of the certificates."""

    addresses: tuple[tuple[str, int], ...]
    folder: Path

    def log(self) -> bytes | None:
        """Return the key of the pit's log; None in an enrolment that an earlier pit wrote. Raises UplinkError."""
        path = self.folder / LOG
        try:
            key = bytes.fromhex(path.read_text(encoding="ascii"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise UplinkError("%(path)s cannot be read (%(why)s).", path=str(path), why=str(error)) from error
        if len(key) != 32:
            raise UplinkError("%(path)s cannot be read (%(why)s).", path=str(path), why=f"{len(key)} bytes")
        return key

    def context(self) -> ssl.SSLContext:
        """Return the TLS settings: this table's certificate, and the pit's authority alone, whose dates do not count.

        Raises UplinkError.
        """
        context = bare_context()
        try:
            context.load_verify_locations(self.folder / AUTHORITY)
            context.load_cert_chain(self.folder / CERTIFICATE, self.folder / KEY)
        except (OSError, ssl.SSLError) as error:
            raise UplinkError(
                "The enrolment in %(folder)s cannot be used (%(why)s). Enrol the table again.",
                folder=str(self.folder),
                why=error.strerror or str(error),
            ) from error
        return context


def bare_context() -> ssl.SSLContext:
    """Return TLS settings that believe no authority yet, and check no dates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = (
        False  # a pit has no name that its tables could check; its authority signs for one house
    )
    context.verify_flags |= _NO_CHECK_TIME
    return context


def load(folder: Path) -> Settings | None:
    """Return the enrolment in a folder, None where the table is not enrolled. Raises UplinkError."""
    path = folder / FILE
    try:
        written: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UplinkError("%(path)s cannot be read (%(why)s).", path=str(path), why=str(error)) from error
    addresses = written.get("pit")
    if not isinstance(addresses, list) or not addresses or not all(isinstance(one, str) for one in addresses):
        raise UplinkError('%(path)s needs a line such as pit = ["pit.local:8443"].', path=str(path))
    return Settings(tuple(_address(one, path) for one in addresses), folder)


def _address(text: str, path: Path) -> tuple[str, int]:
    host, port = split_address(text) or ("", None)
    if not host or not port:
        raise UplinkError("%(path)s: %(text)s is no address with a port.", path=str(path), text=repr(text))
    return host, port


def split_address(text: str) -> tuple[str, int | None] | None:
    """Return host and port of an address; None where it is none.

    >>> split_address("[::1]:8443"), split_address("pit.local"), split_address("pit:x")
    (('::1', 8443), ('pit.local', None), None)
    """
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host or port == 0 or parts.netloc != text or "@" in text or not _HOST.fullmatch(host):
        return None
    return host, port


def in_address(host: str, port: int) -> str:
    """Join a host and its port.

    >>> in_address("::1", 8443), in_address("pit.local", 8443)
    ('[::1]:8443', 'pit.local:8443')
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def text_of(addresses: Iterable[str]) -> str:
    """Return the text of `FILE` for these addresses."""
    return f"pit = {json.dumps(list(addresses))}\n"
