"""Looks into a card's image, as it lies there: partitions, what starts, no secret, nothing that only one box may have.

    python -m tests.image.check IMAGE

`make image` ends with it. Needs no root: the partitions are read with mtools, unsquashfs and debugfs.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import click

MAX_BYTES: Final = 2_000_000_000
SECTOR: Final = 512
BOOT_FILES: Final = {
    *("start4.elf", "fixup4.dat", "bcm2712-rpi-5-b.dtb", "config.txt", "cmdline.txt"),
    *("vmlinuz-16k", "initrd-16k.img", "vmlinuz-4k", "initrd-4k.img"),
}
MUST_START: Final = (
    "etc/systemd/system/multi-user.target.wants/feltwatch.target",
    "etc/systemd/system/multi-user.target.wants/card-technician.service",
    "etc/systemd/system/sysinit.target.wants/systemd-timesyncd.service",
    "etc/systemd/system/multi-user.target.wants/systemd-networkd.service",
)
MAY_NOT_BE: Final = (
    "etc/ssh",
    "usr/sbin/sshd",
    "var/lib/systemd/random-seed",
    "etc/systemd/system/feltwatch.target.wants",
)
LOOKED_THROUGH: Final = (
    "etc",
    "opt",
    "var",
    "root",
    "home",
    "usr/local",
    "usr/lib/card",
    "usr/lib/systemd/system",
)
SECRET: Final = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\r?\n[A-Za-z0-9+/=\r\n]{40}")
SECRET_NAMES: Final = re.compile(
    r"(?:^|/)(?:id_(?:rsa|ed25519|ecdsa)|.*\.(?:key|p12|pfx)|\.bash_history|\.netrc)$"
)


def partitions(image: Path) -> list[dict[str, int]]:
    """Return the partitions' starts and sizes in bytes."""
    said = subprocess.run(["sfdisk", "--json", image], capture_output=True, check=True).stdout
    table = json.loads(said)["partitiontable"]
    return [{"start": one["start"] * SECTOR, "size": one["size"] * SECTOR} for one in table["partitions"]]


def problems(image: Path) -> Iterator[str]:
    """Yield a sentence for everything that is not as it must be."""
    found = partitions(image)
    size = image.stat().st_size
    if len(found) != 4:
        yield f"It has {len(found)} partitions, not 4."
        return
    if size > MAX_BYTES:
        yield f"It has {size} bytes, more than {MAX_BYTES}."
    if any(this["start"] + this["size"] > after["start"] for this, after in pairwise(found)):
        yield "Two partitions overlap."
    listed = subprocess.run(
        ["mdir", "-b", "-i", f"{image}@@{found[0]['start']}", "::/"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    missing = BOOT_FILES - {line.removeprefix("::/") for line in listed.split()}
    if missing:
        yield f"The boot partition lacks {', '.join(sorted(missing))}."
    with tempfile.TemporaryDirectory(prefix="feltwatch-card-") as folder:
        root = Path(folder) / "root"
        wanted = [*LOOKED_THROUGH, "usr/sbin", "boot"]
        subprocess.run(
            ["unsquashfs", "-quiet", "-no-progress", "-no-xattrs", "-ignore-errors"]
            + ["-offset", str(found[1]["start"]), "-dest", root, image, *wanted],
            check=False,
            capture_output=True,
        )
        yield from of_root(root)
        system = Path(folder) / "system.ext4"
        with image.open("rb") as whole:
            whole.seek(found[2]["start"])
            system.write_bytes(whole.read())
        said = subprocess.run(
            ["debugfs", "-R", "ls -p /", system], capture_output=True, text=True, check=True
        ).stdout
        names = {line.split("/")[5] for line in said.splitlines() if line.startswith("/")}
        if names != {".", "..", "lost+found"}:
            yield f"Partition 3 is not empty: {', '.join(sorted(names))}."


def of_root(root: Path) -> Iterator[str]:
    """Yield what is not right in the root's tree."""
    yield from (f"It does not start {name}." for name in MUST_START if not (root / name).is_symlink())
    yield from (f"It has /{name}." for name in MAY_NOT_BE if (root / name).exists())
    if (root / "etc/machine-id").read_bytes():
        yield "It has a machine id."
    for line in (root / "etc/shadow").read_text().splitlines():
        if line.split(":")[1][:1] not in ("!", "*"):
            yield f"The user {line.split(':')[0]} has a password, or none is needed."
    for path in root.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        name = str(path.relative_to(root))
        if SECRET_NAMES.search(name) or SECRET.search(path.read_bytes()):
            yield f"/{name} looks like a secret."
        if name.startswith("var/log/"):
            yield f"It has a log: /{name}."


@click.command()
@click.argument("image", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def main(image: Path) -> None:
    """Look into the IMAGE; exit with 1 if anything is not as it must be."""
    wrong = list(problems(image))
    for sentence in wrong:
        click.echo(sentence, err=True)
    if wrong:
        raise SystemExit(1)
    sizes = ", ".join(f"{one['size'] // 2**20} MiB" for one in partitions(image))
    click.echo(f"Partitions: {sizes}. The table starts by itself; no password, no machine id, no secret.")


if __name__ == "__main__":
    main()
