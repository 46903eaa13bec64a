"""The dispute file: a hand with all its evidence, in one ZIP that can be verified without Feltwatch.

`firmware.record.evidence.dispute_verifier` documents its content and checks it; it is included as verify.py and needs
only Python. The same record gives the same bytes.
"""

import errno
import hashlib
import logging
import os
import re
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from firmware.messages import Message
from firmware.record.archive import Archive, Hand, Image
from firmware.record.evidence import dispute_verifier as form
from firmware.record.evidence.anchors import Anchor
from firmware.record.evidence.signing import DeviceKey, fingerprint
from firmware.record.journal.disk import FILE_MODE, sync_folder
from firmware.record.journal.journal import Entry
from firmware.record.journal.row_index import ENDS
from firmware.record.reopening import end_of_hand
from firmware.table import events as ev
from firmware.table.errors import CommandRefused, TableError
from firmware.table.events import canonical
from firmware.table.settling import hand_json

log = logging.getLogger(__name__)

EXPORTS: Final = "exports"
"""The folder in the data folder to which the table exports dispute files."""
PDF: Final = "hand.pdf"
Proofs = Callable[[list[int]], Mapping[str, bytes]]
"""Numbers of signed rows → files of a dispute file, by name."""
_HASH: Final = re.compile(r'"([0-9a-f]{64})"')
_PACKED: Final = (".jpg", ".png", ".pdf")
_README: Final = """Feltwatch dispute file: hand {hand}{table}

hand.pdf           the hand for people: pictures, timeline, settlement with clauses (where this box could make it)
rows.jsonl         the rows of the record, exactly as they were chained: {first} to {last} are the hand's own
settlements.json   every settlement that was shown, with the row that holds it
hand.json          the hand as it ended, and rules.toml, what it was played by: unpacked they settle again with
                   feltwatch settle hand.json --profile rules.toml
content/           rules, felt and calibration that the hand was opened with, by their SHA-256
images/            what the camera saw, named in the rows by SHA-256
anchors.txt        signed heads of the record that cover these rows, as printed on the slips at shift end
proofs/            that one of these heads is in the pit's log (if the table sends to a pit): c2sp.org/tlog-proof
manifest.json      what is in here, with the SHA-256 of each file; manifest.sig: its Ed25519 signature
verify.py          checks all of this; needs Python 3.9 or later and nothing else

    python3 verify.py THIS_FILE.zip

Signed by the device whose key in words is: {words}
Compare these words with those on the box or on a slip. Get verify.py from elsewhere if you do not trust this file.
Rows after the hand's own lead up to the next anchor; they tell of other hands at the table.
"""


class DisputeFileError(TableError, OSError):
    """The dispute file cannot be written; no part of it remains."""


def export_path(data: Path, hand: int) -> Path:
    """Return the path to which the table exports a hand's dispute file."""
    return data / EXPORTS / f"hand-{hand:06}.zip"


def write_dispute_file(
    archive: Archive,
    number: int,
    key: DeviceKey,
    out: Path,
    pdf: Callable[[int], bytes] | None = None,
    proofs: Proofs | None = None,
) -> Path:
    """Write a hand's dispute file and return its path; `pdf` renders the hand for people to read.

    `proofs`: finds the proofs that the signed heads in the file are in a pit's log.

    An existing file is replaced atomically. Raises CommandRefused for a hand that is not in the record or still open,
    DisputeFileError, JournalError; then no part of the file remains.
    """
    hand = archive.hand(number)
    if hand.play[-1].type not in ENDS:
        raise CommandRefused("Hand %(hand)s is still open; it can be exported once it is over.", hand=number)
    part = out.with_name(f".{out.name}.part")
    try:
        _write(part, archive, hand, key, _page(number, pdf), proofs)
        part.replace(out)
        sync_folder(out.parent)
    except OSError as error:
        _forget(part)
        if isinstance(error, TableError):
            raise
        why = Message("the disk is full") if error.errno == errno.ENOSPC else error
        raise DisputeFileError(
            "The dispute file %(path)s cannot be written: %(why)s.", path=str(out), why=why
        ) from error
    except BaseException:
        _forget(part)
        raise
    return out


def _page(number: int, pdf: Callable[[int], bytes] | None) -> tuple[str, bytes] | None:
    """Return the PDF's name and bytes; a text file with the error if rendering fails, as the PDF is not evidence."""
    if pdf is None:
        return None
    try:
        return PDF, pdf(number)
    except Exception as error:
        log.error("the page of hand %s could not be made: %s", number, error)
        return f"{PDF}.missing.txt", f"This page could not be made on the box: {error}\n".encode()


def _forget(part: Path) -> None:
    with suppress(OSError):
        part.unlink(missing_ok=True)


