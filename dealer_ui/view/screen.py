"""What the screen shows, as plain frozen data: the templates render it, `to_json` sends it, tests read it.

Nothing here decides anything; `dealer_ui.view.build` fills it from the table's state and the settlement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, Self

from dealer_ui.text.messages import say
from dealer_ui.view.quiz_screen import Quiz
from dealer_ui.view.rules_sheet import Sheet
from firmware.rules import DOLLARS
from firmware.table.offers import Offer

Face = Literal["up", "back", "unread", "unseen", "empty"]
"""`up`: a card is shown; `back`: it lies face down; `unread`: it should be read and is not; `unseen`: the camera has
not seen it yet, and nothing is asked; `empty`: no card yet."""

Outcome = Literal["", "won", "lost", "push"]
Tone = Literal["plain", "go", "wait", "warn", "quiet"]
"""`go`: press now; `wait`: possible, but there is something to look at first."""
LAMPS: Final = {"next": "white", "confirm": "green", "look_again": "red"}
"""The push-button that gives a command."""


@dataclass(frozen=True)
class Action:
    """A button that sends one command to the table."""

    label: str
    command: dict[str, Any]
    tone: Tone = "plain"
    hold: bool = False
    """Press and hold: for what cannot be undone, or what the cards do not show."""
    lamp: Literal["", "green", "red", "white"] = ""
    """The real button that does the same."""
    takes_back: bool = False
    """Undoes the last step: it stands away from the next one."""
    also: tuple[Mapping[str, Any], ...] = ()
    """Commands that follow once the table has taken the first; the first refusal ends them."""

    @classmethod
    def of(cls, offer: Offer, label: str = "", given: Mapping[str, Any] | None = None, **how: Any) -> Self:
        """Return the button of an offer, in its words or under another label; `given`: fields that it asks for."""
        command = {**offer.command, **(given or {})}
        looks = {"lamp": LAMPS.get(command["do"], ""), "hold": offer.hold, "also": offer.also, **how}
        return cls(label or say(offer.words), command, **looks)


@dataclass(frozen=True)
class Pad:
    """A question answered on the 52-card pad: the command gets `card`, or `cards` if `count` is more than 1."""

    label: str
    command: dict[str, Any]
    count: int = 1
    title: str = ""
    """What stands over the pad; the label where this is empty."""
    have: tuple[str, ...] = ()
    """The row's cards that are named already, left to right: only those that are wrong are touched."""
    likely: tuple[str, ...] = ()
    """Cards that it most probably is, the first the most: they stand before the others."""


@dataclass(frozen=True)
class Amount:
    """A figure from the keypad: the command gets it under the name `into`; a `stack` with `base` added."""

    label: str
    command: dict[str, Any]
    title: str
    base: int = 0
    least: int = 0
    most: int = 0
    """The highest that may come of it, `base` included."""
    old: int | None = None
    """What the player has now; None where it is not counted, or is not a stack."""
    limit: int = 0
    """Beyond this it is asked again: the house's most, or all that is on the table; 0 for never."""
    chips: tuple[int, ...] = ()
    """Sums in cents that are one touch: whole units of the currency."""
    into: Literal["stack", "amount", "past"] = "stack"
    """In cents, except the number of a past hand."""


@dataclass(frozen=True)
class NameEntry:
    """A name from our on-screen keyboard: the command gets it under the name `into`."""

    label: str
    command: dict[str, Any]
    title: str
    into: Literal["player", "name"]
    then: Amount | None = None
    """What the keypad asks for after that, for the same command."""
    offers: tuple[str, ...] = ()
    """Names that are one touch away."""


@dataclass(frozen=True)
class Group:
    """Actions under a heading."""

    title: str
    actions: tuple[Action, ...] = ()
    pads: tuple[Pad, ...] = ()
    amounts: tuple[Amount, ...] = ()
    stops: bool = False
    """Whether it ends the hand without a settlement: all of these are behind one entry."""


@dataclass(frozen=True)
class Card:
    """One place for a card in a row."""

    face: Face
    code: str = ""
    asked: bool = False
    """True while the dealer is asked about this card."""
    swapped: bool = False
    """Whether it changed places with another card on the dealer's word."""
    pad: Pad | None = None
    """What corrects this card; None where nothing can be corrected now."""


@dataclass(frozen=True)
class Row:
    """One row of a seat."""

    row: str
    name: str
    """What the row is called."""
    cards: tuple[Card, ...]
    category: str = ""
    detail: str = ""
    text: str = ""
    """The row in the rules' full words, with every card that counts."""
    bonus: int = 0
    outcome: Outcome = ""


@dataclass(frozen=True)
class Flag:
    """A mark on a seat: a word, never a colour alone."""

    kind: Literal["foul", "dead", "natural", "fantasyland", "surrender", "asked"]
    text: str


