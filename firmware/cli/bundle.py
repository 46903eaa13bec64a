"""`feltwatch bundle`: information for support, without secrets and names."""

import json
import platform
import re
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from firmware.cli.options import data_option, need_new, say_missing_record, write_whole_file
from firmware.command_options import ANY_PATH, config_option
from firmware.table.errors import JournalError
from firmware.terminal import say

ROWS: Final = 2000
"""Number of last rows that are listed, without their content."""
FAULTS: Final = 50
LOG_LINES: Final = 5000


@click.command("bundle")
@data_option
@config_option
@click.option("--out", type=ANY_PATH, default=Path("feltwatch-support.zip"), help="The file to write.")
def command(data: Path, config_file: Path | None, out: Path) -> None:
    """Write a file for support: versions, faults of devices, counts of the record's rows, and the log.

    It holds no cards, no images, no money, no PINs, no keys and no tags' numbers. Names of players and staff are
    replaced by numbers, also in the log. It is a ZIP of text files: look into it before you send it.
    """
    need_new(out)
    say_missing_record(data)
    try:
        files = bundle(data, config_file)
    except JournalError as error:
        say(f"{error} So no name can be hidden: the file holds no row and no log.", err=True)
        files = _without_record(data, error)
    with write_whole_file(out) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    say(f"{out}: look into it before you send it.")


def bundle(data: Path, config_file: Path | None = None) -> dict[str, str]:
    """Return the bundle's files by name. Raises TableError if the record cannot be read."""
    from firmware.record.journal.journal import JournalReader

    reader = JournalReader(data, are_checked=False)  # what was changed is listed among the problems
    hide = _hiding(data, config_file)
    files = {
        "about.json": json.dumps(_about(data), indent=1),
        "record.json": json.dumps(_record(data), indent=1),
        "config.json": json.dumps(_config(data, config_file), indent=1),
        "rows.jsonl": "".join(f"{json.dumps(row)}\n" for row in _rows(reader)),
        "log.txt": _log(),
    }
    return {name: hide(text) for name, text in files.items()}


def _without_record(data: Path, error: JournalError) -> dict[str, str]:
    """Return the files that hold no names, for a record that cannot be read."""
    found = {"about.json": _about(data), "record.json": {"error": str(error)}}
    return {name: json.dumps(text, indent=1) for name, text in found.items()}


def _hiding(data: Path, config_file: Path | None) -> Any:
    """Return a function that replaces every name in the record or the configuration by a number."""
    names = sorted(_names(data, config_file), key=lambda name: (-len(name), name))
    numbers = {name: f"person-{number}" for number, name in enumerate(names, start=1)}
    if not names:
        return lambda text: text
    found = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, names)) + r")(?!\w)")
    return lambda text: found.sub(lambda match: numbers[match[0]], text)


def _names(data: Path, config_file: Path | None) -> set[str]:
    from firmware.record.archive import Archive
    from firmware.record.journal.journal import JournalReader
    from firmware.runtime.config import load_config
    from firmware.runtime.errors import ConfigError

    archive = Archive(data)
    archive.refresh()
    known = archive.names()
    names = {*known["player"], *known["dealer"]}
    state, _ = JournalReader(data).recover()
    names |= (
        {person.name for person in state.people}
        | set(state.stacks)
        | {seat.player for seat in state.house.seats}
    )
    with suppress(ConfigError):
        names |= {seat.player for seat in load_config(config_file, data=data).seats}
    for row in _every_actor(data):
        names.add(row.partition(":")[2])
    # A seat's own name identifies nobody, and a single letter would be replaced within every word.
    return {name for name in names if len(name) > 1 and not re.fullmatch(r"Seat \d", name)}


def _every_actor(data: Path) -> list[str]:
    from firmware.record.journal.journal import JournalReader

    with JournalReader(data).opened() as db:
        if db is None:
            return []
        return [str(actor) for (actor,) in db.execute("SELECT DISTINCT actor FROM journal")]


def _about(data: Path) -> dict[str, Any]:
    from firmware.runtime.house_config import SOFTWARE

    about: dict[str, Any] = {
        "software": SOFTWARE,
        "python": sys.version,
        "sqlite": sqlite3.sqlite_version,
        "machine": platform.platform(),
    }
    with suppress(OSError):
        usage = shutil.disk_usage(data)
        about["disk"] = {"total": usage.total, "free": usage.free}
    with suppress(OSError):
        about["files"] = {path.name: path.stat().st_size for path in sorted(data.glob("*.sqlite*"))}
    return about


def _record(data: Path) -> dict[str, Any]:
    from firmware.record.evidence.verify import verify
    from firmware.record.journal.journal import JournalReader

    found = verify(data, images=False, replayed=False)
    summary: dict[str, Any] = {
        "rows": found.entries,
        "hands": found.hands,
        "anchors": found.anchors,
        "keys": list(found.keys),
        "signers": [signer.words for signer in found.signers],
        "unproven": len(found.unproven),
        "problems": [{"row": problem.seq, "what": str(problem.what)} for problem in found.problems[:FAULTS]],
    }
    with JournalReader(data).opened() as db:
        if db is not None:
            summary["types"] = dict(db.execute("SELECT type, count(*) FROM journal GROUP BY type"))
            summary["clock"] = dict(db.execute("SELECT clock, count(*) FROM journal GROUP BY clock"))
            summary["release"] = db.execute("PRAGMA user_version").fetchone()[0]
            faults = db.execute(
                "SELECT wall_ms, type, payload FROM journal WHERE type IN ('device_fault', 'device_recovered') "
                "ORDER BY seq DESC LIMIT ?",
                (FAULTS,),
            )
            summary["faults"] = [
                {"wall_ms": at, "type": kind, **json.loads(text)} for at, kind, text in faults
            ]
    return summary


def _rows(reader: Any) -> Iterable[dict[str, Any]]:
    """Yield the record's last rows: type, time and actor's kind, without names."""
    end = reader.head()[0]
    for row in reader.events_since(max(0, end - ROWS), ROWS):
        yield {
            "seq": row.seq,
            "hand": row.hand,
            "boot": row.boot,
            "monotonic_ns": row.monotonic_ns,
            "wall_ms": row.wall_ms,
            "clock": row.clock,
            "role": row.actor.partition(":")[0],
            "type": row.type,
        }


def _config(data: Path, config_file: Path | None) -> dict[str, Any]:
    from firmware.runtime.config import load_config
    from firmware.runtime.errors import ConfigError

    try:
        config = load_config(config_file, data=data).model_dump(mode="json")
    except ConfigError as error:
        return {"error": str(error)}
    for number, seat in enumerate(config["seats"], start=1):
        seat["player"] = f"player-{number}" if seat["player"] else ""
        seat["stack"] = None
    puck = config["puck"]
    puck["dealer"], puck["action"] = len(puck["dealer"]), len(puck["action"])  # tags can be cloned from these
    # The page's own section may hold secrets that only the page recognises.
    config["ui"] = sorted(config.get("ui") or {})
    return config


def _log() -> str:
    """Return the services' log, which never holds PINs; "" without a service manager."""
    order = ["journalctl", "--no-pager", "-o", "short-iso", "-n", str(LOG_LINES), "-u", "feltwatch-*"]
    try:
        return subprocess.run(order, capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
