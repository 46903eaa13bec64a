"""The address of a camera in the network. OpenCV is not loaded for it."""

from typing import Final
from urllib.parse import SplitResult, urlsplit

from firmware.devices.errors import DeviceSettings

PORTS: Final = {"http": 80, "https": 443, "rtsp": 554, "rtsps": 322}
"""The schemes that are understood, with their ports."""


def parts_of(address: str) -> SplitResult:
    """Return the parts of a camera's address. Raises DeviceSettings, whose message has no name and no password."""
    try:
        parts = urlsplit(address)
        good = parts.scheme in PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise DeviceSettings(
            "A camera's address is http://HOST:PORT/PATH or rtsp://HOST:PORT/PATH; this one is not."
        )
    return parts


def without_secrets(parts: SplitResult) -> str:
    """Return an address without name, password and query, for people and logs."""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}"
