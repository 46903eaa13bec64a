"""nginx before the door: its configuration with this machine's paths."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

NGINX: Final = Path("/usr/sbin/nginx")
MODULE: Final = Path("/usr/lib/nginx/modules/ngx_stream_module.so")
"""Its module that counts connections."""
SITE: Final = Path(__file__).with_name("pit.nginx.conf")


def site(listen: str, doors: Sequence[Path], authority: Path, repository: Path, folder: Path) -> str:
    """Return nginx's whole configuration.

    `listen`: the tables' address and port; `doors`: the doors' Unix sockets; `authority`: the folder of the
    certificates; `repository`: that of the files that tables fetch; `folder`: nginx's own.
    """
    text = SITE.read_text(encoding="utf-8")
    servers = "\n        ".join(f'server "unix:{door}";' for door in doors)
    places = {
        "listen": listen,
        "doors": servers,
        "authority": authority,
        "repository": repository,
        "folder": folder,
    }
    for name, place in places.items():
        text = text.replace(f"@{name}@", str(place))
    return text


def is_installed() -> bool:
    """Return whether nginx is installed with its module."""
    return NGINX.exists() and MODULE.exists()


def command(listen: str, doors: Sequence[Path], authority: Path, repository: Path, folder: Path) -> list[str]:
    """Write the configuration and return the command that runs nginx with it. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # a killed nginx leaves it behind, and a new one would not start
    (folder / "tls.sock").unlink(missing_ok=True)
    conf = folder / "nginx.conf"
    conf.write_text(site(listen, doors, authority, repository, folder), encoding="utf-8")
    return [str(NGINX), "-e", "stderr", "-c", str(conf)]