def _write(
    part: Path,
    archive: Archive,
    hand: Hand,
    key: DeviceKey,
    page: tuple[str, bytes] | None,
    proofs: Proofs | None,
) -> None:
    images = archive.images(hand)
    rows, anchors = _rows(archive, hand)
    head = archive.reader.head()
    digests: dict[str, str] = {}
    with part.open("wb") as file:
        os.fchmod(file.fileno(), FILE_MODE)
        with zipfile.ZipFile(file, "w") as packed:

            def put(name: str, data: bytes) -> None:
                digests[name] = hashlib.sha256(data).hexdigest()
                _put(packed, name, data)

            table = hand.opened.house.table
            text = _README.format(
                hand=hand.hand,
                table=f" at table {table}" if table else "",
                first=hand.rows[0].seq,
                last=hand.rows[-1].seq,
                words=fingerprint(key.public),
            )
            put("README.txt", text.encode())
            put("verify.py", Path(form.__file__).read_bytes())
            if page is not None:
                put(*page)
            put(form.ROWS, b"".join(canonical(list(row)).encode() + b"\n" for row in rows))
            put(form.SETTLEMENTS, _settlements(hand))
            put(form.ANCHORS, "".join(f"{anchor.text}\n" for anchor in anchors).encode())
            logged = proofs([anchor.seq for anchor in anchors]) if proofs else {}
            for name, data in logged.items():
                put(name, data)
            with suppress(CommandRefused):  # a void hand may have nothing to settle
                final = hand_json(end_of_hand(archive.reader, hand.hand))
                del final["profile"]  # on another box that name may mean other rules, or none
                put("hand.json", canonical(final).encode())
            rules = archive.reader.content(hand.opened.profile_hash)
            if rules is not None:
                put(form.RULES, rules)
            for digest in dict.fromkeys(_HASH.findall(hand.rows[0].payload)):
                content = archive.reader.content(digest)
                if content is not None:
                    put(form.CONTENT + digest, content)
            for image in images:
                # `load` raises for an unreadable one, so no file is written
                if image.state in ("ok", "unreadable"):
                    put(form.IMAGES + image.capture.name, archive.load(image.capture))
            record = {"record": archive.reader.events_since(0, 1)[0].hash} if logged else {}
            manifest = canonical(_manifest(hand, images, head, key, digests) | record).encode()
            _put(packed, form.MANIFEST, manifest)
            _put(packed, form.SIGNATURE, key.sign(manifest).hex().encode())
        file.flush()
        os.fsync(file.fileno())


def _put(packed: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # a fixed time, so that the bytes are reproducible
    info.create_system = 3
    info.external_attr = 0o644 << 16
    info.compress_type = zipfile.ZIP_STORED if name.endswith(_PACKED) else zipfile.ZIP_DEFLATED
    packed.writestr(info, data)


def _rows(archive: Archive, hand: Hand) -> tuple[list[Entry], list[Anchor]]:
    """Return the hand's rows, the rows about it, those up to the next anchor, and the anchors among them."""
    rows = {row.seq: row for row in (*hand.rows, *hand.later)}
    ends = [row.seq for row in hand.later if row.type in ENDS]
    since = [hand.play[-1].seq, *ends, *(row.seq for row in hand.later[-1:])]
    for last in dict.fromkeys(since):  # later rows about the hand are covered by a later anchor
        for anchor in archive.reader.anchors(last, 1):
            if anchor.seq - last <= form.BRIDGE:
                rows |= {row.seq: row for row in archive.reader.events_since(last, anchor.seq - last)}
    chosen = [rows[seq] for seq in sorted(rows)]
    signed = [row.event for row in chosen if row.type == ev.HeadSigned.type]
    return chosen, [Anchor.of(event) for event in signed if isinstance(event, ev.HeadSigned)]


def _settlements(hand: Hand) -> bytes:
    shown: list[dict[str, Any]] = []
    for row in hand.settlements:
        event = row.event
        assert isinstance(event, ev.HandSettled)
        shown.append({"row": row.seq, "wall_ms": row.wall_ms, "settlement": event.settlement})
    return canonical(shown).encode()


def _manifest(
    hand: Hand, images: list[Image], head: tuple[int, str], key: DeviceKey, digests: dict[str, str]
) -> dict[str, Any]:
    opened = hand.opened
    return {
        "format": form.FORMAT,
        "version": form.VERSION,
        "hand": hand.hand,
        "first": hand.rows[0].seq,
        "last": hand.rows[-1].seq,
        "table": opened.house.table,
        "profile": opened.profile,
        "profile_hash": opened.profile_hash,
        "layout_hash": opened.layout_hash,
        "calibrations": {what: one.hash for what, one in sorted(opened.calibrations.items())},
        "model_hash": opened.model_hash,
        "software": opened.software,
        "disputed": hand.disputed,
        "head": {"seq": head[0], "hash": head[1]},
        "key": key.public.hex(),
        "images": [
            {
                "name": image.capture.name,
                "sha256": image.capture.sha256,
                "row": image.row,
                "state": image.state,
            }
            for image in images
        ],
        "files": digests,
    }
