"""What box and pit are made of: asked about, and listed with licences. `make audit-deps`, `make sbom`.

python -m tests.security.supply_chain audit requirements/box.lock requirements/pit.lock
python -m tests.security.supply_chain licences build/sbom.json --of build/box
python -m tests.security.supply_chain pins requirements/box.lock --python 3.13
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

import click
from packaging.markers import Marker

UNREACHABLE: Final = 3
_PIN: Final = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)(?: ; ([^\\\n]+))?", re.MULTILINE)

Ask = Callable[[str], tuple[str, str]]
"""Takes requirements, returns what pip-audit printed and what it complained of."""


def pins(lock: str) -> list[tuple[str, str]]:
    """Return every name and version of a lock, whatever machine or Python it is for."""
    return list(dict.fromkeys((name, version) for name, version, _ in _PIN.findall(lock)))


def pins_for(lock: str, python: str) -> list[str]:
    """Return the pins of a lock that hold for a Python, as `name==version`: what a release of it is made of.

    >>> pins_for("a==1 ; python_full_version < '3.12' \\\\\\n    --hash=x\\nb==2\\n", "3.13")
    ['b==2']
    """
    there = {"python_full_version": f"{python}.0", "python_version": python, "implementation_name": "cpython"}
    return [
        f"{name}=={version}"
        for name, version, marker in _PIN.findall(lock)
        if not marker or Marker(marker).evaluate(there)
    ]


def in_rounds(pinned: list[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Yield the pins so that no name comes twice at once: two Pythons may ask for two versions."""
    left = pinned
    while left:
        now = dict(reversed(left))
        yield list(now.items())
        left = [pin for pin in left if now[pin[0]] != pin[1]]


def ask_pip_audit(requirements: str) -> tuple[str, str]:
    """Ask the advisory service about requirements."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(requirements)
        file.flush()
        done = subprocess.run(
            [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "--format=json"]
            + ["--progress-spinner=off", "--requirement", file.name],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    return done.stdout, done.stderr


def audit(lock: str, ask: Ask = ask_pip_audit) -> tuple[int, list[str]]:
    """Return an exit status and sentences: 0 nothing known, 1 something known or skipped, 3 service not reached."""
    pinned = pins(lock)
    wrong: list[str] = []
    for few in in_rounds(pinned):
        told, complaint = ask("".join(f"{name}=={version}\n" for name, version in few))
        try:
            found = json.loads(told)["dependencies"]
        except (ValueError, KeyError, TypeError):
            last = next(iter(complaint.strip().splitlines()[-1:]), "no word")
            return UNREACHABLE, [
                f"UNTESTED: the advisory service could not be asked ({_without_hosts(last)})."
            ]
        if few and all("skip_reason" in one for one in found):
            return UNREACHABLE, ["UNTESTED: the advisory service that was reached knows none of the parts."]
        wrong += _judged(few, found)
    return (
        (1, wrong)
        if wrong
        else (0, [f"{len(pinned)} parts asked about, none skipped, nothing known against them."])
    )


def _judged(few: list[tuple[str, str]], found: list[Mapping[str, Any]]) -> Iterator[str]:
    told = {(one["name"].lower(), one.get("version")): one for one in found}
    for name, version in few:
        one = told.get((name, version))
        if one is None or "skip_reason" in one:
            yield f"{name} {version} was skipped: {one.get('skip_reason') if one else 'no answer'}"
            continue
        for hole in one["vulns"]:
            yield f"{name} {version}: {hole['id']}, mended in {', '.join(hole['fix_versions']) or 'no release'}"


def page(code: int, sentences: list[str], count: int, day: date) -> str:
    """Return the book's page of what an audit came to."""
    verdict = {
        0: "Nothing known against any of them.",
        1: "Something is known, or was skipped.",
        UNREACHABLE: "**UNTESTED: nobody was asked.** Whether anything is known against them, this run cannot say.",
    }[code]
    lines = "".join(f"- {sentence}\n" for sentence in sentences)
    return (
        "# What is known against the parts of box and pit\n\n"
        f"Written by `make audit-deps ARGS='--write docs/dependency-report.md'` on {day}: pip-audit asks the advisory\n"
        "service of the Python Package Index about the\n"
        f"{count} parts that `requirements/box.lock` and `pit.lock` pin.\n\n"
        f"{verdict}\n\n{lines}\n"
        "Run it where that service can be reached, before each release. A part with a known hole is upgraded in\n"
        "`pyproject.toml` and in the locks.\n"
    )


def _without_hosts(text: str) -> str:
    return re.sub(r"\w+://\S+|host='[^']*'", "…", text)[:200]


def licences(bill: Mapping[str, Any], told: Callable[[str], str] = lambda _: "") -> list[str]:
    """Return a line for each part of a CycloneDX bill: name, version, licence. Raises ValueError where one has none.

    `told` says what a part's own metadata calls its licence, where the bill does not.
    """
    lines = []
    for part in sorted(bill["components"], key=lambda one: str(one["name"]).lower()):
        said = [
            one.get("expression") or one["license"].get("id") or one["license"]["name"]
            for one in part.get("licenses", ())
        ] or [text for text in (told(str(part["name"])),) if text]
        if not said:
            raise ValueError(
                f"{part['name']} {part['version']} names no licence; look it up before it is shipped."
            )
        short = " / ".join(dict.fromkeys(text.strip().splitlines()[0][:60] for text in said))
        lines.append(f"{part['name']} {part['version']}: {short}")
    return lines


@click.group()
def main() -> None:
    """Ask about what box and pit are made of, and list it."""


@main.command("audit")
@click.argument(
    "locks", metavar="LOCK...", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True)
)
@click.option("--write", "to", type=click.Path(path_type=Path), help="Also write it as a page of the book.")
def audit_command(locks: tuple[Path, ...], to: Path | None) -> None:
    """Ask the advisory service about every pin of each LOCK."""
    lock = "".join(lock.read_text(encoding="utf-8") for lock in locks)
    code, sentences = audit(lock)
    if to is not None:
        day = datetime.now(UTC).date()
        to.write_text(page(code, sentences, len(pins(lock)), day), encoding="utf-8")
    for sentence in sentences:
        click.echo(sentence, err=bool(code))
    sys.exit(code)


def told_in(environment: Path) -> Callable[[str], str]:
    """Return what asks the parts installed in a virtual environment for their licences."""
    folders = [str(path) for path in environment.glob("lib/python3*/site-packages")]
    found = {
        str(part.metadata["Name"]).lower(): part.metadata["License"]
        for part in distributions(path=folders)
        if "License" in part.metadata
    }
    return lambda name: found.get(name.lower(), "")


@main.command("pins")
@click.argument("lock", type=click.Path(path_type=Path, exists=True))
@click.option("--python", required=True, help="Of which Python: 3.11, 3.12 or 3.13.")
def pins_command(lock: Path, python: str) -> None:
    """Print the pins of LOCK that hold for a Python, for pip's --constraint."""
    for pin in pins_for(lock.read_text(encoding="utf-8"), python):
        click.echo(pin)


@main.command("licences")
@click.argument("bill", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--of",
    "environment",
    type=click.Path(path_type=Path, exists=True),
    help="The environment it is the bill of.",
)
def licences_command(bill: Path, environment: Path | None) -> None:
    """List the licences of a CycloneDX BILL."""
    try:
        told = told_in(environment) if environment else lambda _: ""
        lines = licences(json.loads(bill.read_text(encoding="utf-8")), told)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    for line in lines:
        click.echo(line)


if __name__ == "__main__":
    main()
