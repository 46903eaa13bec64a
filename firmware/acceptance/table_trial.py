"""The self-test of a table: what each step does, and when it passes. The acceptance uses these steps, too.

All requests to the table go over its socket, as the page's do; no device is used directly.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, Self

from firmware.devices.panel.interface import LAMPS
from firmware.health.check import Check, Verdict
from firmware.health.device_checks import device_check, name_of
from firmware.messages import Message
from firmware.record.dispute_file import EXPORTS
from firmware.record.journal.journal import JournalReader
from firmware.record_folder import SOCKET
from firmware.runtime.errors import AppError
from firmware.table.errors import TableError
from firmware.table.events import DeckChecked
from firmware.table_client import TableLink, TableUnreachable

SETTLES_IN_S: Final = 15.0
"""Seconds for a device to report its state without user action."""
HANDS_S: Final = 120.0
"""Seconds for a user to press and move what is requested."""
READ_MS: Final = 1000.0
"""Limit in milliseconds for reading a full table: the dealer looks up from the cards by then."""
VERIFIED_S: Final = 120.0
"""Timeout in seconds of an exported hand's own verifier."""
INSTALL_AGAIN: Final = "Install the release again."
VERIFIER: Final = "verify.py"
WRONG: Final = "WRONG: "
"""In a dispute file: its own verifier, and the prefix of its lines about errors."""
RECORD_ADVICE: Final = "See what the record says: feltwatch hands verify --all"
HANDS: Final = frozenset({"puck", "buttons", "lamps", "buzzer"})
"""Steps that need a user's hands or eyes."""

EXAMPLE: Final = {
    "profile": "washington-1-unit",
    "button": 1,
    "unit": 100,
    "seats": [
        {"seat": 1, "front": "Qc 7c 4c", "middle": "Ad 8s 8d 6h 5c", "back": "Ks Kh Ts 4s 4h"},
        {"seat": 2, "front": "Jc 8h 7h", "middle": "Ac 9c 7s 7d 3c", "back": "As Ah Kd 5s 5h"},
        {"seat": 3, "front": "Kc 8c 3d", "middle": "Jd Th 9s 9d 6c", "back": "Js Jh 4d 2s 2h"},
        {"seat": 4, "front": "Tc 9h 2d", "middle": "Qd Td 6s 6d 2c", "back": "Qs Qh 5d 3s 3h"},
    ],
}
"""The example table of row winners in Washington's rules, at a dollar a unit."""
EXAMPLE_PAID: Final = {"1": 300, "2": 100, "3": 300, "4": -700}
"""Cents, as in the document."""


class SelftestError(AppError):
    """The run cannot continue."""


Outcome = tuple[Verdict, str, dict[str, Any]]
"""The verdict of a step, one sentence in English that includes what to do, and figures."""
PASS, FAIL, SKIP = Verdict.OK, Verdict.BAD, Verdict.UNKNOWN


@dataclass(frozen=True)
class Step:
    """One step: its name, title and function."""

    name: str
    title: str
    do: Callable[[TableTrial], Outcome]


