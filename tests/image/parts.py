"""What a card carries, as lists beside it: `sbom.json` (CycloneDX), `licences.txt`, `sources.txt`. For `make image`.

python -m tests.image.parts packages.tsv --texts licences.tar.gz --release-parts sbom.json --to FOLDER
"""

from __future__ import annotations

import gzip
import io
import json
import posixpath
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import click

OFFER: Final = """# The sources of what this card carries

Each Debian source package on the card with its version, and the packages that were built from it. Debian's archive has
each source under its version; a machine with its deb-src lines fetches one with: apt-get source NAME=VERSION
Anyone who passes the card on has to pass on these sources, or a written offer of them, for the packages whose licences
ask for it (the Linux kernel, systemd, GNU programs and others under the GPL): licences.tar.gz has every licence. The
boot firmware (raspi-firmware) comes without sources, and may be used and passed on for Raspberry Pi computers only.

"""


LICENCES: Final = """# The licences of the Debian packages on this card

From each package's copyright file: the short names that it gives, or the texts of /usr/share/common-licenses that it
refers to. One package has files under several. The texts themselves: licences.tar.gz. Python's packages: sbom.json, and
/usr/share/doc/feltwatch-licences.txt on the card.

"""
_MACHINE_READABLE: Final = re.compile(r"(?i)\AFormat(?:-Specification)?:")
_NAMED: Final = re.compile(r"(?mi)^License:[ \t]*(\S[^\n]*)$")
_COMMON: Final = re.compile(r"/usr/share/common-licenses/([A-Za-z0-9.+-]*[A-Za-z0-9])")
_WORDED: Final = (
    ("public domain", "public-domain"),
    ("Permission is hereby granted, free of charge", "MIT"),
    ("Permission to use, copy, modify", "HPND"),
    ("Redistribution and use in source and binary forms", "BSD"),
)
"""What older copyright files have instead of a name: words that stand in the licence itself."""


def licences_of(text: str) -> list[str]:
    """Return the licences that a package's copyright file names, sorted; [] where it names none in a known way.

    >>> licences_of("Format: x\\n\\nFiles: *\\nLicense: GPL-2+ or MIT\\n")
    ['GPL-2+ or MIT']
    """
    if _MACHINE_READABLE.match(text):
        return sorted({found.strip() for found in _NAMED.findall(text)})
    words = " ".join(text.split())
    named = {name for said, name in _WORDED if said.lower() in words.lower()}
    return sorted(named | set(_COMMON.findall(text)))


def copyright_files(texts: Path) -> dict[str, str]:
    """Return each package's copyright file out of an archive of /usr/share/doc, following its symbolic links."""
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(texts.read_bytes()))) as archive:
        there = {posixpath.normpath(member.name): member for member in archive.getmembers()}

        def read(path: str, depth: int = 0) -> str | None:
            folder, name = posixpath.split(path)
            for at, rest in ((folder, name), (path, "")):
                member = there.get(at)
                if member is not None and member.issym() and depth < 9:
                    to = posixpath.join(
                        posixpath.dirname(at), member.linkname.removeprefix("/usr/share/doc/")
                    )
                    return read(posixpath.normpath(posixpath.join(to, rest)), depth + 1)
            found = archive.extractfile(there[path]) if path in there and there[path].isfile() else None
            return found.read().decode("utf-8", "replace") if found else None

        packages = {path.split("/")[0] for path in there if path != "."}
        found = {package: read(f"{package}/copyright") for package in packages}
    return {package: text for package, text in found.items() if text is not None}


def licence_list(table: str, licences: Mapping[str, list[str]]) -> str:
    """Return the list of packages with their licences, one a line."""
    names = [line.split("\t")[0] for line in table.splitlines()]
    none = ["see its text in licences.tar.gz"]
    return LICENCES + "".join(f"{name}\t{', '.join(licences.get(name) or none)}\n" for name in names)


def debian_parts(table: str, licences: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    """Return the CycloneDX components of lines `package, version, architecture, source, source version`, with tabs."""
    parts = []
    for line in table.splitlines():
        name, version, architecture, source, source_version = line.split("\t")
        where = f"pkg:deb/debian/{quote(name)}@{quote(version, safe='')}?arch={architecture}"
        about = [
            {"name": "debian:source", "value": source},
            {"name": "debian:source-version", "value": source_version},
        ]
        parts.append(
            {
                "bom-ref": where,
                "type": "library",
                "name": name,
                "version": version,
                "purl": where,
                "licenses": [{"license": {"name": each}} for each in licences.get(name, [])],
                "properties": about,
            }
        )
    return parts


def sources(table: str) -> str:
    """Return the list of source packages, with the packages that each became, and how to get them."""
    made: dict[tuple[str, str], list[str]] = {}
    for line in table.splitlines():
        name, _version, _architecture, source, source_version = line.split("\t")
        made.setdefault((source, source_version), []).append(name)
    return OFFER + "".join(
        f"{source}={version}\t{' '.join(names)}\n" for (source, version), names in sorted(made.items())
    )


@click.command()
@click.argument("packages", type=click.Path(path_type=Path, exists=True))
@click.option("--texts", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--release-parts", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--to", "folder", type=click.Path(path_type=Path, exists=True), required=True)
def main(packages: Path, texts: Path, release_parts: Path, folder: Path) -> None:
    """Write the lists. The release's own parts are taken from its list, without what differs each time it is made."""
    table = packages.read_text(encoding="utf-8")
    licences = {name: licences_of(text) for name, text in copyright_files(texts).items()}
    without = [line.split("\t")[0] for line in table.splitlines() if line.split("\t")[0] not in licences]
    if without:
        raise click.ClickException(f"Without a copyright file: {', '.join(without)}.")
    known = json.loads(release_parts.read_text(encoding="utf-8"))
    made = {
        "bomFormat": "CycloneDX",
        "specVersion": known["specVersion"],
        "version": 1,
        "metadata": {"component": {"type": "operating-system", "name": "feltwatch-card", "bom-ref": "card"}},
        "components": [*known["components"], *debian_parts(table, licences)],
    }
    (folder / "sbom.json").write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (folder / "licences.txt").write_text(licence_list(table, licences), encoding="utf-8")
    (folder / "sources.txt").write_text(sources(table), encoding="utf-8")


if __name__ == "__main__":
    main()
