"""`feltwatch update` installs a release package signed by the box's release key; `feltwatch sign-release` signs one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import click

from firmware.command_options import ANY_PATH
from firmware.runtime.inbox.install_request import (
    FOLDER,
    MAY_SWITCH,
    REQUEST,
    RESULT,
    read_request,
    write_result,
)
from firmware.terminal import say
from firmware.uplink.inbox.folder import FOLDER as IN_INBOX

PIT: Final = Path(sys.prefix).is_relative_to("/opt/feltwatch-pit")
"""Whether this is the installation of a pit; of a table's box otherwise."""
BASE: Final = Path("/opt/feltwatch-pit" if PIT else "/opt/feltwatch")
TRUSTED: Final = Path("/etc/feltwatch-pit/release.pub" if PIT else "/etc/feltwatch/release.pub")
INBOX: Final = Path("/") / IN_INBOX
MAY_SWITCH_VARIABLE: Final = "FELTWATCH_MAY_SWITCH"
"""Names to the installer the file that has to lie there before it stops what runs."""
INSTALL: Final = "pit/install" if PIT else "install"
"""The installer inside a package."""


@click.command("update")
@click.argument("package", type=click.Path(path_type=Path, exists=True))
@click.option("--check", "only_check", is_flag=True, help="Check the package, and change nothing.")
@click.option("--key", type=ANY_PATH, default=TRUSTED, show_default=True, help="The release key.")
@click.option(
    "--running",
    type=ANY_PATH,
    default=BASE / "current",
    show_default=True,
    help="The installed release: an older package is refused.",
)
def command(package: Path, only_check: bool, key: Path, running: Path) -> None:
    """Install a release PACKAGE (.tar.gz, or its unpacked folder) that the release key signed. Run it as root.

    The package is copied to a folder where only root may write. There the installed release checks it, before
    anything in it runs. Unsigned, altered and older packages are refused. To go back to the release before: install
    --rollback.
    """
    from firmware.record.evidence.signing import fingerprint
    from firmware.release_package import check, trusted_key, unpack

    try:
        public = trusted_key(key)
        if package.is_dir():
            if not only_check:
                raise click.UsageError(
                    "Name the archive (.tar.gz): what lies unpacked could change under way."
                )
            release = check(package, public, running if running.exists() else None)
            say(f"Release {release.name} is signed by {fingerprint(public)} and whole.")
            return
        with tempfile.TemporaryDirectory(prefix=".update-", dir=BASE if BASE.is_dir() else None) as folder:
            unpacked = unpack(package, Path(folder))
            release = check(unpacked, public, running if running.exists() else None)
            say(f"Release {release.name} is signed by {fingerprint(public)} and whole.")
            if not only_check:
                done = subprocess.run([str(unpacked / INSTALL)], check=False)
                raise SystemExit(done.returncode)
    except PermissionError as error:
        raise click.ClickException(f"This needs root: sudo feltwatch update {package}") from error
    except OSError as error:
        raise click.ClickException(f"The package cannot be used: {error.strerror or error}.") from error


@click.command("update-asked", hidden=True)
@click.option(
    "--asked", type=ANY_PATH, default=FOLDER, show_default=True, help="The folder in which the table asks."
)
@click.option(
    "--inbox", type=ANY_PATH, default=INBOX, show_default=True, help="Where the uplink lays releases."
)
@click.option("--key", type=ANY_PATH, default=TRUSTED, show_default=True, help="The release key.")
@click.option(
    "--running", type=ANY_PATH, default=BASE / "current", show_default=True, help="The installed release."
)
@click.option("--result", type=ANY_PATH, default=RESULT, show_default=True, help="Where to say how it ended.")
def asked_command(asked: Path, inbox: Path, key: Path, running: Path, result: Path) -> None:
    """Install the release that the table asks for, with `feltwatch update`, and say how it ended.

    The service manager starts this as root (feltwatch-update.service). What is installed is stopped only while no hand
    lies on the table.
    """
    request = read_request(asked)
    (asked / REQUEST).unlink(missing_ok=True)
    if request is None:
        raise click.UsageError(f"Nothing is asked for in {asked}.")
    number, digest = request
    result.unlink(missing_ok=True)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "firmware.cli", "update", str(inbox / digest)),
            *("--key", str(key), "--running", str(running)),
        ],
        check=False,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=os.environ | {MAY_SWITCH_VARIABLE: str(asked / MAY_SWITCH)},
    )
    say(done.stderr.rstrip(), err=True)
    words = [line.removeprefix("Error: ") for line in done.stderr.splitlines() if line.startswith("Error: ")]
    why = (words[-1] if words else f"The installer ended with {done.returncode}.") if done.returncode else ""
    write_result(result, number, digest, why)
    raise SystemExit(done.returncode)


@click.command("sign-release", hidden=True)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--key-folder",
    type=ANY_PATH,
    required=True,
    envvar="FELTWATCH_RELEASE_KEY",
    help="The folder of the release key.",
)
@click.option("--made", type=int, required=True, help="The date of the sources, in seconds since 1970.")
def sign_release(folder: Path, key_folder: Path, made: int) -> None:
    """Sign the unpacked package in FOLDER with the key in --key-folder; make the key if there is none."""
    from firmware.record.evidence.signing import DeviceKey, fingerprint
    from firmware.release_package import sign

    key = DeviceKey.open(key_folder)
    release = sign(folder, key, made)
    say(f"{release.name} is signed by the release key {fingerprint(key.public)}")
