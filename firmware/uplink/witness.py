"""The table as a witness of the pit's log: checks what the pit shows, cosigns it, and keeps the proofs of its heads.

It keeps the newest checkpoint. Another one counts only if it is signed by the same log and extends that one, or if it
is of the log's next epoch, which says that the pit's database was set back. What does not fit is never cosigned: it is
kept in a file next to what was held, and the table's health says so until a person has taken that file away.
"""

import json
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from firmware.messages import Message, Text, text_of
from firmware.record.evidence.anchors import Anchor
from firmware.record.evidence.dispute_verifier import COSIGNATURE, LOG_KEYS, PROOFS
from firmware.record.evidence.merkle import MAX_HASHES, extends, leaf_hash, root_of_inclusion
from firmware.record.evidence.notes import (
    Checkpoint,
    NoNote,
    Proof,
    cosign,
    epoch_entry,
    epoch_of,
    hashes_in,
    head_entry,
    open_note,
    parts,
    verifier_key,
    witness_name,
)
from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.disk import read_plain, write_whole
from firmware.uplink.wire import WitnessHolding

log = logging.getLogger(__name__)

HELD: Final = "held.json"
CONFLICT: Final = "conflict.txt"
KEPT_PROOFS: Final = 500
"""Proofs of own heads that are kept, the newest: 1 kB a hand. The pit has all of them."""
MAX_PROOF: Final = 64 << 10
"""Bytes of a file of a proof."""


class Conflict(NoNote):
    """The pit shows another log than before: a person has to look."""


_ANOTHER: Final = Message(
    "The pit shows another history than before: its log does not continue what this table has seen. Tell surveillance."
)
_ANOTHER_KEY: Final = Message(
    "The pit's log is signed with another key than before. Tell surveillance, and enrol the table again."
)
AnchorAt = Callable[[int], tuple[str, Anchor] | None]
"""The number of a signed row → the hash of the record's first row, and the anchor of that row; None without one."""


@dataclass(frozen=True)
class State:
    """What the witness holds: the newest note with its own signature, and the key of the log that it belongs to.

    `proven`: the newest checkpoint that most tables have cosigned, as the pit says: origin, size, of how many, of how
    many. `set_back`: in which epoch the log was when its database was found to have been set back, 0 if never.
    """

    log: str = ""
    note: str = ""
    head: int = 0
    proven: tuple[str, int, int, int] | None = None
    set_back: int = 0
    trouble: Text = ""


class Witness:
    """One table's witness. Not for several threads."""

    def __init__(
        self, folder: Path, clock: Callable[[], float] = time.time, log: bytes | None = None
    ) -> None:
        """Read the key and what is held; make the key if there is none. Raises KeyUnusable, OSError.

        `folder`: the witness's own. `clock`: seconds since 1970. `log`: the public key of the pit's log if the
        enrolment names it; without it the first one counts that the pit shows, over TLS. What was held of another log
        stays in a file of its own.
        """
        self._folder, self._clock = folder, clock
        self._key = DeviceKey.open(folder)
        self._public = verifier_key(witness_name(self._key.public), self._key.public, COSIGNATURE)
        self.state = _read(folder / HELD)
        if self.state.trouble and not (folder / CONFLICT).exists():  # a person has taken it away
            self.state = replace(self.state, trouble="")
        if log is not None and self.state.log != log.hex():
            if self.state.note:
                (folder / HELD).rename(folder / f"held-{self.state.log[:16]}.json")
            self.state = State(log=log.hex())

    def holds(self) -> WitnessHolding:
        """Return what to show to the pit."""
        return WitnessHolding(self.state.note, self._public, self.state.head)

    def receive(self, answer: dict[str, Any], anchor_at: AnchorAt) -> None:
        """Check what the pit says of its log, and cosign it. What does not hold becomes `state.trouble`.

        Raises OSError if it cannot be kept.
        """
        try:
            state = self._checked(answer, anchor_at)
        except Conflict as conflict:
            state = self.state
            if not state.trouble:
                self._keep_conflict(answer)
                state = replace(state, trouble=conflict.sentence)
        except NoNote as error:
            log.warning("What the pit says of its log cannot be read: %s", error)
            return
        if state != self.state:
            # Before it is shown to anybody: what was cosigned is never forgotten.
            write_whole(self._folder / HELD, json.dumps(_to_json(state)).encode())
            self.state = state

    def _checked(self, answer: dict[str, Any], anchor_at: AnchorAt) -> State:
        state = self.state
        match answer.get("proven"):
            case [str(origin), int(size), int(signers), int(heard)]:
                state = replace(state, proven=(origin, size, signers, heard))
        note = answer.get("checkpoint")
        if note is None:
            return state
        if not isinstance(note, str):
            raise NoNote("That is no signed note.")
        public = bytes.fromhex(state.log) if state.log else _key_of(answer)
        try:
            new = open_note(note, public)
        except NoNote as error:
            raise Conflict(_ANOTHER_KEY) from error
        old = Checkpoint.parse(parts(state.note)[0]) if state.note else None
        set_back = state.set_back
        if old is not None and old.origin != new.origin:
            _is_next_epoch(answer, old, new, public)
            set_back = epoch_of(new.origin, public)
        elif old is not None:
            proof = hashes_in(answer.get("extends"), MAX_HASHES)
            if not extends(old.size, old.root, new.size, new.root, proof):
                raise Conflict(_ANOTHER)
        text, signatures = parts(note)
        of_log = f"{text}\n" + "".join(one.line for one in signatures if one.name == new.origin)
        cosigned = of_log + cosign(self._key, of_log, int(self._clock()))
        head = self._heads(answer, new, cosigned, public, anchor_at)
        return State(public.hex(), cosigned, max(head, state.head), state.proven, set_back, state.trouble)

    def _heads(
        self, answer: dict[str, Any], new: Checkpoint, note: str, public: bytes, anchor_at: AnchorAt
    ) -> int:
        """Check and keep the proofs of own heads; return the highest row that is proven."""
        highest = 0
        heads = answer.get("heads")
        for one in heads if isinstance(heads, list) else ():
            match one:
                case [int(seq), int(number), list(hashes)]:
                    proof = Proof(number, hashes_in(hashes, MAX_HASHES), note)
                case _:
                    raise NoNote("That is no list of hashes.")
            own = anchor_at(seq)
            if own is None:
                raise Conflict(_not_ours(seq))
            leaf = leaf_hash(head_entry(own[0], own[1].text))
            if root_of_inclusion(leaf, number, new.size, proof.hashes) != new.root:
                raise Conflict(_not_ours(seq))
            self._keep(seq, proof, new.origin, public)
            highest = max(highest, seq)
        return highest

    def _keep(self, seq: int, proof: Proof, origin: str, public: bytes) -> None:
        folder = self._folder / PROOFS
        folder.mkdir(mode=0o750, exist_ok=True)
        keys = f"{verifier_key(origin, public)}\n{self._public}\n"
        for name, text in ((f"{seq}.tlog-proof", proof.text), (f"{seq}.keys", keys)):
            # made again by nobody, but no evidence is lost
            (folder / name).write_text(text, encoding="utf-8")
        for number in sorted((int(one.stem) for one in folder.glob("*.keys")), reverse=True)[KEPT_PROOFS:]:
            for kind in ("tlog-proof", "keys"):
                (folder / f"{number}.{kind}").unlink(missing_ok=True)

    def _keep_conflict(self, answer: dict[str, Any]) -> None:
        """Keep both histories: together they show what the pit did."""
        both = {"held": self.state.note, "shown": answer}
        with suppress(OSError):
            write_whole(self._folder / CONFLICT, json.dumps(both, indent=2).encode())


