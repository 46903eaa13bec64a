"""What a card carries, as lists beside it: `sbom.json` (CycloneDX) and `sources.txt`. Used by `make image`.

python -m tests.image.parts packages.tsv --release-parts sbom.json --to FOLDER
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import click

OFFER: Final = """# The sources of what this card carries

Each Debian source package on the card with its version, and the packages that were built from it. Debian's archive has
each source under its version; a machine with its deb-src lines fetches one with: apt-get source NAME=VERSION
Whoever passes the card on has to pass on these sources, or a written offer of them, for the packages whose licences ask
for it (the Linux kernel, systemd, GNU programs and others under the GPL): licences.tar.gz has every licence. The boot
firmware (raspi-firmware) comes without sources, and may be used and passed on for Raspberry Pi computers only.

"""


def debian_parts(table: str) -> list[dict[str, Any]]:
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
@click.option("--release-parts", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--to", "folder", type=click.Path(path_type=Path, exists=True), required=True)
def main(packages: Path, release_parts: Path, folder: Path) -> None:
    """Write both lists. The release's own parts are taken from its list, without what differs each time it is made."""
    table = packages.read_text(encoding="utf-8")
    known = json.loads(release_parts.read_text(encoding="utf-8"))
    made = {
        "bomFormat": "CycloneDX",
        "specVersion": known["specVersion"],
        "version": 1,
        "metadata": {"component": {"type": "operating-system", "name": "feltwatch-card", "bom-ref": "card"}},
        "components": [*known["components"], *debian_parts(table)],
    }
    (folder / "sbom.json").write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (folder / "sources.txt").write_text(sources(table), encoding="utf-8")


if __name__ == "__main__":
    main()
