"""Makes what a disk may hold after a power cut, hundreds of times, and starts the table process on each.

    python -m tests.campaigns.appliance.power_cut_campaign --images 300 --seed 7
    python -m tests.campaigns.appliance.power_cut_campaign --images 60 --naive   # commits are not synced: it must fail

A shim under the C library (disk_log.c, compiled here with gcc) notes what the table process writes, cuts, syncs and
removes while it takes commands. An image is cut at a random note: what was synced before it is there; of each write
after its file's last sync is there all, nothing, or some of its sectors; a file that was removed may still be there
until its folder was synced. Every command that was acknowledged before the cut must be there, the record must verify,
and no start may say that something is missing. Renames and the order of directories' own blocks are not tried.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click

from firmware.record.journal import journal as journal_module
from firmware.record.journal.journal import Journal
from firmware.runtime.config import Config, load_config
from firmware.runtime.inputs import Request
from firmware.table import State
from tests.campaigns.appliance import fault_campaign as faults

SHIM: Final = Path(__file__).with_name("disk_log.c")
SECTOR: Final = 512
SESSIONS: Final = 10
STARTS: Final = 4
COMMANDS: Final = 60
"""Sessions that are noted, starts in each, and commands after each start at most."""
_HEAD: Final = struct.Struct("<cHQI")


@dataclass(frozen=True)
class Note:
    """What was done to a file, or a mark: the number of the last acknowledged row."""

    kind: str
    path: str
    at: int
    data: bytes


@dataclass
class Figures:
    """What a campaign found."""

    images: int = 0
    acknowledged: int = 0
    short: int = 0
    """Images that lack an acknowledged row."""
    problems: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Say it in a line."""
        return (
            f"{self.images} images of a power cut, {self.acknowledged} rows acknowledged before it; "
            f"{self.short} images lack one; {len(self.problems)} problems."
        )


def notes_in(file: Path) -> list[Note]:
    """Read what the shim noted."""
    raw, at, found = file.read_bytes(), 0, []
    while at < len(raw):
        kind, length, place, size = _HEAD.unpack_from(raw, at)
        at += _HEAD.size
        path, data = raw[at : at + length].decode(), raw[at + length : at + length + size]
        found.append(Note(kind.decode(), path, place, data))
        at += length + size
    return found


def image(notes: Sequence[Note], folder: Path, to: Path, rng: random.Random) -> int:
    """Make what the disk may hold after these notes; return the last row that was acknowledged."""
    to.mkdir()
    acknowledged = max((note.at for note in notes if note.kind == "M"), default=0)
    for path in sorted({note.path for note in notes if note.path and not Path(note.path).is_dir()}):
        own = [(at, note) for at, note in enumerate(notes) if note.path == path]
        data = _left_of(own, rng, _last(notes, str(folder)))
        if data is not None and not path.endswith("-shm"):
            (to / Path(path).name).write_bytes(data)
    return acknowledged


def _last(notes: Sequence[Note], folder: str) -> int:
    """Return where a folder was last synced."""
    return max((at for at, note in enumerate(notes) if (note.kind, note.path) == ("S", folder)), default=-1)


def _left_of(own: Sequence[tuple[int, Note]], rng: random.Random, folder_synced: int) -> bytes | None:
    """Return what may be left of a file; None where it is gone."""
    synced = max((at for at, note in own if note.kind == "S"), default=-1)
    data: bytearray | None = None
    for at, note in own:
        is_certain = at <= synced
        if note.kind == "U":
            if at <= folder_synced or rng.random() < 0.5:
                data = None
            continue
        if note.kind == "S":
            continue
        data = bytearray() if data is None else data
        if note.kind == "T":
            if is_certain or rng.random() < 0.5:
                del data[note.at :]
                data.extend(bytes(note.at - len(data)))
        else:
            for place, sector in _kept(note, rng, is_certain=is_certain):
                data.extend(bytes(max(0, place + len(sector) - len(data))))
                data[place : place + len(sector)] = sector
    return None if data is None else bytes(data)


