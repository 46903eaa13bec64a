"""Checks a Feltwatch dispute file. Needs Python 3.9 or later and nothing else: no package, no network.

    python3 verify.py hand-000012.zip [--anchor TEXT_FROM_THE_SLIP] [--key WORDS] [--log WORDS]

Every dispute file contains it as verify.py. If you do not trust the file, get this program from a source you trust. It
checks:

- the device's key signed the manifest, and every file matches the manifest;
- each row of the record has the correct hash and follows the row before it;
- each image is the one that a row names;
- the anchors (the signed heads printed at shift end) agree with the rows;
- where the table sends to a pit: a signed head of these rows is in the pit's log, whose checkpoint the pit has signed
  and the tables have cosigned (formats: RFC 6962, c2sp.org/tlog-proof).

An anchor vouches for the hand if all rows from the hand's first to the anchored one are in the file. Otherwise it does
not reach the hand and proves nothing about it. A hand is NOT signed if no signed head follows each of its ends, before
the next hand ends and before a fault or a restore of the record; only a slip that vouches for it then proves it. Exit
status: 0 if all holds, 1 if something does not (also if the hand is not signed, or if anchors were given and none
vouches for it), 2 if the file cannot be used.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import stat
import sys
import unicodedata
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

FORMAT = "feltwatch-dispute"
VERSION = 2
"""From version 2 on each end of the hand must be signed; files of version 1 say it where it is not."""
MANIFEST = "manifest.json"
SIGNATURE = "manifest.sig"
ROWS = "rows.jsonl"
SETTLEMENTS = "settlements.json"
RULES = "rules.toml"
ANCHORS = "anchors.txt"
PROOFS = "proofs/"
"""Proofs that a signed head is in the pit's log: proofs/ROW.tlog-proof."""
LOG_KEYS = "proofs/keys.txt"
"""The public keys of the log and of its witnesses, a line each, as signed notes write them."""
CONTENT = "content/"
IMAGES = "images/"
MAX_BYTES = 512 * 1024 * 1024
"""Limit on the unpacked size in bytes; larger files are not unpacked. A hand has at most about 20 MB of images."""
MAX_FILES = 5000
BRIDGE = 5000
"""Limit on the rows that connect the hand to the next anchor: about a hundred hands."""
COLUMNS = (int, int, str, int, int, str, str, str, str, str, str, str)
SEQ, HAND, TYPE, PAYLOAD, PREVIOUS, HASH = 0, 1, 8, 9, 10, 11
ENDS = ("hand_archived", "hand_voided", "hand_misdealt", "hand_withdrawn")
SIGNED, STARTED = "head_signed", "table_started"
BREAKS = ("record_fault", "record_restored")
"""Types of rows before which the record may have been changed: a head signed later proves no row before them."""
_ANCHOR = re.compile(
    r"FW1:([A-Z0-9.-]*):(\d{1,15}):(\d{1,15}):(\d{1,15}):([0-9A-F]{64}):([0-9A-F]{64}):([A-Z2-7]{103})"
)


class CannotCheck(Exception):
    """The file is not a dispute file, or not one that this release can check; the message is one sentence."""


