"""The camera between hands: calibrations of felt and lens, decks learnt and counted.

The reading process carries the commands out, one at a time. All except `use_calibration` and `job` answer with the
number of a job; `job` returns its progress.
"""

from dataclasses import field, replace
from typing import Literal

from pydantic import Field

from firmware.messages import Message
from firmware.table.command import Command
from firmware.table.errors import CommandRefused
from firmware.table.event import Event, stays
from firmware.table.people import AT_TABLE, TECHNICIAN
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.readings import Capture
from firmware.table.state import State
from firmware.table.values import Calibrates, Calibration


class CameraCalibrated(Event, leads=stays(BETWEEN_HANDS)):
    """The felt or the lens was calibrated, or an earlier calibration is used again; `frame` is a picture of it.

    `moved` is a felt's movement since the previous calibration (`vision.felt.calibration.Movement`).
    """

    type = "calibrated"
    title = Message("Calibrated")
    what: Literal["felt", "lens"]
    calibration: Calibration
    frame: Capture | None = None
    moved: dict[str, float] = field(default_factory=dict)

    def apply(self, state: State) -> State:
        made = self.calibration
        if self.what == "felt" and made.stands_on.get("lens", "") != state.calibration_hash("lens"):
            raise CommandRefused("That felt was calibrated through another lens; calibrate the felt again.")
        return _with(state, self.what, made)


class DeckEnrolled(Event, leads=stays(BETWEEN_HANDS)):
    """The house's deck was learnt, or one learnt earlier is used again.

    `unchecked`: it came from a pit, and was not checked in the order of the spread at this table yet.
    """

    type = "deck_enrolled"
    title = Message("Deck enrolled")
    calibration: Calibration
    frame: Capture | None = None
    unchecked: bool = False

    def apply(self, state: State) -> State:
        return replace(_with(state, "deck", self.calibration), deck_unchecked=self.unchecked)


class CalibrationDropped(Event, leads=stays(BETWEEN_HANDS)):
    """A calibration is no longer used."""

    type = "calibration_dropped"
    title = Message("Calibration dropped")
    what: Calibrates

    def apply(self, state: State) -> State:
        if self.what not in state.calibrations:
            raise CommandRefused("There is nothing of that kind in use.")
        left = _with(state, self.what, None)
        return replace(left, deck_unchecked=left.deck_unchecked and self.what != "deck")


class DeckChecked(Event, leads=stays(BETWEEN_HANDS)):
    """A deck was counted card by card.

    `seen` is how many of the 52 cards were found, `missing` are the others. `twice` are cards found twice, in one round
    or in two. `unsure` counts the cards that could not be named; `jokers` and `backs` (cards face down) are counted
    too. `deck` is the enrolled deck that read them, by hash; `frames` are the pictures of the rounds. `in_order`: all
    52 lay in one round, each read as the card that the spread has in its place. A deck whose figures exchange two cards
    reads 52 cards as well, but not in their places.
    """

    type = "deck_checked"
    title = Message("Deck checked")
    seen: int
    missing: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()
    unsure: int = 0
    jokers: int = 0
    backs: int = 0
    rounds: int = 1
    deck: str = ""
    frames: tuple[Capture, ...] = ()
    in_order: bool = False

    def apply(self, state: State) -> State:
        is_proven = self.in_order and self.whole and self.deck == state.calibration_hash("deck")
        return replace(state, deck_unchecked=state.deck_unchecked and not is_proven)

    @property
    def whole(self) -> bool:
        """Whether it has all 52 cards, each once, and nothing else."""
        return self.seen == 52 and not (self.twice or self.unsure or self.jokers or self.backs)


class Look(Command, roles=TECHNICIAN):
    """Take a picture of the bare felt; the result has what was found in it, and each figure with its limit."""

    do: Literal["look"] = "look"


class ReadCode(Command, roles=TECHNICIAN):
    """Look for a QR code in the camera's picture, such as a pit's; the result has its `text`, "" without one."""

    do: Literal["read_code"] = "read_code"


class CalibrateFelt(Command, roles=TECHNICIAN):
    """Measure the felt's position."""

    do: Literal["calibrate_felt"] = "calibrate_felt"


class CalibrateLens(Command, roles=TECHNICIAN):
    """Measure the lens: `begin` starts over, `view` takes a picture of the board, `commit` uses all pictures."""

    do: Literal["calibrate_lens"] = "calibrate_lens"
    step: Literal["begin", "view", "commit"]


class EnrolDeck(Command, roles=TECHNICIAN):
    """Learn the house's deck: `begin` starts over, `view` takes a picture of the cards, `commit` stores it by name."""

    do: Literal["enrol_deck"] = "enrol_deck"
    step: Literal["begin", "view", "commit"]
    name: str = Field(default="house", min_length=1, max_length=40)


class UseCalibration(Command, roles=TECHNICIAN):
    """Use an earlier calibration from the record again, or none (an empty `hash`)."""

    do: Literal["use_calibration"] = "use_calibration"
    what: Calibrates
    hash: str = Field(default="", max_length=64)


class CheckDeck(Command, roles=AT_TABLE | TECHNICIAN):
    """Count a deck: `begin` starts over, `round` counts the cards laid out, `again` redoes the last round, `end`."""

    do: Literal["check_deck"] = "check_deck"
    step: Literal["begin", "round", "again", "end"]


class AskJob(Command, roles=AT_TABLE | TECHNICIAN):
    """Return a job's progress and result; with `picture`, also the picture that it took."""

    do: Literal["job"] = "job"
    job: int
    picture: bool = False


CameraCommand = (
    Look | ReadCode | CalibrateFelt | CalibrateLens | EnrolDeck | CheckDeck | UseCalibration | AskJob
)


def _with(state: State, what: Calibrates, made: Calibration | None) -> State:
    """Put a calibration in force, or remove it; a felt's calibration is dropped with the lens that it depends on."""
    now = {name: one for name, one in state.calibrations.items() if name != what}
    if made is not None:
        now[what] = made
    felt = now.get("felt")
    lens = now["lens"].hash if "lens" in now else ""
    if felt is not None and felt.stands_on.get("lens", "") != lens:
        del now["felt"]
    return replace(state, calibrations=now)
