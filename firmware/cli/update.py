"""`feltwatch update` installs a release that the maker signed; `feltwatch sign-release` is the maker's."""

import errno
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
from firmware.uplink.inbox.requests import FOLDER as IN_INBOX

PIT: Final = Path(sys.prefix).is_relative_to("/opt/feltwatch-pit")
"""Whether this is the installation of a pit; of a table's box otherwise."""
BASE: Final = Path("/opt/feltwatch-pit" if PIT else "/opt/feltwatch")
ROOT_FILE: Final = Path("/etc/feltwatch-pit/root.json" if PIT else "/etc/feltwatch/root.json")
INBOX: Final = Path("/") / IN_INBOX
MAY_SWITCH_VARIABLE: Final = "FELTWATCH_MAY_SWITCH"
"""Names to the installer the file that has to lie there before it stops what runs."""
VERIFIED_VARIABLE: Final = "FELTWATCH_VERIFIED"
"""Tells the installer that its package was verified before it was run."""
INSTALL: Final = "pit/install" if PIT else "install"
"""The installer inside a package."""
KEY_FOLDER: Final = Path.home() / ".config/feltwatch-release"
_PULLED: Final = (errno.EIO, errno.ENODEV, errno.ENXIO, errno.ESHUTDOWN)
"""What reading says of a stick that is not there any more."""

_base = click.option("--base", type=ANY_PATH, default=BASE, help="Where releases are.")
_root = click.option("--root", type=ANY_PATH, default=ROOT_FILE, help="The maker's root, trusted already.")


@click.command("update")
@click.argument("source", type=click.Path(path_type=Path, exists=True), required=False)
@click.option("--from-stick", is_flag=True, help="Take the release from the USB stick in the box.")
@click.option(
    "--release", "sha256", help="The SHA-256 of the archive to take.  [default: the newest release]"
)
@click.option("--check", "only_check", is_flag=True, help="Check the release, and change nothing.")
@click.option(
    "--machine",
    default=platform.machine(),
    show_default=False,
    help="With --check: check the release of another one.",
)
@click.option(
    "--disks", type=ANY_PATH, default="/sys/block", hidden=True, help="Where the kernel lists disks."
)
@click.option("--devices", type=ANY_PATH, default="/dev", hidden=True, help="Where their devices lie.")
@_root
@_base
def command(
    source: Path | None,
    from_stick: bool,
    sha256: str | None,
    only_check: bool,
    machine: str,
    disks: Path,
    devices: Path,
    root: Path,
    base: Path,
) -> None:
    """Install a release that the maker signed, from the folder SOURCE with maker/ and targets/. Run it as root.

    SOURCE is what `make release` leaves in dist/repository, wherever it was carried to. With --from-stick it is found
    on the USB stick, which is mounted read-only for this alone. What is not signed, has expired, does not fit on the
    disk, is for another machine or older than what ran here is refused before a byte of it is used. To go back to the
    release before: install --rollback.
    """
    from firmware.update import install
    from firmware.update.files import read_plain
    from firmware.update.release import MAKER
    from firmware.update.trust import MAKER_NAME, MAX_ROOT, Trust, folder_files

    if (source is None) != from_stick:
        raise click.UsageError("Name the folder of the release, or give --from-stick: one of the two.")
    if source and not (source / MAKER).is_dir():
        raise click.UsageError(
            f"{source} has no folder maker/. Name the whole folder, such as dist/repository."
        )
    if machine != platform.machine() and not only_check:
        raise click.UsageError("--machine is for --check.")
    try:
        anchor = read_plain(root, MAX_ROOT)
    except FileNotFoundError as error:
        raise click.UsageError(f"{root} is missing; the first installation puts it there.") from error
    try:
        with tempfile.TemporaryDirectory(prefix=".update-", dir=None if only_check else base) as made:
            folder, trusted = Path(made), base / install.TRUSTED
            if only_check:
                trusted = _copy(trusted, folder)
            with ExitStack() as stick:
                where = source or stick.enter_context(_on_stick(disks, devices))
                trust = Trust(trusted, anchor, who=MAKER_NAME)
                release = install.choose(trust.refresh(folder_files(where / MAKER)), machine, sha256)
                install.refuse_older(release, install.latest_started(base))
                if only_check:
                    install.check_files(where, release)
                else:
                    install.check_room(base, release)
                    install.fetch(where, release, folder / "archive")
            say(f"Release {release.name} for {release.machine} is whole, and signed by {trust.words}.")
            if only_check:
                return
            unpacked = install.unpack(folder / "archive", release)
            if from_stick:
                say("The stick is not needed any more.")
            done = subprocess.run(
                [str(unpacked / INSTALL)], check=False, env=os.environ | {VERIFIED_VARIABLE: "yes"}
            )
            if done.returncode == 0:
                install.note_started(base, release)
    except PermissionError as error:
        raise click.ClickException(
            f"This needs root: sudo feltwatch update {source or '--from-stick'}"
        ) from error
    except OSError as error:
        if from_stick and error.errno in _PULLED:
            raise click.ClickException(
                "The stick was taken out too early, or it fails. Nothing was changed. Put it in again, and try again."
            ) from error
        raise click.ClickException(f"The release cannot be used: {error.strerror or error}.") from error
    raise SystemExit(done.returncode)


