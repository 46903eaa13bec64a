"""The dispute file: what is in it, that it verifies without us, and that nothing in it can be changed unseen."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from firmware.record.archive import Archive
from firmware.record.dispute_file import DisputeFileError, write_dispute_file
from firmware.record.evidence import dispute_verifier
from firmware.record.evidence.anchors import Anchor, sign_head
from firmware.record.evidence.dispute_verifier import (
    HASH,
    PAYLOAD,
    PREVIOUS,
    TYPE,
    CannotCheck,
    check,
    ed25519_holds,
    key_words,
)
from firmware.record.evidence.signing import DeviceKey, fingerprint, signed_by
from firmware.record.hand_history import load_hand
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import Journal
from firmware.rules import load_profile, profile_toml
from firmware.table import CommandRefused, Phase, fold
from firmware.table import events as ev
from firmware.table.events import Calibration
from firmware.table.settling import settlement
from tests.examples import examples
from tests.firmware.conftest import FRAME, PIXELS, ROWS, Deal

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = DeviceKey(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))


def record(folder: Path, *, announced: bool = True) -> Path:
    """Two hands, the first under dispute and reopened; a signed head after them, and a third hand open."""
    deal = Deal(ROWS)
    with Journal(folder) as journal:
        CaptureStore(folder).save(FRAME.name, PIXELS)
        if announced:
            journal.append([ev.KeyAnnounced(KEY.public.hex())], "table")
        rules = journal.keep("profile", profile_toml(load_profile("washington-1-unit")).encode())
        opened = ev.HandOpened(1, "washington-1-unit", rules, 100, deal.opened().seats, 1)
        play = [opened, *deal.until(Phase.REVIEW)[1:]]
        told = settlement(fold(play), load_profile("washington-1-unit"))
        journal.append([*play, ev.HandSettled(told), ev.HandArchived()], "test")
        sign(journal)
        journal.append([deal.opened(2), ev.HandVoided("a test")], "test")
        sign(journal)
        journal.append([ev.HandDisputed(1, "that was not my card")], "floor:Moreno")
        ends = tuple(
            ev.SeatEnd(n, rows={r: tuple(c.split()) for r, c in of.items()}) for n, of in ROWS.items()
        )
        again = [ev.HandReopened("a wrong card", opened, 1, ends, told), ev.HandArchived()]
        journal.append(again, "floor:Moreno")
    anchor(folder)
    with Journal(folder) as journal:
        journal.append([deal.opened(3)], "test")
    return folder


def sign(journal: Journal) -> Anchor:
    seq, digest = journal.head
    event = sign_head(KEY, seq=seq, digest=digest, hands=2, wall_ms=1_700_000_000_000, table="Table 12")
    journal.append([event], "table")
    return Anchor.of(event)


def anchor(folder: Path) -> Anchor:
    with Journal(folder) as journal:
        return sign(journal)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("record"))


@pytest.fixture(scope="module")
def file(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out") / "hand-000001.zip"
    return write_dispute_file(Archive(data), 1, KEY, out, lambda hand: b"%PDF of hand " + str(hand).encode())


def contents(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def packed(files: dict[str, bytes], out: Path) -> Path:
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out


def signed(files: dict[str, bytes], out: Path, **changed: Any) -> Path:
    """Pack with a manifest that fits, signed by the key: what a forger with the box in hand could do."""
    import hashlib

    rest = {n: d for n, d in files.items() if n not in ("manifest.json", "manifest.sig")}
    manifest = json.loads(files["manifest.json"]) | changed
    manifest["files"] = {name: hashlib.sha256(data).hexdigest() for name, data in rest.items()}
    text = json.dumps(manifest).encode()
    return packed(rest | {"manifest.json": text, "manifest.sig": KEY.sign(text).hex().encode()}, out)


def test_a_dispute_file_holds_what_proves_the_hand(file: Path) -> None:
    files = contents(file)
    assert {
        "README.txt",
        "verify.py",
        "hand.pdf",
        "rows.jsonl",
        "settlements.json",
        "hand.json",
        "anchors.txt",
    } <= set(files)
    assert files[f"images/{FRAME.name}"] == PIXELS
    manifest = json.loads(files["manifest.json"])
    assert (manifest["hand"], manifest["key"], manifest["disputed"]) == (1, KEY.public.hex(), True)
    assert (
        files[f"content/{manifest['profile_hash']}"].startswith(b"# ")
        or b"name" in files[f"content/{manifest['profile_hash']}"]
    )
    kinds = [json.loads(line)[TYPE] for line in files["rows.jsonl"].splitlines()]
    assert kinds[0] == "hand_opened"
    assert "hand_reopened" in kinds
    assert kinds[-1] == "head_signed"
    anchors = files["anchors.txt"].decode().splitlines()
    assert {Anchor.parse(text).key for text in anchors} == {KEY.public.hex()}
    assert len(anchors) == 2, "one signs the hand, one its correction"


def test_it_holds(file: Path) -> None:
    report = check(str(file))
    assert report.wrong == []
    assert any(fingerprint(KEY.public) in sentence for sentence in report.holds)
    assert any("lead up to it" in sentence for sentence in report.holds)


def test_it_holds_on_a_bare_python(file: Path, tmp_path: Path) -> None:
    script = tmp_path / "verify.py"
    script.write_bytes(contents(file)["verify.py"])
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(script), str(file), "--key", fingerprint(KEY.public)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "All of it holds." in done.stdout
    assert "It is the key that was given." in done.stdout
    assert list(tmp_path.iterdir()) == [script]


def test_the_verifier_keeps_to_python_3_9() -> None:
    import ast

    source = Path(dispute_verifier.__file__).read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 9))
    imported = {n.name for node in ast.walk(tree) if isinstance(node, ast.Import) for n in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= set(sys.stdlib_module_names)


def test_the_same_record_gives_the_same_bytes(data: Path, tmp_path: Path) -> None:
    one, other = (write_dispute_file(Archive(data), 1, KEY, tmp_path / name) for name in ("a.zip", "b.zip"))
    assert one.read_bytes() == other.read_bytes()


@examples(70)
@given(st.data())
def test_every_single_bit_that_is_changed_in_it_is_detected(
    tmp_path_factory: pytest.TempPathFactory, file: Path, draw: st.DataObject
) -> None:
    files = contents(file)
    name = draw.draw(st.sampled_from(sorted(files)))
    bit = draw.draw(st.integers(0, 8 * len(files[name]) - 1))
    changed = bytearray(files[name])
    changed[bit // 8] ^= 1 << bit % 8
    out = packed(files | {name: bytes(changed)}, tmp_path_factory.getbasetemp() / "bit.zip")
    try:
        report = check(str(out))
    except CannotCheck:
        return
    assert not report.ok


def rows_of(file: Path) -> list[list[Any]]:
    return [json.loads(line) for line in contents(file)["rows.jsonl"].splitlines()]


def with_rows(file: Path, rows: list[list[Any]], out: Path) -> Path:
    text = "".join(dispute_verifier.canonical(row) + "\n" for row in rows).encode()
    return signed(contents(file) | {"rows.jsonl": text}, out)


def test_a_changed_row_is_named_even_where_the_manifest_was_signed_again(file: Path, tmp_path: Path) -> None:
    rows = rows_of(file)
    read = next(row for row in rows if row[TYPE] == "reading_taken")
    read[PAYLOAD] = read[PAYLOAD].replace("9c", "9s")
    report = check(str(with_rows(file, rows, tmp_path / "x.zip")))
    assert report.wrong[0] == f"Row {read[0]} was changed."


def test_a_removed_row_is_named(file: Path, tmp_path: Path) -> None:
    rows = rows_of(file)
    del rows[2]
    assert "Rows of hand 1 are missing." in check(str(with_rows(file, rows, tmp_path / "x.zip"))).wrong


def test_two_swapped_rows_are_named(file: Path, tmp_path: Path) -> None:
    rows = rows_of(file)
    rows[2], rows[3] = rows[3], rows[2]
    assert "out of order" in " ".join(check(str(with_rows(file, rows, tmp_path / "x.zip"))).wrong)


def test_rows_that_were_rewritten_and_chained_anew_do_not_fit_the_slip(
    data: Path, file: Path, tmp_path: Path
) -> None:
    slip = contents(file)["anchors.txt"].decode().splitlines()[0]
    rows = rows_of(file)
    previous = rows[0][PREVIOUS]
    for row in rows:
        row[PAYLOAD] = row[PAYLOAD].replace("that was not my card", "all is well")
        row[PREVIOUS], row[HASH] = previous, ""
        row[HASH] = previous = dispute_verifier.row_hash(row)
    forged = with_rows(file, rows, tmp_path / "x.zip")
    assert any("was rewritten" in sentence for sentence in check(str(forged), (slip,)).wrong)


def chained_again(rows: list[list[Any]]) -> list[list[Any]]:
    """Seal rows again, each after the one before it where that is there: a forger with the box could."""
    before = rows[0]
    for row in rows:
        if row[0] == before[0] + 1:
            row[PREVIOUS] = before[HASH]
        row[HASH] = dispute_verifier.row_hash(row)
        before = row
    return rows


def anchored(seq: int) -> str:
    """An anchor of the right key, of a row that no file here holds."""
    return Anchor.of(
        sign_head(KEY, seq=seq, digest="0" * 64, hands=9, wall_ms=1_700_000_000_000, table="")
    ).text


def test_a_slip_vouches_for_the_hand_that_leads_up_to_it(file: Path) -> None:
    slip = contents(file)["anchors.txt"].decode().splitlines()[0]
    report = check(str(file), (slip,))
    assert report.ok
    assert sum("vouches for this hand" in sentence for sentence in report.holds) == 2
    assert not report.beside


def test_a_hand_that_was_sealed_anew_without_the_rows_up_to_the_slip_does_not_hold(
    file: Path, tmp_path: Path
) -> None:
    slip = contents(file)["anchors.txt"].decode().splitlines()[0]
    rows = rows_of(file)
    ends = next(row[0] for row in rows if row[TYPE] == "hand_archived")
    for row in rows:
        row[PAYLOAD] = row[PAYLOAD].replace("9c", "9s")
    own = chained_again([row for row in rows if row[0] <= ends])
    for inside, head in ((slip, 99), ("", 99), ("", ends)):  # and whatever the forged manifest says
        text = "".join(dispute_verifier.canonical(row) + "\n" for row in own).encode()
        files = contents(file) | {"rows.jsonl": text, "anchors.txt": inside.encode()}
        out = signed(files, tmp_path / "x.zip", last=ends, head={"seq": head, "hash": "0" * 64})
        wrong = check(str(out), (slip,)).wrong
        assert wrong[-1] == "No anchor that was given vouches for this hand."
        if head > ends:
            assert any("the record was rewritten" in sentence for sentence in wrong)


def test_a_slip_that_does_not_reach_the_hand_is_told_to_say_nothing(file: Path, tmp_path: Path) -> None:
    last = rows_of(file)[-1][0]
    slip = contents(file)["anchors.txt"].decode().splitlines()[0]
    nearer = int(slip.split(":")[2])
    for seq, why in (
        (1, "is older than the hand's end"),
        (last + 7, f"a nearer one is of row {nearer}"),
    ):
        report = check(str(file), (anchored(seq),))
        assert why in report.beside[0]
        assert report.wrong == ["No anchor that was given vouches for this hand."]
    both = check(str(file), (anchored(1), slip))
    assert both.ok
    assert len(both.beside) == 1
    bare = signed(contents(file) | {"anchors.txt": b""}, tmp_path / "x.zip")
    assert "export it again" in check(str(bare), (anchored(last + 7),)).beside[0]
    far = signed(contents(file) | {"anchors.txt": b""}, tmp_path / "y.zip", head={"seq": 10**6, "hash": ""})
    assert "more than 5000 rows after" in check(str(far), (anchored(6000),)).beside[0]
    wrong = check(str(far), (anchored(last + 7),)).wrong
    assert any(what.endswith(f"and the anchored row {last + 7} are missing.") for what in wrong)


def test_an_image_that_no_row_names_and_one_that_is_missing_are_named(file: Path, tmp_path: Path) -> None:
    files = contents(file)
    without = {name: data for name, data in files.items() if name != f"images/{FRAME.name}"}
    assert f"The image {FRAME.name} that row" in " ".join(
        check(str(signed(without, tmp_path / "a.zip"))).wrong
    )
    more = files | {"images/another.jpg": b"x"}
    wrong = check(str(signed(more, tmp_path / "b.zip"))).wrong
    assert wrong == ["The image another.jpg is named by no row."]
    other = files | {f"images/{FRAME.name}": b"other pixels"}
    assert "is not the one that row" in " ".join(check(str(signed(other, tmp_path / "c.zip"))).wrong)


def test_settlements_that_no_row_holds_are_named(file: Path, tmp_path: Path) -> None:
    files = contents(file)
    shown = json.loads(files["settlements.json"])
    shown[0]["settlement"]["stacks"] = {}
    changed = files | {"settlements.json": json.dumps(shown).encode()}
    assert check(str(signed(changed, tmp_path / "x.zip"))).wrong == [
        "settlements.json is not what the rows say."
    ]


def test_dropped_images_are_no_missing_ones(tmp_path: Path) -> None:
    folder = record(tmp_path / "data")
    with Journal(folder) as journal:
        journal.append([ev.HandVoided("a test"), ev.DisputeClosed(1, "it was")], "test")
        journal.append([ev.ImagesDropped(1, (FRAME,), "older than a year")], "table")
    (folder / "captures" / FRAME.name).unlink()
    report = check(str(write_dispute_file(Archive(folder), 1, KEY, tmp_path / "x.zip")))
    assert report.wrong == []
    assert any("were dropped by the house's rule" in sentence for sentence in report.holds)


def test_rules_that_are_not_those_of_the_hand_are_named(file: Path, tmp_path: Path) -> None:
    files = contents(file)
    manifest = json.loads(files["manifest.json"])
    assert files["rules.toml"] == files[f"content/{manifest['profile_hash']}"]
    changed = files | {"rules.toml": files["rules.toml"] + b"# another line"}
    (wrong,) = check(str(signed(changed, tmp_path / "x.zip"))).wrong
    assert wrong.startswith("rules.toml is not the profile that row ")


def test_the_calibrations_that_the_hand_was_read_by_are_named_and_held(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    deal = Deal(ROWS)
    with Journal(folder) as journal:
        lens = journal.keep("lens", b"how the lens bends")
        opened = replace(deal.opened(), calibrations={"lens": Calibration(lens)})
        journal.append([opened, ev.HandVoided("a test")], "test")
        sign(journal)
    out = write_dispute_file(Archive(folder), 1, KEY, tmp_path / "x.zip")
    files = contents(out)
    assert json.loads(files["manifest.json"])["calibrations"] == {"lens": lens}
    assert files[f"content/{lens}"] == b"how the lens bends"
    assert check(str(out)).ok
    del files[f"content/{lens}"]
    (wrong,) = check(str(signed(files, tmp_path / "y.zip"))).wrong
    assert wrong.startswith("The lens calibration that row ")


# ---- what cannot be checked: a sentence ----

NONSENSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


@pytest.mark.slow
@examples(150)
@given(st.data())
def test_whatever_a_forger_writes_into_it_gets_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, file: Path, draw: st.DataObject
) -> None:
    files = contents(file)
    out = tmp_path_factory.getbasetemp() / "nonsense.zip"
    changed: dict[str, Any] = {}
    where = draw.draw(st.sampled_from(["row", "manifest", "settlements"]))
    if where == "row":
        rows = rows_of(file)
        rows[0][draw.draw(st.integers(0, 10))] = draw.draw(NONSENSE)
        files["rows.jsonl"] = "".join(json.dumps(row) + "\n" for row in rows).encode()
    elif where == "manifest":
        names = ["hand", "first", "last", "version", "key", "images", "profile_hash"]
        changed[draw.draw(st.sampled_from(names))] = draw.draw(NONSENSE)
    else:
        shown = json.loads(files["settlements.json"])
        shown[0]["row"] = draw.draw(NONSENSE)
        files["settlements.json"] = json.dumps(shown).encode()
    try:
        report = check(str(signed(files, out, **changed)))
    except CannotCheck:
        return
    "".join((*report.holds, *report.wrong)).encode()


def test_a_last_row_that_there_cannot_be_is_said_at_once(file: Path, tmp_path: Path) -> None:
    out = signed(contents(file), tmp_path / "x.zip", last=10**12)
    assert "Rows of hand 1 are missing." in check(str(out)).wrong


def test_a_packing_that_is_damaged_is_said_whatever_its_kind(file: Path, tmp_path: Path) -> None:
    for kind in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        out = tmp_path / f"{kind}.zip"
        with zipfile.ZipFile(out, "w", kind) as archive:
            archive.writestr("rows.jsonl", bytes(range(256)) * 64)
        raw = bytearray(out.read_bytes())
        raw[60:90] = bytes(30)
        out.write_bytes(raw)
        with pytest.raises(CannotCheck):
            check(str(out))


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda raw: raw[: len(raw) // 2], "no whole ZIP"),
        (lambda raw: b"no zip at all", "no whole ZIP"),
        (lambda raw: b"", "no whole ZIP"),
    ],
)
def test_a_half_written_zip_is_said(
    file: Path, tmp_path: Path, spoil: Callable[[bytes], bytes], sentence: str
) -> None:
    out = tmp_path / "x.zip"
    out.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(CannotCheck, match=sentence):
        check(str(out))


def test_a_file_of_another_version_or_another_program_is_said(file: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotCheck, match="dispute file of version 3"):
        check(str(signed(contents(file), tmp_path / "a.zip", version=3)))
    with pytest.raises(CannotCheck, match="another program's"):
        check(str(signed(contents(file), tmp_path / "b.zip", format="else")))
    with pytest.raises(CannotCheck, match="no manifest"):
        check(str(packed({"a": b"b"}, tmp_path / "c.zip")))
    with pytest.raises(CannotCheck, match="There is no file"):
        check(str(tmp_path / "none.zip"))


def test_another_key_is_said(file: Path, tmp_path: Path) -> None:
    other = DeviceKey(Ed25519PrivateKey.generate())
    assert "another key" in " ".join(check(str(file), key=fingerprint(other.public)).wrong)
    manifest = contents(file)["manifest.json"]
    forged = contents(file) | {"manifest.sig": other.sign(manifest).hex().encode()}
    assert check(str(packed(forged, tmp_path / "x.zip"))).wrong == [
        "The manifest was not signed by the key that it names."
    ]


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "bomb.zip"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bomb:
        for number in range(4):
            bomb.writestr(f"{number}", bytes(4 << 20))
    assert out.stat().st_size < 1 << 20
    monkeypatch.setattr(dispute_verifier, "MAX_BYTES", 12 << 20)
    with pytest.raises(CannotCheck, match="more than any dispute file has"):
        check(str(out))
    raw = out.read_bytes()
    # it says less
    out.write_bytes(raw.replace((4 << 20).to_bytes(4, "little"), (1 << 20).to_bytes(4, "little")))
    with pytest.raises(CannotCheck):
        check(str(out))
    monkeypatch.setattr(dispute_verifier, "MAX_FILES", 3)
    with pytest.raises(CannotCheck, match="more than any dispute file has"):
        check(str(out))


def test_a_name_that_is_there_twice_is_said(tmp_path: Path) -> None:
    out = tmp_path / "x.zip"
    with zipfile.ZipFile(out, "w") as packed_twice:
        packed_twice.writestr("manifest.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            packed_twice.writestr("manifest.json", "{}")
    with pytest.raises(CannotCheck, match="twice"):
        check(str(out))


def test_a_hand_that_does_not_exist_or_is_open_is_said(data: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandRefused, match="Hand 9 is not in the record"):
        write_dispute_file(Archive(data), 9, KEY, tmp_path / "x.zip")
    with pytest.raises(CommandRefused, match="still open"):
        write_dispute_file(Archive(data), 3, KEY, tmp_path / "x.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_during_export_leaves_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DisputeFileError, match="the disk is full"):
        write_dispute_file(Archive(data), 1, KEY, tmp_path / "x.zip")
    monkeypatch.undo()
    with pytest.raises(DisputeFileError, match="cannot be written"):
        write_dispute_file(Archive(data), 1, KEY, tmp_path / "no" / "folder.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_cannot_be_made_holds_no_evidence_back(data: Path, tmp_path: Path) -> None:
    def breaks(hand: int) -> bytes:
        raise ValueError("no font")

    file = write_dispute_file(Archive(data), 1, KEY, tmp_path / "x.zip", breaks)
    assert contents(file)["hand.pdf.missing.txt"] == b"This page could not be made on the box: no font\n"
    assert check(str(file)).ok


# ---- our own Ed25519 ----

RFC_8032 = [  # section 7.1: public key, message, signature
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.mark.parametrize(("public", "message", "signature"), RFC_8032)
def test_the_rfcs_signatures_hold(public: str, message: str, signature: str) -> None:
    assert ed25519_holds(bytes.fromhex(public), bytes.fromhex(signature), bytes.fromhex(message))
    assert not ed25519_holds(bytes.fromhex(public), bytes.fromhex(signature), bytes.fromhex(message) + b"x")


@examples(30)
@given(st.binary(min_size=32, max_size=32), st.binary(max_size=200), st.integers(0, 511))
def test_our_ed25519_agrees_with_the_library(seed: bytes, message: bytes, bit: int) -> None:
    key = DeviceKey(Ed25519PrivateKey.from_private_bytes(seed))
    signature = key.sign(message)
    assert ed25519_holds(key.public, signature, message)
    changed = bytearray(signature)
    changed[bit // 8] ^= 1 << bit % 8
    assert not ed25519_holds(key.public, bytes(changed), message)


def test_a_signature_with_the_groups_order_added_is_refused() -> None:
    signature = KEY.sign(b"x")
    scalar = int.from_bytes(signature[32:], "little") + 2**252 + 27742317777372353535851937790883648493
    assert not ed25519_holds(KEY.public, signature[:32] + scalar.to_bytes(32, "little"), b"x")
    assert not ed25519_holds(b"\xff" * 32, signature, b"x")
    assert not ed25519_holds(b"", signature, b"x")


def test_a_key_of_small_order_has_signed_nothing() -> None:
    prime = 2**255 - 19
    small = [
        int.from_bytes(bytes.fromhex(y), "little")
        for y in ("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",)
    ]
    for y in (0, 1, prime - 1, prime, prime + 1, small[0], prime - small[0]):
        for sign in (0, 1 << 255):
            key = (y + sign).to_bytes(32, "little")
            # eight messages bring one for which it holds, whichever point it is
            forged = bytes([1]) + bytes(63)
            for number in range(64):
                message = f"{number}".encode()
                assert not signed_by(key, forged, message)
                assert not ed25519_holds(key, forged, message)


def test_a_key_has_the_same_five_words_in_every_release() -> None:
    assert key_words(bytes(32)) == fingerprint(bytes(32)) == "kinom-lopot-zodof-rujul-kufaz"
    assert len(fingerprint(KEY.public).split("-")) == 5


def test_a_dispute_that_is_closed_while_another_hand_is_reopened_keeps_neither_from_being_followed(
    tmp_path: Path,
) -> None:
    deal = Deal(ROWS)
    data = record(tmp_path / "data")
    ends = tuple(ev.SeatEnd(n, rows={r: tuple(c.split()) for r, c in of.items()}) for n, of in ROWS.items())
    opened = Archive(data).hand(1).opened
    told = Archive(data).hand(1).settlements[-1].event
    assert isinstance(told, ev.HandSettled)
    with Journal(data) as journal:
        journal.append([ev.HandVoided("a test"), ev.HandDisputed(2, "whose button?")], "test")
        again = ev.HandReopened("once more", opened, 1, ends, told.settlement)
        journal.append([again, ev.DisputeClosed(2, "seat 1's"), ev.HandArchived()], "floor:Moreno")
        journal.append([deal.opened(4), ev.HandVoided("a test")], "test")
    followed = load_hand(Archive(data).reader, 1)
    assert [chapter.is_over for chapter in followed.corrections] == [True, True]


def test_a_hand_without_a_signed_head_is_not_signed_and_says_so_first_and_last(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with Journal(folder) as journal:
        journal.append([Deal(ROWS).opened(), ev.HandVoided("a test")], "test")
    report = check(str(write_dispute_file(Archive(folder), 1, KEY, tmp_path / "x.zip")))
    assert report.wrong == ["Row 2 ends the hand and is NOT signed: no signed head follows it here."]
    assert report.lines()[0] == report.lines()[-1] == "This file does not hold. The hand is NOT signed."


@pytest.mark.parametrize(
    ("between", "holds"),
    [
        ([ev.RecordFault("damaged", 2, detail="the house saw it")], False),
        ([ev.RecordRestored(2, "ab" * 32)], False),
        ([ev.TableStarted()], True),
        ([Deal(ROWS).opened(2), ev.HandVoided("a test")], False),
    ],
)
def test_a_head_that_was_signed_after_a_fault_a_restore_or_the_next_hand_proves_no_hand_before(
    tmp_path: Path, between: list[ev.Event], holds: bool
) -> None:
    folder = tmp_path / "data"
    with Journal(folder) as journal:
        journal.append([Deal(ROWS).opened(), ev.HandVoided("a test")], "test")
        journal.append(between, "table")
        sign(journal)
    report = check(str(write_dispute_file(Archive(folder), 1, KEY, tmp_path / "x.zip")))
    assert report.is_signed is report.ok is holds
    assert (
        holds or f"comes row 3, {between[0].type}" in report.wrong[0] or between[-1].type in report.wrong[0]
    )


def test_a_slip_proves_a_hand_whose_signed_heads_were_left_out_of_the_file(
    file: Path, tmp_path: Path
) -> None:
    slip = contents(file)["anchors.txt"].decode().splitlines()[0]
    bare = signed(contents(file) | {"anchors.txt": b""}, tmp_path / "x.zip")
    ends = [what for what in check(str(bare), (slip,)).wrong if "NOT signed" in what]
    assert len(ends) == 1, "the correction, which the slip does not reach"
    assert len([what for what in check(str(bare)).wrong if "NOT signed" in what]) == 2