# ---- Ed25519, RFC 8032 section 5.1, verification only ----

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_I = pow(2, (_P - 1) // 4, _P)


def _add(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Add two points in extended coordinates (RFC 8032, 5.1.4)."""
    p = (a[1] - a[0]) * (b[1] - b[0]) % _P
    q = (a[1] + a[0]) * (b[1] + b[0]) % _P
    r = 2 * a[3] * b[3] * _D % _P
    s = 2 * a[2] * b[2] % _P
    e, f, g, h = q - p, s - r, s + r, q + p
    return (e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _times(count: int, point: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    total = (0, 1, 1, 0)
    while count:
        if count & 1:
            total = _add(total, point)
        point = _add(point, point)
        count >>= 1
    return total


def _x_of(y: int, sign: int) -> int | None:
    """Recover x (RFC 8032, 5.1.3); None if there is no such point."""
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    if square == 0:
        return None if sign else 0
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _I % _P
    if (x * x - square) % _P:
        return None
    return _P - x if (x & 1) != sign else x


def _point(packed: bytes) -> tuple[int, int, int, int] | None:
    number = int.from_bytes(packed, "little")
    y = number & ((1 << 255) - 1)
    x = _x_of(y, number >> 255)
    return None if x is None else (x, y, 1, x * y % _P)


_BASE_Y = 4 * pow(5, _P - 2, _P) % _P
_BASE_X = _x_of(_BASE_Y, 0) or 0
_BASE = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % _P)


_EIGHTH = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
)
_SMALL = (0, 1, _P - 1, _EIGHTH, _P - _EIGHTH)


def has_small_order(public: bytes) -> bool:
    """Say whether eight times this public key is nothing: one signature holds for every message, of anybody.

    Compared is y of the eight such points, which may be written with either sign, and 0 and 1 also as P and P + 1.
    """
    return (int.from_bytes(public, "little") & ((1 << 255) - 1)) % _P in _SMALL


def ed25519_holds(public: bytes, signature: bytes, message: bytes) -> bool:
    """Say whether an Ed25519 signature (64 bytes) of a message is valid for a public key (32 bytes)."""
    if len(public) != 32 or len(signature) != 64 or has_small_order(public):
        return False
    key, commitment = _point(public), _point(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or scalar >= _L:
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    left = _times(scalar, _BASE)
    right = _add(commitment, _times(int.from_bytes(digest, "little") % _L, key))
    return (left[0] * right[2] - right[0] * left[2]) % _P == 0 and (
        left[1] * right[2] - right[1] * left[2]
    ) % _P == 0


# ---- the record's own rules ----


def canonical(value: object) -> str:
    """Return the canonical JSON of a value, as the journal writes it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def row_hash(row: list[Any]) -> str:
    """Return the SHA-256 (hex) that a row of the journal must have. It covers the columns and the stored payload."""
    head = canonical([row[PREVIOUS], *row[:PAYLOAD]])
    return hashlib.sha256(f"{head}\n{row[PAYLOAD]}".encode()).hexdigest()


def key_words(public: bytes) -> str:
    """Return a public key's fingerprint in words, as shown on the box and printed on the slip."""
    digest = hashlib.sha256(public).digest()
    words = []
    for at in range(0, 10, 2):
        bits = digest[at] << 8 | digest[at + 1]
        consonants, vowels = "bdfghjklmnprstvz", "aiou"
        words.append(
            consonants[bits >> 12]
            + vowels[bits >> 10 & 3]
            + consonants[bits >> 6 & 15]
            + vowels[bits >> 4 & 3]
            + consonants[bits & 15]
        )
    return "-".join(words)


def read_anchor(text: str) -> tuple[int, str, str]:
    """Return an anchor's row number, that row's hash and the key in hex. Raises CannotCheck."""
    found = _ANCHOR.fullmatch("".join(text.split()).upper())
    if found is None:
        raise CannotCheck("That is no anchor: it begins with FW1 and has eight parts, joined by colons.")
    signed = ":".join(("FW1",) + found.groups()[:-1])
    key = bytes.fromhex(found.group(6))
    if not ed25519_holds(key, base64.b32decode(found.group(7) + "="), signed.encode()):
        raise CannotCheck("That anchor was not signed by the key that it names; nothing follows from it.")
    return int(found.group(2)), found.group(5).lower(), found.group(6).lower()


def unsigned_ends(rows: list[tuple[int, str]]) -> list[tuple[int, int]]:
    """Return the rows that end a hand and that no signed head proves, each with the row before which it was due.

    `rows`: number and type, in order; other types are ignored. A signed head is due before the next end, a fault or a
    restore. The power may go in between: one may be missing before the table starts, and the next start must sign. At
    the end of the rows one may be due still.
    """
    missing: list[tuple[int, int]] = []
    due, is_excused, may_excuse = 0, False, True
    for seq, kind in rows:
        if kind == SIGNED:
            due, may_excuse = 0, True
        elif due and kind == STARTED:
            is_excused = is_excused or may_excuse
        elif due and (kind in BREAKS or kind in ENDS):
            if not is_excused or kind in BREAKS:
                missing.append((due, seq))
            may_excuse = may_excuse and not is_excused
            due = 0
        if kind in ENDS:
            due, is_excused = seq, False
    return missing


# ---- the pit's log: RFC 6962, and c2sp.org/signed-note, /tlog-checkpoint, /tlog-cosignature, /tlog-proof ----

ED25519, COSIGNATURE = 1, 4
"""Kinds of signatures: a note's, and a witness's with its time."""
PROOF = "c2sp.org/tlog-proof@v1"
_HEAD_ENTRY = "feltwatch-head/v1"


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of a log's entry."""
    return hashlib.sha256(b"\0" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash over two subtrees."""
    return hashlib.sha256(b"\1" + left + right).digest()


def head_entry(genesis: str, anchor: str) -> bytes:
    """Return the log's entry for a signed head: the hash of its record's first row, and the anchor's text."""
    return f"{_HEAD_ENTRY}\n{genesis}\n{anchor}\n".encode()


def root_of_inclusion(
    leaf: bytes, number: int, size: int, proof: list[bytes] | tuple[bytes, ...]
) -> bytes | None:
    """Return the root that follows from a leaf's proof (RFC 9162, 2.1.3.2); None for a proof of the wrong length."""
    if not 0 <= number < size:
        return None
    found, last = leaf, size - 1
    for one in proof:
        if not last:
            return None
        if number & 1 or number == last:
            found = node_hash(one, found)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            found = node_hash(found, one)
        number, last = number >> 1, last >> 1
    return None if last else found


class Signature(NamedTuple):
    """A signature line of a note: who, the first four bytes of the key's hash, and what was signed with it."""

    name: str
    key_id: bytes
    signature: bytes

    @property
    def line(self) -> str:
        """The line as it stands in the note."""
        return f"\u2014 {self.name} {base64.b64encode(self.key_id + self.signature).decode()}\n"


def key_id(name: str, kind: int, public: bytes) -> bytes:
    """Return the four bytes by which a note names a key."""
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:4]


def read_key(text: str) -> tuple[str, int, bytes]:
    """Return the name, the kind and the bytes of a public key, written NAME+ID+KEY. Raises CannotCheck."""
    name, _, rest = text.strip().partition("+")
    named, _, packed = rest.partition("+")
    data = _from_base64(packed)
    if not name or len(data) != 33 or key_id(name, data[0], data[1:]).hex() != named:
        raise CannotCheck(f"That is no key of a signed note: {text}")
    return name, data[0], data[1:]


def read_note(note: str) -> tuple[str, tuple[Signature, ...]]:
    """Return a signed note's text and its signatures, unchecked. Raises CannotCheck."""
    at = note.rfind("\n\n")
    lines = note[at + 2 :].split("\n")
    if at < 1 or len(lines) < 2 or lines[-1] or any(ord(one) < 32 and one != "\n" for one in note):
        raise CannotCheck("That is no signed note: it has a text, an empty line, and signatures.")
    found = []
    for line in lines[:-1]:
        dash, name, packed = (line.split(" ") + ["", ""])[:3]
        data = _from_base64(packed)
        if dash != "\u2014" or line.count(" ") != 2 or not name or "+" in name or len(data) < 5:
            raise CannotCheck("That is no signed note: a signature line is not as it should be.")
        if len(name.split()) != 1:
            raise CannotCheck("That is no signed note: a key's name has a space.")
        found.append(Signature(name, data[:4], data[4:]))
    return note[: at + 1], tuple(found)


def cosigned_message(text: str, at_s: int) -> bytes:
    """Return what a witness signs: its time, and the checkpoint's text."""
    return f"cosignature/v1\ntime {at_s}\n{text}".encode()


def signed_note_by(text: str, one: Signature, name: str, kind: int, public: bytes) -> bool:
    """Say whether a signature of a note is that of this key, of this kind."""
    if (one.name, one.key_id) != (name, key_id(name, kind, public)):
        return False
    if kind == COSIGNATURE:
        message = cosigned_message(text, int.from_bytes(one.signature[:8], "big"))
        return ed25519_holds(public, one.signature[8:], message)
    return kind == ED25519 and ed25519_holds(public, one.signature, text.encode())


def read_proof(text: str) -> tuple[int, list[bytes], str]:
    """Return a proof's leaf number, its hashes and its note. Raises CannotCheck."""
    above, _, note = text.partition("\n\n")
    lines = above.split("\n")
    if lines[:1] == [PROOF] and lines[1:2] and lines[1].startswith("extra "):
        del lines[1]
    number = re.fullmatch("index (0|[1-9][0-9]{0,18})", lines[1]) if len(lines) > 1 else None
    hashes = [_from_base64(line) for line in lines[2:]]
    if lines[0] != PROOF or number is None or any(len(one) != 32 for one in hashes) or len(hashes) > 63:
        raise CannotCheck(f"That is no proof: it begins with {PROOF}, an index and hashes.")
    return int(number.group(1)), hashes, note


def read_checkpoint(text: str) -> tuple[str, int, bytes]:
    """Return the origin, the size and the root in a note's text. Raises CannotCheck."""
    lines = text.split("\n")
    root = _from_base64(lines[2]) if len(lines) > 3 else b""
    if len(root) != 32 or not lines[0] or not re.fullmatch("0|[1-9][0-9]{0,18}", lines[1]):
        raise CannotCheck("That is no checkpoint: it has an origin, a size and a root, a line each.")
    return lines[0], int(lines[1]), root


def _from_base64(text: str) -> bytes:
    """Return the bytes of a text in base64; none for any other spelling of the same bytes."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return b""
    return data if base64.b64encode(data).decode() == text else b""


# ---- the file ----


class Report:
    """The result, as escaped messages: `holds` what is correct, `wrong` what is not, in the order of the checks.

    `beside`: the anchors that do not reach the hand.
    """

    def __init__(self) -> None:
        self.holds: list[str] = []
        self.wrong: list[str] = []
        self.beside: list[str] = []
        self.is_signed = True
        """Whether a signed head or a slip proves the hand."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong

    def say(self, what: str, bad: list[str]) -> None:
        """Add a check's result: the problems in `bad`, or `what` if there are none."""
        self.wrong += [escaped(sentence) for sentence in bad]
        if not bad:
            self.holds.append(escaped(what))

    def lines(self) -> list[str]:
        """Return the lines to print. The verdict comes first and last, so that long output cannot hide it."""
        verdict = "All of it holds." if self.ok else "This file does not hold."
        verdict += "" if self.is_signed else " The hand is NOT signed."
        lines = [f"holds: {sentence}" for sentence in self.holds]
        lines += [f"does not reach: {sentence}" for sentence in self.beside]
        lines += [f"WRONG: {sentence}" for sentence in self.wrong]
        return [verdict, *lines, verdict]


def escaped(text: object) -> str:
    """Return a text as one line without control characters; the same as `firmware.terminal.escaped`."""
    line = str(text)
    return line if line.isprintable() else "".join(map(_escaped_character, line))


def _escaped_character(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    code = ord(character)
    if code < 32 or code == 127:
        return f"^{chr(code ^ 64)}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def unpack(path: str) -> dict[str, bytes]:
    """Return the files of a ZIP. Raises CannotCheck if it is not a ZIP, damaged, too large, or repeats a name."""
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):  # opening a pipe could block forever
            raise CannotCheck(f"{path} is no plain file.")
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            if len(infos) > MAX_FILES or sum(info.file_size for info in infos) > MAX_BYTES:
                raise CannotCheck(
                    "The file would unpack to more than any dispute file has; it is not unpacked."
                )
            files: dict[str, bytes] = {}
            left = MAX_BYTES
            for info in infos:
                if info.filename in files:
                    raise CannotCheck(f"The file holds {info.filename} twice; it was changed.")
                with archive.open(info) as member:
                    data = member.read(left + 1)
                left -= len(data)
                if left < 0:
                    raise CannotCheck(
                        "The file unpacks to more than any dispute file has; it is not unpacked."
                    )
                files[info.filename] = data
            return files
    except CannotCheck:
        raise
    except FileNotFoundError:
        raise CannotCheck(f"There is no file {path}.") from None
    except OSError as error:
        raise CannotCheck(f"The file cannot be read: {error.strerror or error}.") from None
    except Exception as error:  # a damaged ZIP can make zipfile raise almost anything
        raise CannotCheck(f"The file is no whole ZIP, or was damaged ({error}); copy it again.") from None


def check(path: str, anchors: tuple[str, ...] = (), key: str = "", log: str = "") -> Report:
    """Check a dispute file; optionally against anchors from paper slips and the words (or hex) of keys.

    `key`: the device's; `log`: that of the pit's log.

    Raises CannotCheck, with one sentence, if the file cannot be checked at all.
    """
    files = unpack(path)
    manifest = _manifest(files)
    report = Report()
    device = str(manifest["key"])
    report.say(*_signed(files, device))
    report.say(*_key_named(device, key))
    report.say(*_files(files, manifest))
    rows, bad = _rows(files.get(ROWS, b""))
    report.say(f"All {len(rows)} rows have the hash that they must have and follow each other.", bad)
    report.say(*_is_hand(rows, manifest))
    report.say(*_content(rows, files))
    report.say(*_images(rows, files, manifest.get("images")))
    report.say(*_settlements(rows, files))
    inside = files.get(ANCHORS, b"").decode(errors="replace").split("\n")
    _presence(report, rows, manifest, inside, anchors)
    vouching = _anchors(report, rows, manifest, inside, anchors)
    _proofs(report, files, manifest, [text for text in inside if text.strip()], vouching, log)
    return report


def _manifest(files: dict[str, bytes]) -> dict[str, object]:
    if MANIFEST not in files:
        raise CannotCheck("The file is no dispute file: it has no manifest.")
    try:
        manifest = json.loads(files[MANIFEST])
        canonical(manifest).encode()  # refuses text that could not be printed later
    except (ValueError, RecursionError):
        raise CannotCheck("The file's manifest is no JSON; it was damaged or changed.") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise CannotCheck("The file is no dispute file: its manifest is another program's.")
    if manifest.get("version") not in (1, VERSION):
        raise CannotCheck(
            f"The file is a dispute file of version {manifest.get('version')}; "
            f"this program checks versions 1 and {VERSION}. Use the verify.py that came with it."
        )
    if not isinstance(manifest.get("files"), dict) or not isinstance(manifest.get("key"), str):
        raise CannotCheck("The file's manifest is not whole; it was damaged or changed.")
    return manifest


def _signed(files: dict[str, bytes], device: str) -> tuple[str, list[str]]:
    text = files.get(SIGNATURE, b"").decode(errors="replace")
    # only lower-case hex: the same bytes must have one spelling
    one_way = re.fullmatch("[0-9a-f]{128}", text) and re.fullmatch("[0-9a-f]{64}", device)
    public, signature = (bytes.fromhex(device), bytes.fromhex(text)) if one_way else (b"", b"")
    if not ed25519_holds(public, signature, files[MANIFEST]):
        return "", ["The manifest was not signed by the key that it names."]
    return f"The manifest was signed by the device's key {key_words(public)}.", []


def _key_named(device: str, wanted: str) -> tuple[str, list[str]]:
    try:
        words = key_words(bytes.fromhex(device))
    except ValueError:
        words = ""
    if wanted and wanted.strip().lower() not in (device, words):
        return "", [f"The file was signed by another key ({words}) than the one that was given."]
    if wanted:
        return "It is the key that was given.", []
    return f"Compare the key's words with those on the box or on a slip: {words}.", []


def _files(files: dict[str, bytes], manifest: dict[str, object]) -> tuple[str, list[str]]:
    listed = manifest["files"]
    assert isinstance(listed, dict)
    bad = [f"The file {name} is missing." for name in sorted(set(listed) - set(files))]
    known = set(listed) | {MANIFEST, SIGNATURE}
    bad += [f"The file {name} is not in the manifest." for name in sorted(set(files) - known)]
    bad += [
        f"The file {name} was changed."
        for name in sorted(set(listed) & set(files))
        if hashlib.sha256(files[name]).hexdigest() != listed[name]
    ]
    return f"All {len(listed)} files are what the manifest says.", bad


def _rows(text: bytes) -> tuple[list[list[Any]], list[str]]:
    """Read the rows. Where numbers have no gap, each row must follow the one before it."""
    rows: list[list[Any]] = []
    bad: list[str] = []
    for number, line in enumerate(text.split(b"\n")[:-1], start=1):
        row = _row(line)
        if row is None:
            bad.append(f"Line {number} of {ROWS} is no row of a journal.")
            continue
        if row_hash(row) != row[HASH]:
            bad.append(f"Row {row[SEQ]} was changed.")
        before = rows[-1] if rows else None
        if before is not None and row[SEQ] <= before[SEQ]:
            bad.append(f"Row {row[SEQ]} is out of order.")
        elif before is not None and row[SEQ] == before[SEQ] + 1 and row[PREVIOUS] != before[HASH]:
            bad.append(f"Row {row[SEQ]} does not follow row {before[SEQ]}.")
        rows.append(row)
    if not rows:
        bad.append("The file holds no row of the record.")
    return rows, bad


def _row(line: bytes) -> list[Any] | None:
    """Return a row if its columns have the journal's types; None otherwise."""
    try:
        row = json.loads(line)
        if isinstance(row, list) and [type(value) for value in row] == list(COLUMNS):
            row_hash(row)  # raises ValueError for text that cannot be encoded
            return row
    except (ValueError, RecursionError):
        pass
    return None


def _payload(row: list[Any]) -> dict[str, object]:
    try:
        found = json.loads(str(row[PAYLOAD]))
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def _is_hand(rows: list[list[Any]], manifest: dict[str, object]) -> tuple[str, list[str]]:
    hand, last = manifest.get("hand"), manifest.get("last")
    own = [row for row in rows if row[HAND] == hand]
    if not own or own[0][TYPE] != "hand_opened":
        return "", [f"The rows do not begin with the opening of hand {hand}."]
    numbers = [row[SEQ] for row in own]
    first = own[0][SEQ]
    assert isinstance(first, int)
    if numbers != list(range(first, first + len(own))) or last != numbers[-1]:
        return "", [f"Rows of hand {hand} are missing."]
    return f"They are the rows of hand {hand}, {first} to {last}, without a gap.", []


def _content(rows: list[list[Any]], files: dict[str, bytes]) -> tuple[str, list[str]]:
    bad = [
        f"The file {name} is not what its name says."
        for name, data in sorted(files.items())
        if name.startswith(CONTENT) and hashlib.sha256(data).hexdigest() != name[len(CONTENT) :]
    ]
    opened = _payload(rows[0]) if rows else {}
    named = {kind: opened.get(kind + "_hash") for kind in ("profile", "layout")}
    if RULES in files and hashlib.sha256(files[RULES]).hexdigest() != named["profile"]:
        bad.append(f"{RULES} is not the profile that row {rows[0][SEQ] if rows else 'none'} names.")
    calibrations = opened.get("calibrations")
    for kind, one in calibrations.items() if isinstance(calibrations, dict) else ():
        named[kind + " calibration"] = one.get("hash") if isinstance(one, dict) else None
    bad += [
        f"The {kind} that row {rows[0][SEQ]} names is missing."
        for kind, digest in named.items()
        if digest and CONTENT + str(digest) not in files
    ]
    return "The rules and the felt that the hand was opened with are those that its first row names.", bad


def images_in(value: object) -> list[tuple[str, str]]:
    """Return the name and SHA-256 of every image in a payload, in order, without duplicates."""
    found: dict[tuple[str, str], None] = {}
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            name, digest = part.get("name"), part.get("sha256")
            if isinstance(name, str) and isinstance(digest, str):
                found[name, digest] = None
            stack += reversed(list(part.values()))
        elif isinstance(part, list):
            stack += reversed(part)
    return list(found)


def _of_the_hand(rows: list[list[Any]], hand: object) -> list[list[Any]]:
    """Return the hand's rows up to its end, and the rows of each time it was reopened."""
    own: list[list[Any]] = []
    inside = waits = (
        False  # waits: while another hand is corrected, this one is in the middle of being played
    )
    for row in rows:
        if row[TYPE] == "hand_opened":
            inside, waits = row[HAND] == hand, False
        elif row[TYPE] == "hand_reopened":
            opened = _payload(row).get("opened")
            waits = inside
            inside = isinstance(opened, dict) and opened.get("hand") == hand
        if inside:
            own.append(row)
        if row[TYPE] in ENDS:
            inside, waits = waits, False
    return own


def _images(rows: list[list[Any]], files: dict[str, bytes], told: object) -> tuple[str, list[str]]:
    bad: list[str] = []
    known = [image for image in told if isinstance(image, dict)] if isinstance(told, list) else []
    changed = {str(image.get("name")) for image in known if image.get("state") == "changed"}
    dropped = {image for row in rows if row[TYPE] == "images_dropped" for image in images_in(_payload(row))}
    lost = {
        image: row[SEQ] for row in rows if row[TYPE] == "images_lost" for image in images_in(_payload(row))
    }
    named: dict[str, str] = {}
    for row in _of_the_hand(rows, rows[0][HAND] if rows else None):
        for name, digest in images_in(_payload(row)):
            if name in named:
                continue
            named[name] = digest
            data = files.get(IMAGES + name)
            if data is None and (name, digest) not in dropped and (name, digest) not in lost:
                why = "had been changed on the box" if name in changed else "is missing"
                bad.append(f"The image {name} that row {row[SEQ]} names {why}.")
            elif data is not None and hashlib.sha256(data).hexdigest() != digest:
                bad.append(f"The image {name} is not the one that row {row[SEQ]} names.")
    there = {name[len(IMAGES) :] for name in files if name.startswith(IMAGES)}
    bad += [f"The image {name} is named by no row." for name in sorted(there - set(named))]
    away = {image: lost.get(image) for image in named.items() if image[0] not in there}
    by_rule = sum(seq is None for seq in away.values())
    gone = f"; the bytes of {by_rule} were dropped by the house's rule" if by_rule else ""
    for (name, _), seq in away.items():
        gone += f"; {name} was LOST when a backup was restored, as row {seq} says" if seq is not None else ""
    return f"The {len(there)} images are those that the rows name{gone}.", bad


def _settlements(rows: list[list[Any]], files: dict[str, bytes]) -> tuple[str, list[str]]:
    try:
        shown = json.loads(files.get(SETTLEMENTS, b"null"))
    except (ValueError, RecursionError):
        shown = None
    by_number = {row[SEQ]: row for row in rows}
    bad: list[str] = []
    for entry in shown if isinstance(shown, list) else [{}]:
        number = entry.get("row") if isinstance(entry, dict) else None
        row = by_number.get(number) if isinstance(number, int) else None
        if row is None or _payload(row).get("settlement") != entry.get("settlement"):
            bad.append(f"{SETTLEMENTS} is not what the rows say.")
            break
    count = len(shown) if isinstance(shown, list) else 0
    return f"The settlements shown ({count}) are those in the rows.", bad


def _anchors(
    report: Report,
    rows: list[list[Any]],
    manifest: dict[str, object],
    inside: list[str],
    given: tuple[str, ...],
) -> set[int]:
    """Compare the rows with the anchors in the file and with those given on the command line.

    Returns the rows of those in the file that vouch for the hand.
    """
    hand = [row for row in rows if row[HAND] == manifest.get("hand")]
    if not hand:
        return set()  # no hand to vouch for; `_is_hand` has reported it
    ends = [row[SEQ] for row in _of_the_hand(hand, manifest.get("hand")) if row[TYPE] in ENDS]
    first, last = hand[0][SEQ], ends[0] if ends else hand[-1][SEQ]
    by_number = {row[SEQ]: row for row in rows}
    again = [row[SEQ] for row in _of_the_hand(rows, manifest.get("hand")) if row[TYPE] in ENDS][1:]
    vouched = 0
    vouching = set()
    own = [read_anchor(text) for text in inside if text.strip()]
    nearest = min((seq for seq, _, _ in own if seq >= last), default=None)
    head = manifest.get("head")
    made = head.get("seq") if isinstance(head, dict) else None
    for number, (seq, digest, key) in enumerate([*own, *map(read_anchor, given)]):
        is_given = number >= len(own)
        which = f"The anchor {'that was given' if is_given else 'in the file'}, of row {seq},"
        by = "" if key == manifest["key"] else f" It is of another key: {key_words(bytes.fromhex(key))}."
        if seq in by_number and by_number[seq][HASH] != digest:
            report.say("", [f"Row {seq} is not the one that was anchored: the record was rewritten."])
        elif seq < last:
            report.beside.append(escaped(f"{which} is older than the hand's end, row {last}.{by}"))
        elif all(between in by_number for between in range(first, min(seq, first + len(rows)) + 1)):
            vouched += is_given
            if not is_given:
                vouching.add(seq)
            later = rows[-1][SEQ] - seq
            reach = f" It does not reach what follows it here, to row {rows[-1][SEQ]}." if later > 1 else ""
            report.say(
                f"{which} vouches for this hand: rows {first} to {seq} lead up to it without a gap.{reach}{by}",
                [],
            )
        elif corrected := [end for end in again if end <= seq and _leads(by_number, end, seq, digest)]:
            report.say(f"{which} vouches for the correction that ended in row {corrected[-1]}.{by}", [])
        elif nearest is not None and nearest < seq:
            report.beside.append(
                escaped(f"{which} is not led up to from the hand; a nearer one is of row {nearest}.{by}")
            )
        elif is_given and isinstance(made, int) and made < seq:
            report.beside.append(
                escaped(
                    f"{which} is of later than this file, which was made at row {made}: export it again.{by}"
                )
            )
        elif seq - last < BRIDGE:
            report.say(
                "", [f"Rows between the hand's end, row {last}, and the anchored row {seq} are missing."]
            )
        else:
            report.beside.append(
                escaped(f"{which} is more than {BRIDGE} rows after the hand's end, row {last}.{by}")
            )
    if given and not vouched:
        report.say("", ["No anchor that was given vouches for this hand."])
    return vouching


def _presence(
    report: Report,
    rows: list[list[Any]],
    manifest: dict[str, object],
    inside: list[str],
    given: tuple[str, ...],
) -> None:
    """Check that a signed head proves each end of the hand, or that a slip does."""
    ends = [row[SEQ] for row in _of_the_hand(rows, manifest.get("hand")) if row[TYPE] in ENDS]
    if not ends:
        return  # `_is_hand` has reported it
    heads = {read_anchor(text)[:2] for text in inside if text.strip()}
    by_number = {row[SEQ]: row for row in rows}
    bad = []
    for end in ends:
        slips = [
            seq
            for seq, digest, _ in map(read_anchor, given)
            if seq >= end and _leads(by_number, end, seq, digest)
        ]
        after = _after(rows, end)
        if not slips and (missing := _unsigned(after, heads)):
            bad.append(f"Row {end} ends the hand and is NOT signed: {missing}")
    report.is_signed = not bad
    if bad and manifest.get("version") == 1:
        report.beside += map(escaped, bad)
        return
    report.say("A signed head follows each end of the hand, before anything else ended.", bad)


def _leads(by_number: dict[int, list[Any]], first: int, last: int, digest: str) -> bool:
    """Say whether all rows from `first` to `last` are there, and the last has this hash."""
    return (
        last - first <= len(by_number)
        and all(seq in by_number for seq in range(first, last + 1))
        and (by_number[last][HASH] == digest)
    )


def _after(rows: list[list[Any]], first: int) -> list[list[Any]]:
    """Return the rows from number `first` on, as far as they have no gap."""
    found: list[list[Any]] = []
    for row in rows:
        if row[SEQ] == first + len(found):
            found.append(row)
    return found


def _unsigned(rows: list[list[Any]], heads: set[tuple[int, str]]) -> str:
    """Return why rows, the first of which ends a hand, are not signed; "" if they are. `heads`: the signed ones."""
    for at, row in enumerate(rows):
        if row[TYPE] == SIGNED:
            if (row[SEQ] - 1, row[PREVIOUS]) not in heads:
                return f"the signed head in row {row[SEQ]} is not among the file's anchors."
            found = unsigned_ends([(one[SEQ], one[TYPE]) for one in rows[: at + 1]])
            return (
                f"before the next signed head comes row {found[0][1]}, {rows[found[0][1] - rows[0][SEQ]][TYPE]}."
                if found
                else ""
            )
    return "no signed head follows it here."


def _proofs(
    report: Report,
    files: dict[str, bytes],
    manifest: dict[str, object],
    anchors: list[str],
    vouching: set[int],
    wanted: str,
) -> None:
    """Check that signed heads in the file are in the pit's log, and who signed its checkpoints.

    `vouching`: the rows whose signed heads vouch for the hand; one of them must be in the log whose key is `wanted`.
    """
    proven = set()
    names = sorted(name for name in files if name.startswith(PROOFS) and name != LOG_KEYS)
    keys = [
        read_key(line)
        for line in files.get(LOG_KEYS, b"").decode(errors="replace").split("\n")
        if line.strip()
    ]
    by_row = {read_anchor(text)[0]: text for text in anchors} if names else {}
    for name in names:
        row = name[len(PROOFS) :].partition(".")[0]
        number, hashes, note = read_proof(files[name].decode(errors="replace"))
        text, signatures = read_note(note)
        origin, size, root = read_checkpoint(text)
        anchor = by_row.get(int(row)) if row.isdecimal() else None
        if anchor is None:
            report.say("", [f"{name} is of a row that no anchor in the file signs."])
            continue
        leaf = leaf_hash(head_entry(str(manifest.get("record")), anchor.strip()))
        if root_of_inclusion(leaf, number, size, hashes) != root:
            report.say("", [f"The signed head of row {row} is not in the log {origin} that {name} names."])
            continue
        report.say(f"The signed head of row {row} is entry {number} of the {size} in the log {origin}.", [])
        if _log_signed(report, text, signatures, origin, keys, wanted):
            proven.add(int(row))
    if wanted and not names:
        report.say("", ["The file holds no proof that its rows are in a pit's log."])
    elif wanted and not proven & vouching:
        report.say("", ["No signed head that vouches for this hand is proven to be in the log of that key."])


def _log_signed(
    report: Report,
    text: str,
    signatures: tuple[Signature, ...],
    origin: str,
    keys: list[tuple[str, int, bytes]],
    wanted: str,
) -> bool:
    """Report who signed a checkpoint; return whether its log did, with the key that is wanted."""
    of_log = [
        public
        for name, kind, public in keys
        if (name, kind) == (origin, ED25519)
        and any(signed_note_by(text, one, name, kind, public) for one in signatures)
    ]
    if not of_log:
        report.say("", ["The checkpoint was not signed by the log's key in the file."])
        return False
    words = key_words(of_log[0])
    if wanted and wanted.strip().lower() not in (of_log[0].hex(), words):
        report.say(
            "", [f"The checkpoint was signed by another log's key ({words}) than the one that was given."]
        )
        return False
    compare = "It is the key that was given." if wanted else "Compare the words with those on a slip."
    report.say(f"The checkpoint was signed by the log's key {words}. {compare}", [])
    witnesses = {public: name for name, kind, public in keys if kind == COSIGNATURE}
    have = [
        name
        for public, name in witnesses.items()
        if any(signed_note_by(text, one, name, COSIGNATURE, public) for one in signatures)
    ]
    report.say(f"{len(have)} of the {len(witnesses)} tables whose keys are in the file have cosigned it.", [])
    return True


def main(arguments: list[str] | None = None) -> int:
    """Check the file named on the command line, print the report, and return the exit status."""
    parser = argparse.ArgumentParser(description="Check a Feltwatch dispute file.")
    parser.add_argument("file")
    parser.add_argument("--anchor", action="append", default=[], help="the text of a slip's QR code")
    parser.add_argument("--key", default="", help="the key's five words, or its hex")
    parser.add_argument("--log", default="", help="the five words of the key of the pit's log, or its hex")
    given = parser.parse_args(arguments)
    try:
        report = check(given.file, tuple(given.anchor), given.key, given.log)
    except CannotCheck as error:
        sys.stderr.write(f"{escaped(error)}\n")
        return 2
    sys.stdout.write("".join(f"{line}\n" for line in report.lines()))
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
