"""`feltwatch hands` and `feltwatch anchor`: what they print, their exit status, and a sentence for bad input."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dealer_ui.reports.slip import qr, slip_lines, slip_pdf, slip_png, slip_svg
from firmware.cli.main import main
from firmware.record.evidence import dispute_verifier
from firmware.record.evidence.anchors import Anchor
from firmware.record.evidence.signing import FILE as KEY_FILE
from firmware.record.evidence.signing import DeviceKey, fingerprint
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.clocks import now
from firmware.record.journal.journal import FILE, Journal, JournalReader
from firmware.table import events as ev
from tests.dealer_ui.felt import Felt
from tests.firmware.conftest import FRAME
from tests.firmware.record.test_dispute_file import record
from tests.firmware.record.test_verify import bend
from tests.waiting import DEADLINE


def test_a_list_and_a_report_say_that_times_are_still_to_come(tmp_path: Path) -> None:
    data = record(tmp_path / "data")
    for wrong in (False, True):
        if wrong:
            with Journal(data, lambda: now()._replace(wall_ms=now().wall_ms + 86_400_000)) as journal:
                journal.append([ev.HandVoided("a test")], "test")
        for command in (("hands", "list"), ("hands", "list", "--json"), ("report", "--from", "2020-01-01")):
            shown = CliRunner().invoke(main, [*command, "--data", str(data)])
            assert shown.exit_code == 0
            assert ("Some of these times are still to come" in shown.stderr) == wrong, command


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    record(folder / "data")
    DeviceKey.open(folder / "key")
    return folder


@pytest.fixture
def data(kept: Path, tmp_path: Path) -> Path:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    (tmp_path / "key" / KEY_FILE).chmod(0o600)
    return tmp_path / "data"


def run(data: Path, *arguments: object, exits: int = 0) -> Result:
    words = [str(argument) for argument in (*arguments, "--data", data)]
    if words[0] in ("export", "anchor", "verify"):
        words += ["--key-folder", str(data.parent / "key")]
    done = CliRunner().invoke(main, words if words[0] == "anchor" else ["hands", *words])
    assert done.exit_code == exits, done.output
    assert "Traceback" not in done.output
    return done


def test_hands_are_listed_and_narrowed(data: Path) -> None:
    lines = run(data, "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["3", "2", "1"]
    assert "UNDER DISPUTE" in lines[2]
    assert "[void]" in lines[1]
    told = [json.loads(line) for line in run(data, "list", "--with", "dispute", "--json").stdout.splitlines()]
    assert [(line["hand"], line["disputed"] is True) for line in told] == [(1, True)]
    assert told[0]["seats"][0]["player"] == "p1"
    assert "More: --before 2" in run(data, "list", "--limit", 2).stderr
    assert "No such hands" in run(data, "list", "--player", "nobody").stderr
    assert "No such hands" in run(data, "list", "--from", "2020-01-01", "--to", "2020-01-02T12:00").stderr


def test_a_void_hand_that_lies_on_the_table_again_is_listed_so(tmp_path: Path) -> None:
    felt = Felt(tmp_path)
    felt.deal()
    felt.do("void", reason="wrong deck")
    assert run(tmp_path, "list").stdout.rstrip().endswith("[void]")
    felt.do("reopen", past=1, reason="the deck was right")
    assert run(tmp_path, "list").stdout.rstrip().endswith("[void, reopened on the table now]")
    felt.do("void", reason="nobody can say")
    felt.journal.close()
    assert run(tmp_path, "list").stdout.rstrip().endswith("[void, reopened 1×]")


def test_bad_questions_are_said(data: Path, tmp_path: Path) -> None:
    assert "is no time" in run(data, "list", "--from", "yesterday", exits=2).output
    assert "is not one of" in run(data, "list", "--with", "aces", exits=2).output
    assert "There is no record" in run(tmp_path / "nowhere", "list", exits=2).output
    assert "There is no record" in run(tmp_path / "nowhere", "show", 1, exits=2).output
    assert "There is no record" in run(tmp_path / "nowhere", "export", 1, exits=2).output
    assert "not in the record" in run(data, "show", 9, exits=2).output
    assert "not in the record" in run(data, "export", 9, "--out", tmp_path / "x.zip", exits=2).output
    assert "not settled" in run(data, "recall", 2, exits=2).output
    assert "There is no record" in run(tmp_path / "nowhere", "recall", exits=2).output
    assert "dispute file, or say --all" in run(data, "verify", exits=2).output
    assert "no record" in run(tmp_path / "nowhere", "verify", "--all", exits=2).output
    assert "no anchor" in run(data, "verify", "--all", "--anchor", "FW1", exits=2).output
    assert "There is no file" in run(data, "verify", tmp_path / "no.zip", exits=2).output


def test_a_hand_is_shown_whole(data: Path) -> None:
    text = run(data, "show", 1).stdout
    assert "This hand is UNDER DISPUTE." in text
    assert "hand_reopened" in text
    assert f"image {FRAME.name}" in text
    assert "As settled and shown at" in text
    told = json.loads(run(data, "show", 1, "--json").stdout)
    assert (told["hand"], told["disputed"], told["images"][0]["state"]) == (1, True, "ok")
    assert told["rows"][0]["payload"]["hand"] == 1


def test_a_recalled_hand_says_that_it_is_one(data: Path) -> None:
    assert run(data, "recall").stdout.startswith("RECALLED: hand 1,")
    assert json.loads(run(data, "recall", 1, "--json").stdout)["recalled"] is True


def test_a_hand_is_exported_by_who_may_read_the_key_and_the_file_verifies(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "hand.zip"
    run(data, "export", 1, "--out", out)
    assert "there already" in run(data, "export", 1, "--out", out, exits=2).output
    held = run(data, "verify", out).stdout
    assert "All of it holds." in held
    assert "lead up to it without a gap." in held
    assert "It is of another key: " in held  # the slip is of the box before this one
    assert json.loads(run(data, "verify", out, "--json").stdout)["ok"] is True
    assert "another key" in run(data, "verify", out, "--key", "some-other-words", exits=1).output
    out.write_bytes(out.read_bytes()[:-100])
    assert "no whole ZIP" in run(data, "verify", out, exits=2).output
    shutil.rmtree(data.parent / "key")
    assert "no device key" in run(data, "export", 1, "--out", tmp_path / "b.zip", exits=1).output
    assert not (data.parent / "key").exists()
    assert not (tmp_path / "b.zip").exists()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda path: path.write_bytes(b"other pixels"), "had been changed on the box."),
        (lambda path: path.unlink(), "is missing."),
    ],
)
def test_a_file_of_a_hand_whose_record_does_not_hold_says_so_at_once(
    data: Path, tmp_path: Path, spoil: Callable[[Path], object], says: str
) -> None:
    spoil(CaptureStore(data).path(FRAME.name))
    out = tmp_path / "hand.zip"
    said = run(data, "export", 1, "--out", out, exits=1).output
    assert "and so does the file" in said
    assert f"The image {FRAME.name} that row" in said
    assert says in said
    assert says in run(data, "verify", out, exits=1).output


def test_a_dispute_file_settles_again_by_what_it_says_of_itself(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, unpacked = tmp_path / "hand.zip", tmp_path / "unpacked"
    run(data, "export", 1, "--out", out)
    with zipfile.ZipFile(out) as packed:
        packed.extractall(unpacked)
    words = next(re.finditer(r"feltwatch (settle .*)", (unpacked / "README.txt").read_text()))[1].split()
    monkeypatch.chdir(unpacked)
    done = CliRunner().invoke(main, [*words, "--json"])
    assert done.exit_code == 0, done.output
    again = json.loads(done.stdout)
    shown = json.loads((unpacked / "settlements.json").read_text())[-1]["settlement"]
    assert again.pop("profile") == shown.pop("profile") == "washington-1-unit"
    assert again == shown


def test_an_export_that_cannot_be_written_is_said(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "no" / "x.zip"
    assert "cannot be written" in run(data, "export", 1, "--out", out, exits=1).output


def test_a_whole_record_holds_and_its_first_bad_place_is_named(data: Path) -> None:
    run(data, "anchor")
    assert "All of it holds." in run(data, "verify", "--all", "--replay").output
    bend(data, "UPDATE journal SET actor = 'nobody' WHERE seq = 4")
    bad = run(data, "verify", "--all", exits=1)
    first, wrong, *_, last = bad.stdout.splitlines()
    assert (first, last) == ("This record does not hold.",) * 2
    assert wrong == "WRONG: row 4: The row was changed."
    assert "This record does not hold." in bad.stdout
    told = json.loads(run(data, "verify", "--all", "--json", exits=1).stdout)
    assert told["problems"][0] == {"seq": 4, "what": "The row was changed."}


def test_only_a_key_that_signed_is_said_to_have_signed_and_whose_it_is(data: Path) -> None:
    words = DeviceKey.open(data.parent / "key").words
    said = run(data, "verify", "--all").stdout
    assert f"signed by {words}" not in said, "it has signed nothing yet"
    assert "NOT this box's key: 3 heads" in said
    run(data, "anchor")
    with Journal(data) as journal:
        journal.append([ev.KeyAnnounced("ab" * 32)], "table")
    said = run(data, "verify", "--all").stdout
    assert f"signed by {words}, this box's own key: 1 heads" in said
    assert f"announced, and proven by no signature: {fingerprint(bytes.fromhex('ab' * 32))}" in said
    assert len(re.findall("signed by", said)) == 2
    shutil.rmtree(data.parent / "key")
    said = run(data, "verify", "--all").stdout
    assert "whether it is this box's key cannot be seen here" in said
    assert "own key" not in said


def test_a_record_whose_file_was_emptied_is_not_taken_for_none(data: Path) -> None:
    (data / FILE).write_bytes(b"")
    lines = run(data, "verify", "--all", exits=1).stdout.splitlines()
    assert lines[0] == lines[-1] == "This record does not hold."
    assert "The record's file holds no row, but row" in lines[1]


def test_what_the_record_itself_says_was_lost_is_said_where_all_of_the_rest_holds(data: Path) -> None:
    (data / FILE).unlink()
    shutil.rmtree(data / "captures")
    Journal(data).close()
    lines = run(data, "verify", "--all").stdout.splitlines()
    assert lines[0] == lines[-1] == "All of it holds. The record tells of faults of its own."
    assert lines[1].startswith("FAULT ON RECORD: row 1: The record ends at row 0, but row ")
    told = json.loads(run(data, "verify", "--all", "--json").stdout)
    assert [one["seq"] for one in told["faults"]] == [1]


def test_a_record_from_which_the_heads_were_left_out_says_not_signed_first_and_last(
    data: Path, tmp_path: Path
) -> None:
    rows = [row for row in JournalReader(data).events_since(0) if row.type != "head_signed"]
    bare = tmp_path / "bare"
    with Journal(bare) as journal, JournalReader(data).opened() as db:
        assert db is not None
        for kind, kept in db.execute("SELECT kind, bytes FROM content"):
            journal.keep(kind, kept)
        for row in rows:
            journal.append([row.event], row.actor)
    shutil.copytree(data / "captures", bare / "captures")
    said = run(bare, "verify", "--all", exits=1).stdout.splitlines()
    assert said[0] == said[-1] == "NOT signed."
    assert said[1] == "NOT SIGNED: NOT signed: 3 hands ended, and there is no signed head."
    told = json.loads(run(bare, "verify", "--all", "--json", exits=1).stdout)
    assert (told["ok"], told["problems"], len(told["unproven"])) == (False, [], 1)


def test_a_cut_record_is_told_by_the_slip_in_a_file(data: Path, tmp_path: Path) -> None:
    text = json.loads(run(data, "anchor", "--json").stdout)["text"]
    slip = tmp_path / "slip.txt"
    slip.write_text(text + "\n")
    end = JournalReader(data).head()[0]
    bend(data, f"DELETE FROM journal WHERE seq > {end - 3}")
    assert "its end was cut off" in run(data, "verify", "--all", "--anchor", slip, exits=1).output
    assert "its end was cut off" in run(data, "verify", "--all", "--anchor", text, exits=1).output


def test_the_slip_can_be_printed_and_read_again(data: Path, tmp_path: Path) -> None:
    files = {kind: tmp_path / f"slip.{kind}" for kind in ("svg", "png", "pdf")}
    run(data, "anchor", *(word for kind, path in files.items() for word in (f"--{kind}", path)))
    rows = JournalReader(data).anchors()
    anchor = Anchor.of(rows[-1].event)  # type: ignore[arg-type]
    assert files["svg"].read_text() == slip_svg(anchor)
    assert files["pdf"].read_bytes() == slip_pdf(anchor)
    assert files["pdf"].read_bytes().startswith(b"%PDF")
    assert any(anchor.fingerprint in line for line in slip_lines(anchor))
    assert qr(anchor).mode == "alphanumeric"
    assert dispute_verifier.read_anchor(anchor.text)[:2] == (anchor.seq, anchor.hash)
    assert _read_qr(slip_png(anchor)) == anchor.text


def _read_qr(png: bytes) -> str:
    import cv2
    import numpy as np

    image = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_GRAYSCALE)
    assert image is not None
    sizes = (1.0, 0.75, 1.5, 0.5)  # OpenCV's reader misses a code now and then at one size
    pictures = (cv2.resize(image, None, fx=k, fy=k, interpolation=cv2.INTER_AREA) for k in sizes)
    return next(filter(None, (cv2.QRCodeDetectorAruco().detectAndDecode(one)[0] for one in pictures)), "")


def test_a_full_disk_leaves_no_half_slip_and_the_one_before_as_it_was(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slip, before, synced = tmp_path / "slip.pdf", sorted(tmp_path.iterdir()), os.fsync

    def full(handle: int) -> None:
        if slip.name in Path(f"/proc/self/fd/{handle}").readlink().name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        synced(handle)

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left" in run(data, "anchor", "--pdf", slip, exits=1).output
    assert sorted(tmp_path.iterdir()) == before
    monkeypatch.undo()
    run(data, "anchor", "--pdf", slip)
    kept = slip.read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    run(data, "anchor", "--pdf", slip, exits=1)
    assert slip.read_bytes() == kept
    assert sorted(tmp_path.iterdir()) == sorted([*before, slip])


def test_a_slip_that_is_there_outlives_a_power_cut(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slip, durable, synced = tmp_path / "slip.pdf", [], os.fsync

    def noted(handle: int) -> None:
        durable.append((Path(f"/proc/self/fd/{handle}").readlink(), slip.exists()))
        synced(handle)

    monkeypatch.setattr(os, "fsync", noted)
    run(data, "anchor", "--pdf", slip)
    assert durable[-1] == (tmp_path.resolve(), True), "the folder, once the slip has its name in it"


def test_a_slip_may_go_down_a_pipe(data: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reading:
        read = reading.submit(pipe.read_bytes)
        run(data, "anchor", "--svg", pipe)
        assert b"<svg" in read.result(DEADLINE)
    assert pipe.is_fifo()


def test_a_slip_that_cannot_be_made_is_said(data: Path, tmp_path: Path) -> None:
    assert "cannot be written" in run(data, "anchor", "--png", tmp_path / "no" / "x.png", exits=1).output
    assert "no record" in run(tmp_path / "nowhere", "anchor", exits=2).output
    (data.parent / "key" / KEY_FILE).write_text("no key")
    assert "no Ed25519 key" in run(data, "anchor", exits=1).output
    (data / FILE).write_bytes(b"no journal" * 1000)
    assert "could not be read" in run(data, "list", exits=1).output
    assert CaptureStore(data).check(FRAME) == "ok"
