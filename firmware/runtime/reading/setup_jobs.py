"""Camera jobs between hands that users request: one at a time, with progress, and recorded at the end."""

import base64
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal, Protocol

from firmware.access.control import Sender
from firmware.messages import Message, message_of
from firmware.record.journal.journal import Journal, JournalReader
from firmware.runtime.reading.calibrations import KINDS
from firmware.runtime.reading.messages import CameraJob, CameraWork, JobDone, JobLost, JobProgress
from firmware.table import CommandRefused, State, TableError
from firmware.table import events as ev
from firmware.table.command import COMMAND_ROLES
from firmware.table.deck_tally import LaidCard, Round, misread, tally
from firmware.table.errors import CommandNotAllowed
from firmware.table.events import Calibration, CalibrationDropped, CameraCalibrated, DeckChecked, DeckEnrolled
from firmware.table.people import check_name
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.topics.camera import (
    AskJob,
    CalibrateFelt,
    CalibrateLens,
    CameraCommand,
    CheckDeck,
    EnrolDeck,
    Look,
    ReadCode,
    UseCalibration,
)

log = logging.getLogger(__name__)

KEPT: Final = 8
"""Number of finished jobs whose results are still available."""
OPENED: Final = Message("A hand was opened meanwhile; do it again between hands.")
_LOOKS: Final = frozenset({"look", "code"})
"""What a live picture asks for again and again; anything else goes before it."""
_HIDES: Final = frozenset({"joker", "back"})

JobState = Literal["running", "done", "failed"]


class Record(Protocol):
    """Where jobs are recorded: the table process."""

    @property
    def state(self) -> State:
        """The state, as the journal has it."""

    def write(self, events: Sequence[ev.Event], actor: str) -> int:
        """Record events durably. Raises CommandRefused, JournalError."""


@dataclass
class _Job:
    number: int
    do: str
    work: CameraWork
    actor: str
    name: str
    deck: str = ""
    state: JobState = "running"
    done: int = 0
    of: int = 1
    result: dict[str, Any] = field(default_factory=dict)
    error: Message | None = None
    picture: bytes = b""

    def to_json(self, picture: bool) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "job": self.number,
            "name": self.name,
            "do": self.do,
            "work": self.work,
            "state": self.state,
            "done": self.done,
            "of": self.of,
            "result": self.result,
            "has_picture": bool(self.picture),
        }
        if self.error is not None:
            answer |= {"why": str(self.error), **self.error.to_json()}
        if picture:
            answer["picture"] = base64.b64encode(self.picture).decode()
        return answer