@dataclass(frozen=True)
class Seat:
    """A seat, at its place on the felt. `seat` is None if nobody plays there."""

    place: str
    seat: int | None = None
    player: str = ""
    button: bool = False
    role: Literal["", "pays", "collects"] = ""
    """What the seat does in the current payment."""
    moves: str = ""
    """What that payment moves."""
    paying: bool = False
    """True while payments are made: the total is small, and who is not concerned by the current one is dimmed."""
    points: str = ""
    total: str = ""
    trend: Literal["up", "down", "level"] = "level"
    rows: tuple[Row, ...] = ()
    flags: tuple[Flag, ...] = ()
    actions: tuple[Action, ...] = ()
    pads: tuple[Pad, ...] = ()
    """What keys a row of this seat, or its next card."""
    stack: str = ""
    """What lay in front of the player when the hand began."""
    due: bool = False
    """True where this seat's card is due."""
    looked: Literal["", "read", "seen", "short", "none"] = ""
    """While cards are awaited after the showdown signal: whether the seat's cards are all `read`, or `seen` but not
    all sure, some of them missing (`short`), or `none` there."""


@dataclass(frozen=True)
class Player:
    """A player who sits at the table or has chips there, between hands."""

    player: str
    seats: tuple[int, ...]
    button: bool
    stack: str
    standing: str
    amounts: tuple[Amount, ...] = ()
    actions: tuple[Action, ...] = ()
    naming: NameEntry | None = None
    """Gives the player another name."""
    moves: tuple[Action, ...] = ()
    """Seats that the player may change to."""
    leaving: Action | None = None


@dataclass(frozen=True)
class Down:
    """A dealer's time at the table and what it costs the players."""

    dealer: str
    number: int
    clock: str
    over: bool = False
    rate: str = ""
    due: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Line:
    """One line of a payment: a sentence and its points, as seen by the player who collects."""

    text: str
    points: str
    brief: str = ""
    """The same in a few words; "" where there are no fewer."""
    compares: bool = False
    """Whether it tells which cards won a row: told in full as long as there is room."""


@dataclass(frozen=True)
class Payment:
    """One pair's exchange: `winner` collects from `payer`. In state "nothing" no chips move: even, or all short."""

    label: str
    amount: str
    state: Literal["paid", "now", "later", "nothing"]
    payer: int
    winner: int
    points: str
    lines: tuple[Line, ...]
    short: str = ""
    payer_name: str = ""
    winner_name: str = ""


@dataclass(frozen=True)
class Alert:
    """A line over the felt about faults: what does not work, what to do, and what else does not work."""

    title: str
    todo: str
    others: tuple[Alert, ...] = ()
    """A touch away, each in whole sentences."""


@dataclass(frozen=True)
class Correction:
    """A past hand that is on the page to be corrected."""

    hand: int
    waits: int | None = None
    """The hand in play, which waits where it is."""


@dataclass(frozen=True)
class AwaitedSeats:
    """The seats whose cards are still to be turned up."""

    seats: tuple[int, ...]
    title: str
    sentence: str


@dataclass(frozen=True)
class PuckDue:
    """Where the puck must lie before the next hand opens.

    `at`: the seat at which it is seen, otherwise its seat in the last hand; `to`: the seat that is due, of `player`.
    `is_seen`: whether the reader sees it at `at`. `stays`, `lies`: the dealer's word that it counts at `at`, or that it
    lies at `to`; `lies` is None where the reader would see it there. `opens`: white has asked for the next hand, which
    opens by itself once the puck lies right.
    """

    at: int
    to: int
    player: str
    is_seen: bool
    title: str
    sentence: str
    stays: Action
    lies: Action | None = None
    opens: bool = False


@dataclass(frozen=True)
class Refund:
    """What one player pays back to another after a hand was corrected: the `number`th `of` them.

    `stacks`: both players with their stacks before and after; empty if no stacks are tracked.
    """

    hand: int
    number: int
    of: int
    payer: str
    winner: str
    payer_seats: str
    winner_seats: str
    amount: str
    stacks: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Transfer:
    """Chips that one player hands to another in the plan with the fewest movements."""

    payer: str
    winner: str
    amount: str


@dataclass(frozen=True)
class Crop:
    """A part of an image, in pixels, shown turned by `turn_deg` around its middle."""

    x: int
    y: int
    width: int
    height: int
    turn_deg: int


@dataclass(frozen=True)
class Picture:
    """A stored image: its capture's name and what it shows; the whole image if `crop` is None."""

    capture: str
    caption: str
    crop: Crop | None = None
    mark: str = ""
    """The corners of the place to look at, in the image's pixels, as SVG writes points; with a crop only."""


