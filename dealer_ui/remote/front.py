"""nginx before the review of past hands: the site file with this box's places put in, on sockets that are open already.

nginx takes open sockets over from its environment (`NGINX=3;`), as it does when its program is replaced. So the service
manager opens the port, and nginx needs no network and no rights of its own.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NoReturn

from dealer_ui.web.errors import PageError

NGINX: Final = Path("/usr/sbin/nginx")
MODULE: Final = Path("/usr/lib/nginx/modules/ngx_stream_module.so")
SITE: Final = Path(__file__).with_name("review.nginx.conf")
INSIDE: Final = "tls.sock"
"""The socket between nginx's two halves, in its folder."""


class FrontError(PageError, OSError):
    """nginx cannot be begun."""


def need_nginx() -> None:
    """Raise FrontError where nginx, or its part that counts connections, is not installed."""
    if not (NGINX.exists() and MODULE.exists()):
        raise FrontError(
            "nginx is not installed: sudo apt-get install --no-install-recommends nginx-light libnginx-mod-stream"
        )


def site(listening: Iterable[socket.socket], page: Path, certificate: Path, folder: Path) -> str:
    """Return nginx's whole configuration. `page`: the page's socket; `certificate`: a folder; `folder`: nginx's own."""
    listen = " ".join(f"listen {in_address(*one.getsockname()[:2])};" for one in listening)
    places = {"listen": listen, "page": page, "certificate": certificate, "folder": folder}
    text = SITE.read_text(encoding="utf-8")
    for name, place in places.items():
        text = text.replace(f"@{name}@", str(place))
    return text


def begin(listening: Iterable[socket.socket], text: str, folder: Path) -> tuple[list[str], dict[str, str]]:
    """Write the configuration; return the command to be run then, and its environment. Raises FrontError."""
    conf = folder / "nginx.conf"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / INSIDE).unlink(
            missing_ok=True
        )  # nginx that was killed leaves it, and would not begin again
        conf.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FrontError(f"{folder} cannot be written: {error.strerror}.") from error
    handed = "".join(f"{one.fileno()};" for one in listening)
    return [str(NGINX), "-e", "stderr", "-c", str(conf)], {"NGINX": handed}


def become(listening: list[socket.socket], page: Path, certificate: Path, folder: Path) -> NoReturn:
    """Be nginx from now on. Raises FrontError."""
    need_nginx()
    command, environment = begin(listening, site(listening, page, certificate, folder), folder)
    for one in listening:
        one.set_inheritable(True)
    try:
        os.execve(NGINX, command, environment)
    except OSError as error:
        raise FrontError(f"nginx cannot be begun: {error.strerror}.") from error


def in_address(host: str, port: int) -> str:
    """Return an address and its port as they are written together.

    >>> in_address("::", 8443), in_address("192.0.2.7", 8443)
    ('[::]:8443', '192.0.2.7:8443')
    """
    try:
        return f"[{host}]:{port}" if ipaddress.ip_address(host).version == 6 else f"{host}:{port}"
    except ValueError:
        return f"{host}:{port}"