class TableTrial:
    """One run against one table process."""

    def __init__(
        self,
        data: Path,
        by: str | None,
        pin: str | None,
        tell: Callable[[str], None],
        ask: Callable[[str], bool],
        hands_s: float = HANDS_S,
    ) -> None:
        """`by` with their `pin` is a technician; `tell` requests an action, `ask` an observation.

        Raises SelftestError if no table answers or the PIN is wrong.
        """
        self.data = data
        self.reader = JournalReader(data)
        self.tell, self.ask = tell, ask
        self.hands_s = hands_s
        self._link = TableLink(data / SOCKET, timeout=60.0)
        self._unlocking = (
            {"do": "unlock", "by": by} | ({"pin": pin} if pin else {}) if by is not None else None
        )
        self._signed: dict[str, Any] = {}
        if self._link.heartbeat() is None:
            raise SelftestError("The table process is not running; start it, then try again.")
        self._unlock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(SelftestError):  # the device test also ends by itself
            self._send({"do": "end_trial"} | self._signed)
            if self._signed:
                self._send({"do": "lock"} | self._signed)

    def run(self, left_out: frozenset[str]) -> Iterator[Check]:
        """Run one step after another. Raises SelftestError if the table stops answering."""
        for step in STEPS:
            verdict, says, figures = (SKIP, "left out", {}) if step.name in left_out else step.do(self)
            yield Check(step.name, Message(step.title), verdict, "", Message(says), figures=figures)

    def _unlock(self) -> None:
        """Begin a session as the technician, if one is named. Raises SelftestError."""
        if self._unlocking is not None:
            answer = self._send(self._unlocking)
            if not answer["ok"]:
                raise SelftestError(str(answer["error"]))
            self._signed = {"session": answer["session"]}

    def _send(self, order: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._link.send(order)
        except TableUnreachable as error:
            raise SelftestError(str(error)) from error

    def order(self, do: str, **fields: Any) -> dict[str, Any]:
        """Send a command as the technician and return its answer, also a refusal. Raises SelftestError."""
        answer = self._send({"do": do, **fields} | self._signed)
        if not answer["ok"] and answer.get("ask") and self._signed:  # a session ends while people are busy
            self._unlock()
            answer = self._send({"do": do, **fields} | self._signed)
        return answer

    def words(self, device: str, found: Mapping[str, Any]) -> str:
        """Return what a device's test found, in a sentence, and what to do."""
        check = _check(device, found)
        return f"{check.says} {check.advice or ''}".strip()

    def job(self, do: str, within: float = 60.0, **fields: Any) -> dict[str, Any]:
        """Run a camera job; return its result, or the refusal. Raises SelftestError."""
        begun = self.order(do, **fields)
        deadline = time.monotonic() + within
        while begun["ok"] and time.monotonic() < deadline:
            progress = self.order("job", job=begun["job"])
            if not progress["ok"] or progress["state"] != "running":
                return progress
            time.sleep(0.1)
        return begun if not begun["ok"] else {"ok": False, "error": "The camera did not finish in time."}


# ---- devices ----


def _device(
    name: str, prepare: Callable[[TableTrial], None] | None = None
) -> Callable[[TableTrial], Outcome]:
    """Return the step that runs a device test; `prepare` announces what the user must look at."""

    def step(test: TableTrial) -> Outcome:
        found = test.order("try_device", device=name, act="begin")
        if found["ok"] and prepare is not None:
            prepare(test)
        deadline = time.monotonic() + (test.hands_s if name in HANDS else SETTLES_IN_S)
        last_told = ""
        while found["ok"] and (found := test.order("try_device", device=name))["ok"]:
            if found["verdict"] != "waits":
                break
            says = str(_check(name, found).says)
            if says != last_told and name in HANDS:
                test.tell(f"   {says}")
                last_told = says
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
        if not found["ok"]:
            return FAIL, str(found["error"]), {}
        kept = test.order("try_device", device=name, act="keep", seen=False)
        check = _check(name, kept if kept["ok"] else found)
        figures = {key: value for key, value in check.figures.items() if value not in (None, "")}
        if check.verdict is PASS:
            return PASS, str(check.says), figures
        return FAIL, f"{check.says} {check.advice or ''}".strip(), figures

    return step


def _check(device: str, found: Mapping[str, Any]) -> Check:
    return device_check(device, found["verdict"], found["why"], found["figures"], found["asks"])


def _light_each(test: TableTrial) -> None:
    for lamp in LAMPS:
        test.order("try_device", device="lamps", act="light", name=lamp)
        seen = test.ask(f"Is it lit: {name_of(lamp)}?")
        test.order("try_device", device="lamps", act="look", seen=seen)


def _sound(test: TableTrial) -> None:
    test.order("try_device", device="buzzer", act="ring")
    heard = test.ask("Did the buzzer sound three times?")
    test.order("try_device", device="buzzer", act="look", seen=heard)


# ---- camera and deck ----


def _calibration(test: TableTrial) -> Outcome:
    test.order("end_trial")
    done = test.job("calibrate_felt")
    if not done["ok"] or done["state"] != "done":
        return FAIL, str(done.get("why") or done.get("error")), {}
    figures = {
        name: value for name, value in done["result"]["figures"].items() if isinstance(value, int | float)
    }
    return PASS, "the felt is calibrated", {name: round(value, 3) for name, value in figures.items()}


def _deck(test: TableTrial) -> Outcome:
    deck = test.reader.recover()[0].calibrations.get("deck")
    if deck is None:
        return PASS, "none of the house's own is enrolled: the card reader goes by what it was trained on", {}
    return PASS, f"the deck {deck.name!r} is enrolled", {}


def _deck_check(test: TableTrial) -> Outcome:
    rows = test.reader.of_type(DeckChecked.type)
    if not rows:
        return SKIP, "no deck was counted yet: on the page, More, Check a deck", {}
    event = rows[-1].event
    assert isinstance(event, DeckChecked)
    if event.whole:
        return PASS, "the last deck that was counted is whole", {}
    return FAIL, "the last deck that was counted is not whole: on the page, More, Check a deck", {}


# ---- rules, record ----


def _example(test: TableTrial) -> Outcome:
    from firmware.rules import settle_json

    paid = settle_json(EXAMPLE)["paid"]
    figures = {f"seat {seat}": cents for seat, cents in paid.items()}
    if paid != EXAMPLE_PAID:
        return FAIL, f"the worked example is settled otherwise. {INSTALL_AGAIN}", figures
    return PASS, "Washington's worked example is settled to the cent", figures


def _record(test: TableTrial) -> Outcome:
    from firmware.record.evidence.verify import verify

    try:
        found = verify(test.data)
    except TableError as error:
        return FAIL, f"{error} {RECORD_ADVICE}", {}
    figures = {"rows": found.entries, "hands": found.hands, "images": found.images}
    if not found.ok:
        return FAIL, f"{found.problems[0].what} {RECORD_ADVICE}", figures
    return PASS, "the record is whole from its first row to its last", figures


def _export(test: TableTrial) -> Outcome:
    """Export the last finished hand, and check the file with a plain Python without our packages."""
    state, _ = test.reader.recover()
    last = state.hand if str(state.phase) in ("archived", "void") else state.hand - 1
    if last < 1:
        return SKIP, "no hand was played yet: play one, then run this again", {}
    answer = test.order("export_hand", past=last)
    if not answer["ok"]:
        return FAIL, str(answer["error"]), {}
    file = test.data / EXPORTS / answer["file"]
    try:
        wrong = _verify_alone(file)
        figures = {"hand": last, "bytes": file.stat().st_size}
    except (OSError, KeyError, zipfile.BadZipFile, subprocess.SubprocessError) as error:
        wrong, figures = str(error), {"hand": last}
    if wrong:
        return FAIL, f"the exported hand does not verify: {wrong} {RECORD_ADVICE}", figures
    return PASS, "an exported hand verifies with a bare Python", figures


def _verify_alone(file: Path) -> str:
    """Run a dispute file's own verifier on it; return its first error, "" if there is none.

    Raises OSError, KeyError, zipfile.BadZipFile, subprocess.SubprocessError.
    """
    with tempfile.TemporaryDirectory(prefix="feltwatch-selftest-") as folder:
        verifier = Path(folder) / VERIFIER
        with zipfile.ZipFile(file) as packed:
            verifier.write_bytes(packed.read(VERIFIER))
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(verifier), str(file.absolute())],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=VERIFIED_S,
            check=False,
        )
    if not done.returncode:
        return ""
    lines = (done.stdout + done.stderr).strip().splitlines() or [f"it ended with {done.returncode}."]
    return next((line.removeprefix(WRONG) for line in lines if line.startswith(WRONG)), lines[-1])


