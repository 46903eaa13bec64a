"""nginx in front of the review of past hands: its configuration with this box's paths, on open sockets.

nginx inherits open sockets through its environment (`NGINX=3;`), as in an upgrade of its program. So the service
manager opens the port, and nginx needs no network access and no rights of its own.
"""

import ipaddress
import os
import re
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NoReturn

from dealer_ui.web.errors import PageError

NGINX: Final = Path("/usr/sbin/nginx")
MODULE: Final = Path("/usr/lib/nginx/modules/ngx_stream_module.so")
SITE: Final = Path(__file__).with_name("review.nginx.conf")
_PHOTOGRAPHS: Final = re.compile(r"^ *# photographs:.*?^ *# :photographs\n", re.DOTALL | re.MULTILINE)
"""The part of the site file that only a page has which takes photographs."""
INSIDE: Final = "tls.sock"
"""The socket between nginx's two halves, in its folder."""


class FrontError(PageError, OSError):
    """nginx cannot be started."""


def need_nginx() -> None:
    """Raise FrontError if nginx, or its module that limits connections, is not installed."""
    if not (NGINX.exists() and MODULE.exists()):
        raise FrontError(
            "nginx is not installed: sudo apt-get install --no-install-recommends nginx-light libnginx-mod-stream"
        )


def site(
    listening: Iterable[socket.socket],
    page: Path,
    certificate: Path,
    folder: Path,
    *,
    photographs: bool = False,
) -> str:
    """Return nginx's whole configuration. `page`: the page's socket; `certificate`: a folder; `folder`: nginx's own.

    `photographs`: the page takes some, each in one large request.
    """
    listen = " ".join(f"listen {in_address(*one.getsockname()[:2])};" for one in listening)
    places = {"listen": listen, "page": page, "certificate": certificate, "folder": folder}
    text = SITE.read_text(encoding="utf-8")
    for name, place in places.items():
        text = text.replace(f"@{name}@", str(place))
    return text if photographs else _PHOTOGRAPHS.sub("", text)


def begin(listening: Iterable[socket.socket], text: str, folder: Path) -> tuple[list[str], dict[str, str]]:
    """Write the configuration; return the command to run, and its environment. Raises FrontError."""
    conf = folder / "nginx.conf"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # a killed nginx leaves it behind, and a new one would not start
        (folder / INSIDE).unlink(missing_ok=True)
        conf.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FrontError(f"{folder} cannot be written: {error.strerror}.") from error
    handed = "".join(f"{one.fileno()};" for one in listening)
    return [str(NGINX), "-e", "stderr", "-c", str(conf)], {"NGINX": handed}


def become(
    listening: list[socket.socket], page: Path, certificate: Path, folder: Path, *, photographs: bool = False
) -> NoReturn:
    """Replace this process by nginx. Raises FrontError."""
    need_nginx()
    text = site(listening, page, certificate, folder, photographs=photographs)
    command, environment = begin(listening, text, folder)
    for one in listening:
        one.set_inheritable(True)
    try:
        os.execve(NGINX, command, environment)
    except OSError as error:
        raise FrontError(f"nginx cannot be started: {error.strerror}.") from error


def in_address(host: str, port: int) -> str:
    """Join an address and its port.

    >>> in_address("::", 8443), in_address("192.0.2.7", 8443)
    ('[::]:8443', '192.0.2.7:8443')
    """
    try:
        return f"[{host}]:{port}" if ipaddress.ip_address(host).version == 6 else f"{host}:{port}"
    except ValueError:
        return f"{host}:{port}"
