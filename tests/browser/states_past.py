"""The states of the pages about past hands and of the shift report."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from playwright.sync_api import Page

from firmware.messages import Message
from firmware.record.dispute_file import EXPORTS
from firmware.record.evidence.anchors import sign_head
from firmware.record.evidence.dispute_verifier import MANIFEST
from firmware.record.evidence.signing import DeviceKey
from firmware.record.stick_request import Progress, Step
from firmware.table import events as ev
from firmware.table.people import Role
from tests.browser.state import PIT, STICK, State, opened
from tests.dealer_ui.checkpoints import holds_checkpoint
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.past import corrected, played, ticking


def many(felt: Felt) -> None:
    """Thirteen hands: one with pictures and corrected, one disputed, some void."""
    felt.say(ev.PersonListed("Ines", Role.DEALER), ev.LoggedOn("Ines", 1))
    corrected(felt)
    for hand in range(2, 14):
        felt.deal()
        if hand % 3:
            felt.do("void", reason="Misdeal")
        else:
            felt.go_on()
            felt.to_reading()
            felt.read()
            felt.do("archive")
    felt.say(ev.HandDisputed(12, "The foul is disputed"), ev.HandReviewed(9))


def _past(name: str, path: str, play: Any, role: Role | None = Role.FLOOR) -> State:
    return State(name, play, table=_Always(), path=path, role=role)


def _on_stick(name: str, step: Step, /, **more: Any) -> State:
    return replace(_past(name, "/review/1/dispute", on_its_way(step, **more)), act=settled_down)


class _Always(Mapping[str, Any]):
    """How these felts are made: each with a clock of its own that begins again, all by one dealer."""

    def __getitem__(self, name: str) -> Any:
        return {"clock": ticking(), "actor": "dealer:Ines"}[name]

    def __iter__(self) -> Any:
        return iter(("clock", "actor"))

    def __len__(self) -> int:
        return 2


def nothing(felt: Felt) -> None:
    """No hand was played."""


KEY: Final = DeviceKey(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))


def signed(felt: Felt) -> None:
    """A shift is over, and the record's head is signed."""
    many(felt)
    seq, digest = felt.journal.head
    felt.say(sign_head(KEY, seq=seq, digest=digest, hands=13, wall_ms=1_790_000_000_000, table="12"))


def held(felt: Felt) -> None:
    """The table holds a checkpoint of the pit's log."""
    signed(felt)
    holds_checkpoint(felt.folder / PIT, 4212, (4212, 11, 12))


def grown(felt: Felt) -> None:
    """The record went on after it was signed."""
    signed(felt)
    felt.deal()


def exported(felt: Felt) -> None:
    """The table has made the dispute file; here one that is always the same."""
    played(felt)
    folder = felt.folder / EXPORTS
    folder.mkdir()
    with zipfile.ZipFile(folder / "hand-000001.zip", "w") as packed:
        packed.writestr(
            zipfile.ZipInfo(MANIFEST, (1980, 1, 1, 0, 0, 0)), json.dumps({"key": KEY.public.hex()})
        )


def on_its_way(step: Step, /, **more: Any) -> Callable[[Felt], None]:
    """It is on its way to a stick."""

    def play(felt: Felt) -> None:
        exported(felt)
        Progress("job", 1, step, **more).write(felt.folder / STICK)

    return play


def settled_down(page: Page) -> None:
    """Wait until the page has heard how far it is."""
    page.wait_for_selector("#exported[data-step]")


FULL: Final = Message(
    "The stick is full: %(free)s MB are free, %(needed)s MB are needed. Use another stick.", free=3, needed=9
)

PAST: Final = (
    _past("past hands", "/review", many),
    _past("past hands of the dealer", "/review", many, None),
    _past("no past hands", "/review", nothing),
    _past("no past hands like that", "/review?with=natural", many),
    _past("hand recalled", "/review/1", played),
    _past("hand told", "/review/1/story", played),
    _past("hand seen", "/review/1/look", played),
    _past("card seen closer", "/review/1/look?card=32", played),
    _past("frames compared", "/review/1/changes", played),
    _past("settled again", "/review/1/again?profile=washington-1-6", played),
    _past("hand to correct", "/review/1/dispute", played),
    _past("hand corrected", "/review/1/dispute", corrected),
    _past("hand seen bare", "/review/1/look?marks=off", played),
    _on_stick("dispute file being written", "copying", at=60, of=100),
    _on_stick("dispute file on the stick", "done", name="feltwatch-12-hand-1.zip"),
    _on_stick("dispute file on no stick", "failed", refusal=FULL.to_json()),
    _past("shift report", "/report", many),
    _past("slip", "/slip", signed, None),
    _past("slip with a checkpoint", "/slip", held, None),
    _past("slip of an older end", "/slip?back=/report", grown),
    _past("no slip", "/slip", nothing, None),
    _past("records and set-up", "/menu", nothing, None),
    State("last ten hands", many, opened("more"), table=_Always()),
)