# ---- speed ----


def _speed(test: TableTrial) -> Outcome:
    """Read a drawn table of 52 cards on this machine, with the packaged model and layout."""
    from vision.base.errors import VisionError

    try:
        wrong, times = _read_drawn_table()
    except VisionError as error:
        return FAIL, f"{error} {INSTALL_AGAIN}", {}
    figures = {"best_ms": min(times), "worst_ms": max(times), "wanted_ms": READ_MS}
    if wrong:
        return FAIL, f"a drawn table is read wrong. {INSTALL_AGAIN}", figures | {"wrong": wrong}
    if min(times) > READ_MS:
        return FAIL, "reading a table takes too long: is the box too warm, or busy?", figures
    return PASS, "a full table is read right and in time", figures


def _read_drawn_table() -> tuple[str, list[int]]:
    """Return the misread zones, and the milliseconds of each of three readings. Raises VisionError."""
    read = drawn_table()
    readings = [read() for _ in range(3)]
    return next((wrong for wrong, _ms in readings if wrong), ""), [ms for _wrong, ms in readings]


def drawn_table() -> Callable[[], tuple[str, int]]:
    """Draw a table of 52 cards; return what reads it: the misread zones, and milliseconds. Raises VisionError."""
    from vision.felt.layout import TableLayout
    from vision.reading.cards import CARDS
    from vision.reading.network import CardReader
    from vision.reading.table_reading import read
    from vision.synthetic.render import render_table

    layout = TableLayout.load()
    hands: dict[str, dict[str, list[str]]] = {}
    cards = iter(CARDS)
    for zone in layout.zones:
        hands.setdefault(zone.place, {})[zone.row] = list(islice(cards, 3 if zone.row == "front" else 5))
    scene = render_table(hands, layout, seed=1)
    reader = CardReader(threads=2)

    def once() -> tuple[str, int]:
        began = time.monotonic()
        reading = read(scene.frame, layout, reader)
        ms = round(1000 * (time.monotonic() - began))
        wrong = {
            f"{seen.place} {seen.row}"
            for seen in reading.zones
            if [card.card for card in seen.cards] != hands[seen.place][seen.row]
        }
        return ", ".join(sorted(wrong)), ms

    return once


STEPS: Final[tuple[Step, ...]] = (
    Step("camera", "Camera", _device("camera")),
    Step("puck", "Puck reader: both disks at every seat", _device("puck")),
    Step("buttons", "Push-buttons: white, green, red", _device("buttons")),
    Step("lamps", "Lamps", _device("lamps", _light_each)),
    Step("buzzer", "Buzzer", _device("buzzer", _sound)),
    Step("disk", "Disk", _device("disk")),
    Step("clock", "Clock", _device("clock")),
    Step("power", "Power supply", _device("power")),
    Step("calibration", "Calibration of the felt", _calibration),
    Step("deck", "The house's deck", _deck),
    Step("deck_check", "A deck counted", _deck_check),
    Step("rules", "A hand settled", _example),
    Step("record", "The record verified", _record),
    Step("export", "A hand exported and verified", _export),
    Step("speed", "Speed of a reading", _speed),
)
"""The steps in order."""