def _kept(note: Note, rng: random.Random, *, is_certain: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the sectors of a write that reached the disk."""
    fate = 1.0 if is_certain else rng.choice((0.0, 0.5, 1.0))
    begin = 0
    while begin < len(note.data):
        size = SECTOR - (note.at + begin) % SECTOR
        if rng.random() < fate:
            yield note.at + begin, note.data[begin : begin + size]
        begin += size


def _play(config: Config, seed: int, shim: ctypes.CDLL, log: Path) -> None:
    """Take commands, start again now and then, and mark each row that was acknowledged."""
    rng = random.Random(seed)
    shim.disk_log(os.fsencode(config.data), os.fsencode(log))
    for number in range(STARTS):
        # the rows go into the database more often than every thousand
        journal_module.COPY_BACK_AFTER = 12 if rng.random() < 0.5 else 1000  # type: ignore[misc]
        journal = Journal(config.data)
        table = faults._table(config, journal)
        table.begin()
        for _ in range(rng.randrange(1, COMMANDS)):
            request = Request(_order(rng, table.state))
            table.put(request)
            table.turn_all()
            answer = request.answer.result(0)
            if answer["ok"]:
                shim.disk_mark(answer["seq"])
        table.end()
        if number % 2:
            journal.close()  # else as a kill leaves it: the next one finds the `-wal`
        else:
            journal._lock.close()


def _order(rng: random.Random, state: State) -> bytes:
    return json.dumps(faults._choose(rng, state)).encode()


def judge(config: Config, acknowledged: int, what: str, figures: Figures) -> None:
    """Start the table on an image and look."""
    found = faults._in_a_process(lambda tell: faults._look(config, tell))
    figures.images += 1
    figures.acknowledged += acknowledged
    if not found or "broke" in found[0]:
        figures.problems.append(f"{what}: {found}")
        return
    figures.problems += [f"{what}: {problem}" for problem in found[0]["problems"]]
    if found[0]["end"] < acknowledged:
        figures.short += 1
        figures.problems.append(
            f"{what}: row {acknowledged} was acknowledged, the record ends at {found[0]['end']}"
        )


def naive() -> None:
    """Have SQLite sync no commit."""
    connect = Journal._connect

    def unsynced(self: Journal) -> object:
        db = connect(self)
        db.execute("PRAGMA synchronous = OFF")
        return db

    Journal._connect = unsynced  # type: ignore[method-assign, assignment]


def campaign(folder: Path, images: int, seed: int, shim: ctypes.CDLL, *, is_naive: bool = False) -> Figures:
    """Note some sessions, and cut so many images of them."""
    figures, rng = Figures(), random.Random(seed)
    logging.disable(logging.CRITICAL)
    sessions = min(SESSIONS, images)
    for session in range(sessions):
        data, log = folder / f"data-{session}", folder / f"notes-{session}"
        config = _config(folder, data)

        def play(tell: int, config: Config = config, session: int = session, log: Path = log) -> None:
            if is_naive:
                naive()
            _play(config, seed * 1000 + session, shim, log)

        broke = faults._in_a_process(play)
        figures.problems += [f"session {session}: {line}" for line in broke]
        notes = notes_in(log)
        for number in range(session, images, sessions):
            cut = rng.randrange(1, len(notes) + 1)
            to = folder / "image"
            shutil.rmtree(to, ignore_errors=True)
            acknowledged = image(notes[:cut], data, to, random.Random(f"{seed} {session} {number}"))
            judge(_config(folder, to), acknowledged, f"session {session}, note {cut}", figures)
    return figures


def _config(folder: Path, data: Path) -> Config:
    file = folder / "config.toml"
    file.write_text(
        f'data = "{data}"\nkey = "{folder / "key"}"\nin_memory = true\nprofile = "california-face-up"\n'
        + "".join(
            f'[[seats]]\nseat = {seat}\nplayer = "{name}"\nplace = "{place}"\nstack = 50000\n'
            for seat, name, place in ((1, "Ann", "A"), (2, "Bao", "B"))
        )
    )
    return load_config(file)


@click.command()
@click.option("--images", type=click.IntRange(1), default=300, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option(
    "--naive", "is_naive", is_flag=True, help="No commit is synced: the campaign must then find it."
)
def main(images: int, seed: int, is_naive: bool) -> None:
    """Cut the power under the table process, on paper, and look at what is left."""
    if "DISK_LOG" not in os.environ:
        with tempfile.TemporaryDirectory(prefix="feltwatch-shim-") as name:
            out = Path(name) / "disk_log.so"
            subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", out, SHIM, "-ldl"], check=True)
            more = {**os.environ, "DISK_LOG": str(out), "LD_PRELOAD": str(out)}
            arguments = [sys.executable, "-m", "tests.campaigns.appliance.power_cut_campaign", *sys.argv[1:]]
            sys.exit(subprocess.run(arguments, env=more, check=False).returncode)
    shim = ctypes.CDLL(os.environ["DISK_LOG"])
    shim.disk_mark.argtypes = [ctypes.c_uint64]
    with tempfile.TemporaryDirectory(prefix="feltwatch-cuts-") as name:
        figures = campaign(Path(name), images, seed, shim, is_naive=is_naive)
    click.echo(figures.text())
    for problem in figures.problems[:10]:
        click.echo(f"  {problem}")
    sys.exit(bool(figures.problems))


if __name__ == "__main__":
    main()