@contextmanager
def _on_stick(disks: Path, devices: Path) -> Iterator[Path]:
    """Mount the partition of the stick that carries releases; return their folder. Raises click.UsageError, OSError."""
    from firmware.runtime.sticks.disks import BlockStick, StickWriteError, find_stick
    from firmware.update.release import MAKER

    try:
        stick = find_stick(disks, devices, write=False)
    except StickWriteError as error:
        raise click.UsageError(str(error)) from error
    if stick is None:
        raise click.UsageError("There is no stick in the box. Put it in, wait a moment, and try again.")
    for node in stick.nodes:
        with ExitStack() as mounts:
            try:
                folder = mounts.enter_context(BlockStick((node,)).mounted(write=False))
            except StickWriteError:  # another partition may have a file system of ours
                continue
            inside = sorted(path for path in folder.iterdir() if path.is_dir())
            found = [path for path in (folder, *inside) if (path / MAKER).is_dir()]
            if len(found) > 1:
                names = ", ".join(path.name for path in found if path != folder)
                raise click.UsageError(f"The stick has more than one folder of releases: {names}. Leave one.")
            if found:
                yield found[0]
                return
    raise click.UsageError(
        "There is no release on the stick. Copy the whole folder dist/repository onto it, with FAT, exFAT or ext4."
    )


def _copy(trusted: Path, folder: Path) -> Path:
    """Copy what was verified before, so that it stays as it is."""
    copy = folder / trusted.name
    try:
        shutil.copytree(trusted, copy, symlinks=True)
    except (OSError, shutil.Error):
        shutil.rmtree(copy, ignore_errors=True)
        say("Whether it is older than what was seen before is not known here.", err=True)
    return copy


@click.command("update-asked", hidden=True)
@click.option("--asked", type=ANY_PATH, default=FOLDER, help="The folder in which the table asks.")
@click.option("--inbox", type=ANY_PATH, default=INBOX, help="Where the uplink lays releases.")
@click.option("--result", type=ANY_PATH, default=RESULT, help="Where to say how it ended.")
@_root
@_base
def asked_command(asked: Path, inbox: Path, result: Path, root: Path, base: Path) -> None:
    """Install the release that the table asks for, with `feltwatch update`, and say how it ended.

    The service manager starts this as root (feltwatch-update.service). What is installed is stopped only while no hand
    lies on the table.
    """
    request = read_request(asked / REQUEST)
    (asked / REQUEST).unlink(missing_ok=True)
    if request is None:
        raise click.UsageError(f"Nothing is asked for in {asked}.")
    result.unlink(missing_ok=True)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "firmware.cli", "update", str(inbox), "--release", request.sha256),
            *("--root", str(root), "--base", str(base)),
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
    write_result(result, request, why)
    raise SystemExit(done.returncode)


@click.command("sign-release", hidden=True)
@click.argument("archive", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=False)
@click.option("--into", type=ANY_PATH, help="The repository's folder: what is carried to a box.")
@click.option("--made", type=int, help="The date of the sources, in seconds since 1970.")
@click.option("--machine", default=platform.machine(), help="As uname says.")
@click.option(
    "--name",
    default="",
    show_default=False,
    help="The release's name, where the file is no archive that says it.",
)
@click.option("--beside", type=ANY_PATH, multiple=True, help="A file that is signed with it.")
@click.option("--root-to", type=ANY_PATH, help="Write the maker's root there, for a package.")
@click.option("--new-key", type=ANY_PATH, help="Hand over to a new key, made in this new folder.")
@click.option(
    "--key-folder",
    type=ANY_PATH,
    default=KEY_FOLDER,
    envvar="FELTWATCH_RELEASE_KEY",
    help="The folder of the release key and of what it signed.",
)
def sign_release(
    archive: Path | None,
    into: Path | None,
    made: int | None,
    machine: str,
    name: str,
    beside: tuple[Path, ...],
    root_to: Path | None,
    new_key: Path | None,
    key_folder: Path,
) -> None:
    """Sign ARCHIVE as a release, into the folder --into. The first use makes the key.

    Without ARCHIVE all that was named is signed again for 400 days.
    """
    from firmware.record.evidence.signing import DeviceKey, fingerprint
    from firmware.update import release
    from firmware.update.repository import Repository

    if new_key is not None:
        release.change_key(key_folder, new_key)
        key_folder = new_key
    key = DeviceKey.open(key_folder)
    words = fingerprint(key.public)
    if root_to is not None:
        root_to.write_bytes(Repository(key_folder / release.MAKER, key, key, release.LASTS).anchor)
        return
    if archive is not None:
        if into is None or made is None:
            raise click.UsageError("An archive needs --into and --made.")
        target = release.sign_release(
            archive, into, key_folder, made=made, machine=machine, name=name, beside=beside
        )
        say(f"{target.about['release']} is signed by the release key {words}")
        return
    if new_key is None:
        release.sign_again(key_folder)
    if into is not None:
        release.lay_metadata(key_folder, into)
    say(f"All releases are signed by the release key {words}. The new signatures: {into or key_folder}/maker")