class CameraJobs:
    """Decides which camera jobs are allowed now, and records their results.

    A job never sees a hand: it is refused while a hand is open, and its result is dropped if a hand was opened
    meanwhile.
    """

    def __init__(self, ask: Callable[[CameraJob], None], journal: Journal, reader: JournalReader) -> None:
        """`ask` passes a job to the reading process."""
        self._ask = ask
        self._journal = journal
        self._reader = reader
        self._jobs: OrderedDict[int, _Job] = OrderedDict()
        self._rounds: list[Round] = []
        self._counted: DeckChecked | None = None

    def handle(self, command: CameraCommand, record: Record, sender: Sender) -> dict[str, Any]:
        """Run the command, or start its job, and return the answer. Raises CommandRefused, JournalError."""
        if isinstance(command, AskJob):
            return self._answer(command, sender)
        _need_between(record.state)
        match command:
            case Look():
                return self._begin(record, sender, "look", "look")
            case ReadCode():
                return self._begin(record, sender, command.do, "code")
            case CalibrateFelt():
                return self._begin(record, sender, command.do, "felt")
            case CalibrateLens():
                works: dict[str, CameraWork] = {
                    "begin": "lens_begin",
                    "view": "lens_view",
                    "commit": "lens_commit",
                }
                return self._begin(record, sender, command.do, works[command.step])
            case EnrolDeck():
                works = {"begin": "deck_begin", "view": "deck_view", "commit": "deck_commit"}
                return self._begin(record, sender, command.do, works[command.step], check_name(command.name))
            case CheckDeck():
                return self._check(command, record, sender)
            case UseCalibration():
                return {"ok": True, "seq": record.write([self._again(command)], sender.actor)}

    def _again(self, command: UseCalibration) -> ev.Event:
        """Return the event that puts an earlier calibration in force again, or none. Raises CommandRefused."""
        if not command.hash:
            return CalibrationDropped(command.what)
        kind = DeckEnrolled.type if command.what == "deck" else CameraCalibrated.type
        for entry in reversed(self._reader.of_set_up()):
            if entry.type != kind:
                continue
            event = entry.event
            if (
                not isinstance(event, (CameraCalibrated, DeckEnrolled))
                or event.calibration.hash != command.hash
            ):
                continue
            if isinstance(event, DeckEnrolled):
                checked = event.unchecked and was_checked(self._reader, command.hash)
                return replace(event, unchecked=False) if checked else event
            if event.what == command.what:
                return event
        raise CommandRefused("The record has no such calibration.")

    def lost(self) -> None:
        """Forget the deck count in progress: the table starts again."""
        self._rounds, self._counted = [], None

    # ---- requests ----

    def _begin(
        self, record: Record, sender: Sender, do: str, work: CameraWork, deck: str = ""
    ) -> dict[str, Any]:
        running = next((job for job in self._jobs.values() if job.state == "running"), None)
        if running is not None and running.work == work and work in _LOOKS:
            return {"ok": True, "job": running.number}  # one picture serves every screen
        if running is not None and running.work not in _LOOKS:
            raise CommandRefused("The camera is busy with something else; wait until that is done.")
        if "camera" in record.state.faults:
            raise CommandRefused(message_of(record.state.faults["camera"]))
        number = next(reversed(self._jobs), 0) + 1
        name = f"setup/{self._journal.seq:09}-{number}"
        self._jobs[number] = _Job(number, do, work, sender.actor, name, deck)
        while len(self._jobs) > KEPT:
            self._jobs.popitem(last=False)
        for job in list(self._jobs.values())[:-2]:
            job.picture = b""
        self._ask(CameraJob(number, work, name, deck))
        return {"ok": True, "job": number}

    def _answer(self, command: AskJob, sender: Sender) -> dict[str, Any]:
        job = self._jobs.get(command.job)
        if job is None:
            raise CommandRefused("Nothing is known of that any more; begin again.")
        if sender.role not in COMMAND_ROLES[job.do]:
            raise CommandNotAllowed("That was asked by somebody else.", roles=COMMAND_ROLES[job.do])
        return {"ok": True, **job.to_json(command.picture)}

    def _check(self, command: CheckDeck, record: Record, sender: Sender) -> dict[str, Any]:
        match command.step:
            case "begin":
                self.lost()
                return {"ok": True}
            case "again":
                self._rounds = self._rounds[:-1]
                self._counted = None
                return self._begin(record, sender, command.do, "count")
            case "round":
                if self._counted is not None:
                    self.lost()  # the last deck is recorded: this is the first round of another
                return self._begin(record, sender, command.do, "count")
            case "end":
                if not self._rounds or self._counted is not None:
                    raise CommandRefused(
                        "No deck is being counted; lay cards into the zones and count them first."
                    )
                return {"ok": True, "seq": self._end_count(record, sender.actor)}

    def _end_count(self, record: Record, actor: str) -> int:
        checked = tally(self._rounds)
        seq = record.write([checked], actor)
        self._counted = checked
        return seq

    # ---- results ----

    def take(self, answer: JobProgress | JobDone | JobLost, record: Record) -> None:
        """Take a message of the reading process about a job."""
        job = self._jobs.get(answer.number)
        if job is None or job.state != "running":
            return
        if isinstance(answer, JobProgress):
            job.done, job.of = answer.done, answer.of
            return
        if not _between(record.state):
            job.state, job.error = "failed", OPENED
            return
        job.result, job.picture = answer.result, answer.picture
        if isinstance(answer, JobLost):
            job.state, job.error = "failed", message_of(answer.reason)
            return
        try:
            self._bring_in(job, answer, record)
        except TableError as error:
            log.error("%s: %s", job.do, error)
            job.state, job.error = "failed", error.sentence
        else:
            job.state, job.done = "done", job.of

    def _bring_in(self, job: _Job, done: JobDone, record: Record) -> None:
        """Record the events of a finished job. Raises CommandRefused, JournalError."""
        frame = ev.Capture(**done.frame) if done.frame else None
        kinds: dict[str, ev.Calibrates] = {"felt": "felt", "lens_commit": "lens", "deck_commit": "deck"}
        what = kinds.get(job.work)
        if what is not None:
            before = record.state.calibrations.get(what)
            digest = self._journal.keep(KINDS[what], done.text.encode())
            if done.layout:
                self._journal.keep("layout", done.layout.encode())
            made = Calibration(
                digest, done.result.get("name", ""), done.result.get("stands_on", {}), done.result["figures"]
            )
            event = (
                DeckEnrolled(made, frame)
                if what == "deck"
                else CameraCalibrated(what, made, frame, done.result.get("moved") or {})
            )
            record.write([event], job.actor)
            job.result["hash"] = digest
            job.result["before"] = asdict(before) if before else None
        if job.work == "count":
            counted = _round(done, frame)
            if any(one.deck != counted.deck for one in self._rounds):
                self.lost()  # what another deck has read proves nothing of this one
            self._rounds.append(counted)
            checked = tally(self._rounds)
            job.result["tally"] = asdict(checked) | {"whole": checked.whole, "frames": []}
            job.result["strange"] = self._rounds[-1].strange
            job.result["misread"] = misread(self._rounds[-1]) if record.state.deck_unchecked else ()
            if checked.whole and record.state.deck_unchecked and not checked.in_order:
                self.lost()  # it is laid again
                job.result["recorded"] = False
                return
            if checked.whole:
                self._end_count(record, job.actor)  # nothing left to ask
            job.result["recorded"] = checked.whole


def was_checked(reader: JournalReader, deck: str) -> bool:
    """Return whether the record has a check of an enrolled deck, by hash, in the order of the spread."""
    return any(
        isinstance(event := entry.event, DeckChecked)
        and event.deck == deck
        and event.in_order
        and event.whole
        for entry in reader.of_type(DeckChecked.type)
    )


def _round(done: JobDone, frame: ev.Capture | None) -> Round:
    others: list[str] = done.result["others"]
    cards = tuple(
        LaidCard(**{**card, "candidates": tuple(card["candidates"])}) for card in done.result["cards"]
    )
    return Round(
        cards,
        others.count("joker"),
        others.count("back"),
        sum(what not in _HIDES for what in others),
        frame=frame,
        deck=done.result["deck"],
    )


def _between(state: State) -> bool:
    return state.phase in BETWEEN_HANDS


def _need_between(state: State) -> None:
    if not _between(state):
        raise CommandRefused("A hand is open; this is done between hands. Finish the hand first.")
