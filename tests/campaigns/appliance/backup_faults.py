"""Puts one random fault into a backup, again and again: it is restored with its damage named, or refused by a sentence.

    python -m tests.campaigns.appliance.backup_faults --faults 1000 --seed 40 --report FILE

The faults: one bit, a file that is missing, a file that is cut off, a page of other bytes. What is refused is salvaged,
and every hand that the fault did not touch must be there, with its pictures. What a fault touches is found by looking
for each row's own bytes on the pages, not by the code that is tested.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import click
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from firmware.record.backup import back_up
from firmware.record.evidence.anchors import sign_head
from firmware.record.evidence.signing import DeviceKey
from firmware.record.evidence.verify import verify
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.clocks import now
from firmware.record.journal.journal import FILE, Journal, JournalReader
from firmware.record.restore import restore
from firmware.record.salvage import LATER, salvage
from firmware.table import Phase
from firmware.table import events as ev
from firmware.table.entry import Entry
from firmware.table.errors import TableError
from tests.firmware.conftest import ROWS, Deal

PAGE: Final = 4096
HANDS: Final = 12
KINDS: Final = ("bit", "missing", "cut", "page")
KEY: Final = DeviceKey(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
_WINDOW: Final = 24


@dataclass
class Ground:
    """A backup without a fault, its rows, and the pages on which each row's own bytes are."""

    folder: Path
    rows: list[Entry]
    pages: dict[int, set[int]]