@dataclass(frozen=True)
class Need:
    """What the dealer must do before the hand can go on; the first one gets the largest place."""

    kind: Literal["card", "count", "duplicate", "natural", "button", "irregularity", "device", "record"]
    title: str
    sentence: str
    rule: str = ""
    clause: str = ""
    """The words of the document that the rule comes from."""
    place: str = ""
    row: str = ""
    index: int | None = None
    pictures: tuple[Picture, ...] = ()
    candidates: tuple[tuple[str, Action], ...] = ()
    """Card codes with the action that names each."""
    choices: tuple[Action, ...] = ()
    rows: tuple[tuple[Card, ...], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    verdict: Literal["", "yes", "no"] = ""
    """Whether the cards bear a declared natural out."""
    follow: bool = False
    """The pad of the next need opens by itself once this one is answered: a hand is keyed row by row."""
    begins: bool = False
    """The pad opens by itself at once: the dealer has said that the hand is keyed."""
    pads: tuple[Pad, ...] = ()
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True)
class Device:
    """One device's light in the bar. `ok` is None if its state is unknown."""

    name: str
    ok: bool | None
    text: str = ""


@dataclass(frozen=True)
class Screen:
    """The whole page for one state of the record."""

    seq: int
    language: str
    """The table's, whatever this screen is said in."""
    answering: bool
    """Whether the table process answers; where it does not, nothing is offered and no device is called well."""
    set_up: bool
    """Whether the box was set up; until then this page leads to the set-up."""
    silent_since: str
    """The box's time since when it does not; "" while it does, or where it has not since the page started."""
    phase: str
    phase_title: str
    next_step: str
    profile: str
    unit: str
    hand: int | None
    devices: tuple[Device, ...]
    seats: tuple[Seat, ...]
    """Four, in the order A, B, C, D of the places."""
    needs: tuple[Need, ...] = ()
    payments: tuple[Payment, ...] = ()
    current: int | None = None
    """The index in `payments` of the one to be made now; None before the settlement and after the last."""
    transfers: tuple[Transfer, ...] = ()
    """The chips plan: the same nets in the fewest movements. Empty where a payment is marked already."""
    transferred: Action | None = None
    """Marks every payment, once the chips of the plan have moved."""
    actions: tuple[Action, ...] = ()
    players: tuple[Player, ...] = ()
    """Everybody at the table; between hands only."""
    alert: Alert | None = None
    """What does not work and the hand does not need."""
    puck_due: PuckDue | None = None
    """That the puck was not moved; between hands only."""
    correction: Correction | None = None
    """The past hand that is being corrected, if any."""
    awaits: AwaitedSeats | None = None
    """Where cards are still to be turned up, after the showdown signal."""
    refund: Refund | None = None
    """What is to be paid back now of a corrected hand; between hands only."""
    free: tuple[NameEntry, ...] = ()
    """Seats where somebody may sit down; between hands only."""
    down: Down | None = None
    log_ons: tuple[Action, ...] = ()
    sheet: Sheet | None = None
    """The rules in force."""
    last: tuple[Payment, ...] = ()
    """The last exchange of points, while this hand has none of its own."""
    last_hand: int | None = None
    past_hands: tuple[int, ...] = ()
    """The last ten hands that are over, the newest first: two touches away."""
    more: tuple[Group, ...] = ()
    """What is one touch away: key the puck, correct, void."""
    notices: tuple[str, ...] = ()
    cues: tuple[str, ...] = ()
    """What is worth a sound, once: "natural-12-3" (hand 12, seat 3), "foul-12-1", "dead-12-1", "fault-camera"."""
    sums: str = DOLLARS.pattern
    """How sums are written: `{}` stands for the figure."""
    used: tuple[tuple[str, int, bool], ...] = ()
    """Cards that were read on the felt and the seats where they lie, for the pad; whether each may change places."""
    links: tuple[tuple[str, str], ...] = ()
    """Other pages of this machine that answer now: what they are called, and their addresses."""
    quiz: Quiz | None = None
    """In training: the question that is open."""

    @property
    def mode(self) -> Literal["need", "felt", "between", "quiz"]:
        """Return what has the largest place: a trainee's `quiz`, `between` hands, an open question, else the `felt`."""
        if self.quiz:
            return "quiz"
        if self.players or self.free:
            return "between"
        return "need" if self.needs and self.phase in ("placing", "showdown", "reading", "review") else "felt"

    @property
    def payment(self) -> Payment | None:
        """The payment to be made now."""
        return None if self.current is None else self.payments[self.current]

    @property
    def payment_after(self) -> Payment | None:
        """The payment to be made after that."""
        after = self.payments[self.current + 1 :] if self.current is not None else ()
        return next((pay for pay in after if pay.state == "later"), None)

    @property
    def paid(self) -> int | None:
        """How many payments were made, once all are; None before."""
        if self.current is not None or not self.payments or self.phase != "settled" or self.correction:
            return None
        return sum(pay.state == "paid" for pay in self.payments)

    def to_json(self) -> dict[str, Any]:
        """Return the screen as JSON-compatible dicts and lists."""
        return {**asdict(self), "mode": self.mode}
