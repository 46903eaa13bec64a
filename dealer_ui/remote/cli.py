"""`feltwatch review`: past hands for other machines, over TLS; who may look, and the box's certificate."""

from __future__ import annotations

import logging
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from firmware.command_options import FOLDER, PORT_NUMBER, data_option_unopened
from firmware.terminal import say, say_json

if TYPE_CHECKING:
    from dealer_ui.web.tls import Certificate

T = TypeVar("T")
SECRETS: Final = Path("/var/lib/feltwatch-review")
"""The folder of the certificate, its key and the people who may log in: outside the record."""
PORT: Final = 8443
PAGE: Final = Path("/run/feltwatch-review.sock")
"""The Unix socket at which nginx finds the page."""
SOON_DAYS: Final = 30
"""With fewer days left, the command says that the certificate is soon over."""

_secrets_option = click.option(
    "--secrets",
    envvar="FELTWATCH_REVIEW",
    type=FOLDER,
    default=SECRETS,
    help="The folder of the certificate and of the people who may log in.",
)
_page_option = click.option(
    "--page",
    type=click.Path(path_type=Path, readable=False),
    default=PAGE,
    help="The Unix socket between nginx and the page.",
)
_json_option = click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")


@click.group("review")
def command() -> None:
    """Show past hands to other machines, over TLS and after a log-in. By default this is off.

    \b
        sudo feltwatch review add "Ines Moreno"
        sudo systemctl enable --now feltwatch-review.socket

    Then open https://BOX:8443/ on any machine of the house's network, and compare the certificate's fingerprint once.
    Only finished hands are shown, and nothing can be changed there.
    """


@command.command("serve")
@data_option_unopened
@_page_option
@_secrets_option
def serve_command(data: Path, page: Path, secrets: Path) -> None:
    """Serve past hands to nginx, on a Unix socket, until stopped.

    If the service manager has opened the socket already (feltwatch-review-page.socket), that one is served, and
    --page is ignored.
    """
    from dealer_ui.remote.app import create_app
    from dealer_ui.web.serve_behind_nginx import serve, socket_at
    from dealer_ui.web.tls import need_usable
    from firmware.systemd import sockets_from_manager
    from firmware.threads import end_with_its_threads

    end_with_its_threads()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    shown = need_usable(secrets)
    with closing(next(iter(sockets_from_manager()), None) or socket_at(page)) as listening:
        _print_certificate(shown, err=True)
        serve(create_app(data, secrets), listening)


@command.command("front")
@click.option(
    "--listen", default="127.0.0.1", metavar="ADDRESS", help="The address of this machine to listen on."
)
@click.option("--port", type=PORT_NUMBER, default=PORT, help="The port to be reached at.")
@_page_option
@click.option(
    "--certificate",
    envvar="CREDENTIALS_DIRECTORY",
    type=FOLDER,
    default=SECRETS,
    help="The folder of the certificate and its key.",
)
@click.option("--photographs", is_flag=True, help="The page takes photographs (`feltwatch photo-page`).")
@click.option(
    "--folder",
    envvar="RUNTIME_DIRECTORY",
    type=FOLDER,
    help="A folder for nginx's own files; without it, a new one.",
)
def front(
    listen: str, port: int, page: Path, certificate: Path, photographs: bool, folder: Path | None
) -> None:
    """Start nginx in front of `feltwatch review serve`, for TLS, limits and slow clients. This process becomes nginx.

    If the service manager has opened the port already (feltwatch-review.socket), that one is served, and --listen and
    --port are ignored.
    """
    from dealer_ui.remote.front import become, in_address
    from dealer_ui.web.serve import need_listening
    from firmware.systemd import sockets_from_manager

    hint = "Name an address of this machine with --listen, a free port with --port."
    listening = sockets_from_manager() or [need_listening("The review", listen, port, hint)]
    for one in listening:
        say(
            f"{'Photographs' if photographs else 'Past hands'}: https://{in_address(*one.getsockname()[:2])}/",
            err=True,
        )
    own = folder or Path(tempfile.mkdtemp(prefix="feltwatch-front-"))
    become(listening, page.absolute(), certificate.absolute(), own.absolute(), photographs=photographs)


