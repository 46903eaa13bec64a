"""What is done to plug, cable, disk and files."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

from firmware.record.evidence.verify import verify
from firmware.record.journal.file import FILE
from firmware.record.journal.journal import Journal
from firmware.table import Phase
from tests.campaigns.security.cheats.registry import Outcome, cheat, quoted
from tests.campaigns.security.cheats.stage import Stage, checked


@cheat("player", "pulls the camera's cable during the showdown")
def cable_pulled(stage: Stage) -> Outcome:
    stage.open()
    stage.must("next")
    stage.table.camera.unplug()
    stage.must("next")
    stage.until(lambda state: "camera" in state.faults)
    said = stage.said()
    return Outcome(quoted("at once", said), "`device_fault`", stage.proves("device_fault"))


@cheat("player", "pulls the plug at a bad result")
def plug_pulled(stage: Stage) -> Outcome:
    stage.read()
    before = stage.state.settlement
    left = Path(tempfile.mkdtemp(prefix="feltwatch-cheat-"))
    try:
        # what a power cut leaves: the rows are durable before the page shows them
        data = _copied(stage, left)
        with Journal(data) as journal:
            after = journal.recover()
    finally:
        shutil.rmtree(left)
    same = after.phase is Phase.SETTLED and after.settlement == before
    seen = "the hand stands on the page again, settled as before" if same else ""
    return Outcome(seen, "`table_started`, the next time" if same else "", same and stage.proves("settled"))


@cheat("outsider", "edits a card in the record's file")
def record_edited(stage: Stage) -> Outcome:
    lies = stage.read()
    card = lies["A"]["back"][-1]
    with tempfile.TemporaryDirectory(prefix="feltwatch-cheat-") as left:
        data = _copied(stage, Path(left))
        with closing(sqlite3.connect(data / FILE)) as db:
            for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                db.execute(f'DROP TRIGGER "{name}"')
            db.execute(
                "UPDATE journal SET payload = replace(payload, ?, ?) WHERE type = 'reading_taken'",
                (f'"card":"{card}"', '"card":"Jc"'),
            )
            db.commit()
        found = verify(data, settled=True).problems
    return Outcome(quoted("`hands verify --all`", str(found[0].what)) if found else "", "", bool(found))


@cheat("outsider", "replaces a stored picture on the disk")
def picture_replaced(stage: Stage) -> Outcome:
    stage.read()
    with tempfile.TemporaryDirectory(prefix="feltwatch-cheat-") as left:
        data = _copied(stage, Path(left))
        pictures = sorted((data / "captures").rglob("*.jpg"))
        pictures[-1].write_bytes(pictures[0].read_bytes())
        found = verify(data).problems
    said = "a picture is not the one that was stored" if found else ""
    return Outcome(quoted("`hands verify --all`", said), "its hash" if found else "", bool(found))


@cheat("outsider", "edits a dispute file")
def dispute_edited(stage: Stage) -> Outcome:
    stage.read()
    file = stage.dispute()
    with tempfile.TemporaryDirectory(prefix="feltwatch-cheat-") as left:
        bent = Path(left) / "bent.zip"
        with zipfile.ZipFile(file) as sound, zipfile.ZipFile(bent, "w") as other:
            for name in sound.namelist():
                data = sound.read(name)
                other.writestr(name, data.replace(b"paid", b"Paid") if name == "rows.jsonl" else data)
        report = checked(bent)
    wrong = [report] if isinstance(report, str) else report.wrong
    return Outcome(quoted("its `verify.py`", wrong[0] if wrong else ""), "", bool(wrong))


def _copied(stage: Stage, to: Path) -> Path:
    """Copy the record as it lies on the disk now."""
    return Path(shutil.copytree(stage.data, to / "data", ignore=shutil.ignore_patterns("*.sock")))
