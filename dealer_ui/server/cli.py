"""`feltwatch ui`: serves the dealer's page."""

import ipaddress
import socket
import tomllib
from pathlib import Path
from typing import Final, Self

import click
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from firmware.command_options import ANY_PATH, PORT_NUMBER, config_option, configured_data_option
from firmware.record_folder import DATA, SOCKET
from firmware.terminal import say

TRAINING_SOCKET: Final = Path("/run/feltwatch-training/table.sock")
"""The training table's, where that runs as a service."""


class _Ui(BaseModel):
    """The page's own section of the configuration."""

    model_config = ConfigDict(extra="forbid")
    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=8013, ge=1, le=65535)
    training_port: int = Field(default=8014, ge=0, le=65535)
    """Where `feltwatch training` would answer: the page then leads to it. 0 for nowhere."""
    training_socket: Path = TRAINING_SOCKET
    answer_floor_s: float = Field(default=3.0, gt=0, le=300)
    """Seconds that the page waits for the table's answer at least; the limit follows how long answers take."""
    answer_ceiling_s: float = Field(default=30.0, gt=0, le=300)
    """The same at most. Above the table's own `times.answer`, so that its refusal still arrives."""
    export_s: float = Field(default=60.0, gt=0, le=3600)
    """Seconds that it waits for a dispute file."""
    photo: str = Field(default="", pattern=r"^(https?://[^/\s?#]+/)?$", max_length=200)
    """The address at which phones reach the page for photographs. Empty: the page *Photo* is off."""

    @model_validator(mode="after")
    def _ceiling_above_floor(self) -> Self:
        if self.answer_ceiling_s < self.answer_floor_s:
            raise ValueError("answer_ceiling_s lies below answer_floor_s; give the ceiling at least as long")
        return self


class _File(BaseModel):
    """The parts of the configuration that the page reads; the rest belongs to the table process."""

    data: Path = DATA
    ui: _Ui = _Ui()


@click.command("ui")
@config_option
@configured_data_option
@click.option(
    "--socket",
    "socket_path",
    type=ANY_PATH,
    help=f"The table process's socket.  [default: {SOCKET} in the folder of the record]",
)
@click.option("--host", help="The address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=PORT_NUMBER, help="The port to listen on.  [default: 8013]")
def command(
    config_file: Path | None, data: Path | None, socket_path: Path | None, host: str | None, port: int | None
) -> None:
    """Serve the dealer's page.

    The page reads the record and never writes to it. What the dealer touches is sent to the table process (`feltwatch
    run`). Without a running table the page shows the record and says so. If the service manager has opened the port
    already (feltwatch-ui.socket), that one is served, and --host and --port are ignored.
    """
    from dealer_ui.server.app import Settings, create_app
    from dealer_ui.web.serve import need_listening, serve
    from firmware.systemd import ServiceManager, sockets_from_manager
    from firmware.threads import end_with_its_threads

    end_with_its_threads()

    config = _config(config_file)
    folder = data or config.data
    address, number = host or config.ui.host, port or config.ui.port
    manager = ServiceManager.from_environment()
    listening = next(iter(sockets_from_manager()), None)
    if listening is not None:
        address, number = listening.getsockname()[:2]
    name = _host_header(address)
    settings = Settings(
        data=folder,
        socket=socket_path or folder / SOCKET,
        hosts=(*Settings.hosts, name),
        sibling_port=config.ui.training_port or None,
        sibling_socket=config.ui.training_socket,
        answer_floor_s=config.ui.answer_floor_s,
        answer_ceiling_s=config.ui.answer_ceiling_s,
        export_s=config.ui.export_s,
        photo=config.ui.photo,
    )
    app = create_app(settings)
    hint = "Another program may use the port; choose one with --port."
    listening = listening or need_listening("The page", address, number, hint)
    say(f"The dealer's page: http://{name}:{number}/", err=True)
    with listening:
        serve(app, listening, settings.streams, manager.alive)


def _config(path: Path | None) -> _File:
    if path is None:
        return _File()
    try:
        return _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise click.UsageError(f"The configuration {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"The configuration {path} is no TOML: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        why = first["msg"].removeprefix("Value error, ")
        raise click.UsageError(f"The configuration {path} cannot be used: {where}: {why}.") from error


def _host_header(host: str) -> str:
    """Return the host as a `Host` header writes it. Raises click.UsageError if the address is not loopback."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            _host_header(str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0]))
        except OSError as error:
            raise click.UsageError(f"{host} is no address of this machine ({error.strerror}).") from error
        return host
    if address.is_unspecified:
        raise click.UsageError(
            f"{host} would open the page on every network of this machine. Name the one address to listen on."
        )
    if not address.is_loopback:
        raise click.UsageError(
            f"{host} is on a network, and the page has neither TLS nor a log-in for one: it shows who stands at the "
            "table what a dealer sees. From another machine: ssh -L 8013:127.0.0.1:8013 BOX (docs/security.md)."
        )
    return f"[{address}]" if address.version == 6 else host