@dataclass
class Outcome:
    """What became of the faults: counts by kind and outcome, the sentences of refusals, and what must not be."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def make_ground(folder: Path) -> Ground:
    """Play hands with a picture each, and back them up."""
    data, backup = folder / "data", folder / "backup"
    store, rng = CaptureStore(data), random.Random(1)
    with Journal(data) as journal:
        journal.append([ev.KeyAnnounced(KEY.public.hex())], "table")
        for number in range(1, HANDS + 1):
            frame = store.save(f"{number:06}/frame.jpg", rng.randbytes(5000))
            deal = Deal(ROWS)
            played = [deal.opened(number), *deal.until(Phase.ARCHIVED)[1:]]
            journal.append(
                [replace(one, frame=frame) if isinstance(one, ev.ReadingTaken) else one for one in played],
                "test",
            )
            seq, digest = journal.head
            signed = sign_head(KEY, seq=seq, digest=digest, hands=number, wall_ms=1, table="12")
            journal.append([signed], "table")
    back_up(data, backup)
    rows = JournalReader(backup).events_since(0)
    raw = (backup / FILE).read_bytes()
    return Ground(backup, rows, {row.seq: _pages_of(row, raw) for row in rows})


def _pages_of(row: Entry, raw: bytes) -> set[int]:
    """Return the pages that hold any part of a row, by its own bytes: its hash, and pieces of its payload."""
    payload = row.payload.encode()
    pieces = [row.hash.encode(), *(payload[at : at + _WINDOW] for at in range(0, len(payload), 200))]
    found: set[int] = set()
    for piece in pieces:
        at = raw.find(piece)
        while at >= 0:
            found |= {at // PAGE, (at + len(piece) - 1) // PAGE}
            at = raw.find(piece, at + 1)
    return found


def _fault(folder: Path, kind: str, rng: random.Random) -> tuple[str, set[int]]:
    """Put a fault into a backup; return the file's name and the touched pages of the journal (-1: all)."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    path = folder / FILE if rng.random() < 0.6 else rng.choice(files)
    raw = bytearray(path.read_bytes())
    at = rng.randrange(len(raw))
    match kind:
        case "bit":
            raw[at] ^= 1 << rng.randrange(8)
            path.write_bytes(raw)
            touched = {at // PAGE}
        case "page":
            begin = at // PAGE * PAGE
            other = rng.randbytes(PAGE) if rng.random() < 0.5 else bytes(PAGE)
            raw[begin : begin + PAGE] = other[: len(raw) - begin]
            path.write_bytes(raw)
            touched = {at // PAGE}
        case "cut":
            path.write_bytes(raw[:at])
            touched = set(range(at // PAGE, len(raw) // PAGE + 1))
        case _:
            path.unlink()
            touched = set(range(len(raw) // PAGE + 1))
    name = str(path.relative_to(folder))
    return name, touched if name == FILE else set()


def run(faults: int, seed: int, folder: Path) -> Outcome:
    """Put so many faults into copies of one backup."""
    ground = make_ground(folder)
    rng, outcome = random.Random(seed), Outcome()
    for number in range(faults):
        kind = KINDS[number % len(KINDS)]
        work = folder / "work"
        backup = Path(shutil.copytree(ground.folder, work / "backup"))
        name, touched = _fault(backup, kind, rng)
        said = _judge(ground, work, kind, name, touched, outcome)
        outcome.counts[kind, said] += 1
        shutil.rmtree(work)
    return outcome


def _judge(ground: Ground, work: Path, kind: str, name: str, touched: set[int], outcome: Outcome) -> str:
    backup = work / "backup"
    try:
        _, lost = restore(backup, work / "new", now)
    except TableError as error:
        outcome.reasons[_reason(str(error), backup)] += 1
        if str(error).count(" ") < 3:
            outcome.wrong.append(f"{name}: no sentence: {error}")
        if (backup / FILE).exists():
            _need_intact(ground, work, kind, name, touched, outcome)
        return "refused, salvaged" if (backup / FILE).exists() else "refused, no journal is left"
    there = JournalReader(work / "new").events_since(0)[: len(ground.rows)]
    if there != ground.rows or not verify(work / "new", replayed=False).ok:
        outcome.wrong.append(f"{name}: restored, and another record than before")
    named = {image.name for one in lost for image in (*one.missing, *one.changed)}
    if named != ({name.removeprefix("captures/")} if name.startswith("captures/") else set()):
        outcome.wrong.append(f"{name}: the images said to be lost are {sorted(named)}")
    return "restored, its damage named" if named else "restored whole"


def _reason(error: str, backup: Path) -> str:
    words = error.replace(str(backup), "BACKUP").split(": feltwatch")[0]
    return "".join("#" if letter.isdigit() else letter for letter in words)[:150]


def _need_intact(
    ground: Ground, work: Path, kind: str, name: str, touched: set[int], outcome: Outcome
) -> None:
    saved = work / "saved"
    salvage(work / "backup", saved)
    rows = set(JournalReader(saved).events_since(0))
    rows |= {Entry(*json.loads(line)) for line in (saved / LATER).read_text().splitlines()}
    hit = {row.hand for row in ground.rows if ground.pages[row.seq] & touched}
    if kind == "bit" and len(lost := set(ground.rows) - rows) > 1:
        outcome.wrong.append(f"{name}: one bit cost {len(lost)} rows")
    for row in ground.rows:
        if row.hand not in hit and row not in rows:
            outcome.wrong.append(
                f"{name}: row {row.seq} of hand {row.hand}, which the fault did not touch, is lost"
            )
    for hand in {row.hand for row in ground.rows} - hit - {0}:
        picture = Path(f"captures/{hand:06}/frame.jpg")
        if str(picture) != name and (saved / picture).read_bytes() != (ground.folder / picture).read_bytes():
            outcome.wrong.append(f"{name}: the picture of hand {hand} is lost")


def report(outcome: Outcome, faults: int, seed: int) -> str:
    """Return the report as Markdown."""
    ends = sorted({end for _, end in outcome.counts})
    lines = [
        "# One fault in a backup",
        "",
        "Written by"
        f" `python -m tests.campaigns.appliance.backup_faults --faults {faults} --seed {seed} --report FILE`.",
        "",
        f"Each of {faults:,} faults is put into a fresh copy of one backup of {HANDS} hands with a picture each, and "
        "the copy is restored. What is refused is salvaged; a hand is intact if none of its pages was hit.",
        "",
        f"**{len(outcome.wrong)}** times anything else happened: another record, damage that was not named, an intact "
        "hand lost.",
        "",
        "| fault | " + " | ".join(ends) + " |",
        "|---|" + "---:|" * len(ends),
        *(
            f"| {kind} | " + " | ".join(str(outcome.counts[kind, end]) for end in ends) + " |"
            for kind in KINDS
        ),
        "",
        "What the refusals said (figures as #):",
        "",
        *(f"- {times} × {reason}" for reason, times in outcome.reasons.most_common()),
        *(f"- **WRONG** {wrong}" for wrong in outcome.wrong[:20]),
    ]
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--faults", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--seed", type=int, default=40, show_default=True)
@click.option("--report", "out", type=click.Path(path_type=Path))
def main(faults: int, seed: int, out: Path | None) -> None:
    """Put faults into backups; the exit status is 1 if anything was silently wrong."""
    with tempfile.TemporaryDirectory(prefix="feltwatch-backups-") as folder:
        outcome = run(faults, seed, Path(folder))
    text = report(outcome, faults, seed)
    click.echo(text)
    if out is not None:
        out.write_text(text)
    raise SystemExit(bool(outcome.wrong))


if __name__ == "__main__":
    main()