@command.command("add")
@click.argument("name")
@_secrets_option
def add(name: str, secrets: Path) -> None:
    """Let NAME log in, or give NAME another passphrase: 12 letters or more.

    The passphrase is asked for and never shown. Where the input is no terminal, its next line is taken. The
    box's certificate is made if there is none yet.
    """
    from dealer_ui.remote.access import RemotePeople
    from dealer_ui.web.tls import certificate

    asked = _ask(f"New passphrase for {name}")
    name = RemotePeople(secrets).add(name, asked)
    say(f"{name} may look at past hands.")
    _print_certificate(certificate(secrets))


def _ask(text: str) -> str:
    if sys.stdin.isatty():
        return str(click.prompt(text, hide_input=True, confirmation_prompt=True))
    return sys.stdin.readline().rstrip("\n")


@command.command("remove")
@click.argument("name")
@_secrets_option
def remove(name: str, secrets: Path) -> None:
    """Take NAME's access away; sessions of NAME end at once."""
    from dealer_ui.remote.access import RemotePeople

    RemotePeople(secrets).remove(name)
    say(f"{name} may look no more.")


@command.command("list")
@_secrets_option
@_json_option
def list_people(secrets: Path, is_json: bool) -> None:
    """Show who may log in."""
    from dealer_ui.remote.access import RemotePeople

    names = RemotePeople(secrets).names()
    if is_json:
        say_json({"people": names})
        return
    if not names:
        say("Nobody may look. Begin with: sudo feltwatch review add NAME")
    for name in names:
        say(name)


class _CertificateCommands(click.Group):
    """Refuses its options without a command, as older releases took them, and names both commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names):
            raise click.UsageError(
                "`feltwatch review certificate show` shows the certificate, "
                "`feltwatch review certificate make` makes one: say which.",
                ctx,
            )
        return super().parse_args(ctx, args)


@command.group("certificate", cls=_CertificateCommands)
def certificate_commands() -> None:
    """Show or make the box's certificate, by which browsers know the box."""


@certificate_commands.command("show")
@_secrets_option
@_json_option
def show_certificate(secrets: Path, is_json: bool) -> None:
    """Show the certificate and its fingerprint."""
    from dealer_ui.web.tls import read_certificate

    _tell_certificate(read_certificate(secrets), is_json=is_json)


@certificate_commands.command("make")
@click.option(
    "--again", is_flag=True, help="Make another certificate, with another key. Every browser asks again."
)
@click.option(
    "--name", "names", multiple=True, help="Another name or address of the box; may be given more than once."
)
@_secrets_option
@_json_option
def make_certificate(again: bool, names: tuple[str, ...], secrets: Path, is_json: bool) -> None:
    """Make the certificate with its key, if there is none yet, and show it."""
    from dealer_ui.web.tls import certificate

    if names and not again and (secrets / "tls.crt").exists():
        raise click.UsageError("There is a certificate; with --again another is made, by these names too.")
    try:
        shown = certificate(secrets, names, again=again)
    except ValueError as error:  # a name that no certificate can hold
        raise click.UsageError(str(error)) from error
    _tell_certificate(shown, is_json=is_json)
    if again and not is_json:
        say("Where the review is open it goes on with the old one until: systemctl restart feltwatch-review")


def _tell_certificate(shown: Certificate, *, is_json: bool) -> None:
    if is_json:
        say_json({"names": shown.names, "sha256": shown.fingerprint, "ends": shown.ends.isoformat()})
    else:
        _print_certificate(shown)


def _print_certificate(shown: Certificate, *, err: bool = False) -> None:
    say(f"The certificate is for {', '.join(shown.names)}, until {shown.ends:%Y-%m-%d}.", err=err)
    say(f"SHA-256 {shown.fingerprint}", err=err)
    if shown.days_left() < SOON_DAYS:
        say("It is soon over. Make another: sudo feltwatch review certificate make --again", err=True)