def proofs_in(folder: Path, rows: list[int]) -> dict[str, bytes]:
    """Return the kept proofs of these signed rows as files of a dispute file, by name; there may be none."""
    found: dict[str, bytes] = {}
    keys: dict[str, None] = {}
    for row in rows:
        # the uplink's user wrote them: the table reads no other file for it
        with suppress(OSError, ValueError):
            proof = read_plain(folder / PROOFS / f"{row}.tlog-proof", MAX_PROOF)
            named = read_plain(folder / PROOFS / f"{row}.keys", MAX_PROOF).decode()
            found[f"{PROOFS}{row}.tlog-proof"] = proof
            keys.update(dict.fromkeys(named.splitlines()))
    if found:
        found[LOG_KEYS] = "".join(f"{one}\n" for one in keys).encode()
    return found


def _not_ours(seq: int) -> Message:
    return Message(
        "The pit's log does not have row %(seq)s as this table signed it. Tell surveillance.", seq=seq
    )


def _key_of(answer: dict[str, Any]) -> bytes:
    """Return the log's key that the pit names."""
    try:
        public = bytes.fromhex(answer["key"])
    except (LookupError, TypeError, ValueError) as error:
        raise NoNote("The pit does not name its log's key.") from error
    if len(public) != 32:
        raise NoNote("The pit does not name its log's key.")
    return public


def _is_next_epoch(answer: dict[str, Any], old: Checkpoint, new: Checkpoint, public: bytes) -> None:
    """Check that a checkpoint is of a later epoch, which begins with one of an earlier epoch. Raises NoNote."""
    epoch = answer.get("epoch")
    unknown = epoch.get("unknown") if isinstance(epoch, dict) else None
    if isinstance(epoch, dict) and isinstance(unknown, str):
        before = open_note(unknown, public)
        first = root_of_inclusion(
            leaf_hash(epoch_entry(unknown)), 0, new.size, hashes_in(epoch.get("proof"), MAX_HASHES)
        )
        later, earlier = epoch_of(new.origin, public), epoch_of(before.origin, public)
        if first == new.root and later > earlier and later > epoch_of(old.origin, public) > 0:
            return
    raise Conflict(_ANOTHER)


def _read(path: Path) -> State:
    try:
        value = json.loads(path.read_bytes())
        value["trouble"] = text_of(value["trouble"])
        value["proven"] = tuple(value["proven"]) if value["proven"] else None
        return State(**value)
    except FileNotFoundError:
        return State()
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise OSError(f"{path} cannot be read ({error}): what this table has cosigned is in it") from error


def _to_json(state: State) -> dict[str, Any]:
    trouble = state.trouble.to_json() if isinstance(state.trouble, Message) else state.trouble
    return asdict(replace(state, trouble="")) | {"trouble": trouble}
