"""What may be done now: the commands that the table offers, their words, and why some of them are refused.

This module has no rules of the game. It tries each command on the state: `decide`, then `apply` of the events. A
command that the table refuses is not offered, except where the page shows it with the reason. The page, the lamps and
the simulated dealer use only these offers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, Final

from firmware.messages import Message
from firmware.rules import CARDS, SEATS, Profile
from firmware.table import events as ev
from firmware.table.command import COMMANDS, Context, Past
from firmware.table.dealing import button_due, right_buttons, told_button
from firmware.table.decide import decide
from firmware.table.errors import CommandRefused
from firmware.table.house import House
from firmware.table.people import Role
from firmware.table.phase import BETWEEN_HANDS, MISDEALING, OPEN, SURRENDERING, Phase
from firmware.table.settling import natural_verdict, pending_natural
from firmware.table.state import Ask, State
from firmware.table.swaps import swaps_made
from firmware.table.topics.puck import next_hand
from firmware.table.topics.white import payback_due

Fields = Mapping[str, Any]
DECK: Final = tuple(card.code for card in CARDS)

DEALT_WRONG: Final = (
    Message("Exposed card"),
    Message("Wrong number of cards"),
    Message("Dealt to the wrong player"),
    Message("Short deck"),
)
"""Reasons for a misdeal. Once the cards are read, they are reasons to void the hand."""
NOT_PLAYED: Final = (Message("Damaged or marked card"), Message("Dealer's error"))
"""Reasons to void a hand, at any time."""
_ANY_STATE: Final = frozenset(
    {"log_on", "log_off", "call_floor", "end_floor_call", "read_record_fault", "reopen"}
)
"""Commands that are not bound to a hand."""
_ONE_PHASE: Final = frozenset({"next", "undo_close", "keep_button"})
"""Commands that are bound to the present phase, also while a hand is open."""


_WHITE: Final = {
    **dict.fromkeys(BETWEEN_HANDS, Message("Open a hand")),
    Phase.DEALING: Message("Cards are out"),
    **dict.fromkeys((Phase.SETTING, Phase.PLACING), Message("Showdown")),
    **dict.fromkeys((Phase.SHOWDOWN, Phase.READING, Phase.REVIEW), Message("Look again")),
    Phase.SETTLED: Message("Close the corrected hand"),
}
"""What the white push-button does in each phase. `_white_words` handles payments and paybacks."""


@dataclass(frozen=True)
class Offer:
    """A command that is offered.

    - `words`: what the command does; empty if the words depend on where it is shown.
    - `command`: the command's fields, with the hand and the phase for which it is meant.
    - `asks`: the fields that a person has yet to fill in, with example values for trying the command.
    - `also`: commands that follow it at once.
    - `hold`: the button must be held, because the command cannot be undone or the cards do not confirm it.
    - `refused`: why the table would refuse the command; None if it would not.
    - `causes`: the events that it would cause.
    """

    words: Message
    command: Fields
    asks: Fields
    also: tuple[Fields, ...]
    hold: bool
    is_shown: bool
    """Whether it is offered even if the table would refuse it."""
    refused: Message | None = None
    causes: tuple[ev.Event, ...] = ()


class Offers:
    """The offers in one state. A command is tried when it is first asked for."""

    def __init__(self, at: Context | None) -> None:
        """`at`: the state and rules to try commands on; None if no game is known, so that nothing is offered."""
        self._at = at
        self._candidates: dict[str, list[Offer]] = {}
        self._tried: dict[str, tuple[Offer, ...]] = {}
        for offer in chain.from_iterable(group(at) for group in _GROUPS) if at else ():
            self._candidates.setdefault(offer.command["do"], []).append(offer)

    def of(self, *names: str, **fields: Any) -> tuple[Offer, ...]:
        """Return the offers of the named commands whose fields have these values."""
        return tuple(
            offer for do in names for offer in self._offers_of(do) if fields.items() <= offer.command.items()
        )

    def first(self, do: str, **fields: Any) -> Offer | None:
        """Return the first offer of a command whose fields have these values; None if there is none."""
        return next(iter(self.of(do, **fields)), None)

    @property
    def all(self) -> tuple[Offer, ...]:
        """Everything that is offered."""
        return self.of(*self._candidates)

    @property
    def white(self) -> Offer | None:
        """The offer of the white push-button; None if it does nothing now."""
        return None if self.white_refused else self.first("next")

    @property
    def white_refused(self) -> Message | None:
        """Why the white push-button is refused now; None if it is not."""
        offer = self.first("next")
        return offer.refused if offer else None

    @property
    def payback(self) -> Offer | None:
        """The offer to mark the payback that is due, which the white push-button does; None without one."""
        due = payback_due(self._at.state) if self._at else None
        return self.first("mark_paid_back", number=due) if due else None

    @cached_property
    def next_hand(self) -> tuple[ev.Event, ...] | Message:
        """The events that open the next hand, or why no hand can be dealt; empty if that is not the next step."""
        if self._at is None or not self._at.state.house.seats:
            return ()
        state = self._at.state
        is_next = state.is_paid or (state.phase in BETWEEN_HANDS and state.house.unit)
        return next_hand(state, self._at.house) if is_next else ()

    @cached_property
    def puck_due(self) -> int | None:
        """The seat where the puck must be put for the next hand; None if nothing has to be done."""
        return button_due(self._at.state, self._at.house) if self._at else None

    @cached_property
    def puck_told(self) -> int | None:
        """The seat at which the puck counts for the next hand although no reader sees it there; None for none."""
        return told_button(self._at.state, self._at.house) if self._at else None

    @property
    def right_buttons(self) -> tuple[Offer, ...]:
        """The offers to key a seat of the puck with which exactly the players who were dealt in would play."""
        seats = right_buttons(self._at.state, self._at.house) if self._at else ()
        return tuple(offer for offer in self.of("key_button") if offer.command["seat"] in seats)

    def _offers_of(self, do: str) -> tuple[Offer, ...]:
        if do not in self._tried:
            assert do in COMMANDS, do
            tried = (_try(self._at, offer) for offer in self._candidates.get(do, ()) if self._at)
            self._tried[do] = tuple(offer for offer in tried if offer.is_shown or not offer.refused)
        return self._tried[do]


class _NeedsPastHand(CommandRefused):
    """Raised when a command cannot be tried, because it needs a past hand that the state does not hold."""


def _past_not_known(hand: int) -> State:
    raise _NeedsPastHand("There is no record of hand %(hand)s here.", hand=hand)


def offers(state: State, house: House, rules: Profile, past: Past = _past_not_known) -> Offers:
    """Return what may be done. `rules`: those of the open hand. `house`: the settings for the next hand.

    `past` reads past hands. Without it, a command that depends on a past hand is offered without a check.
    """
    return Offers(Context(state, house, rules, past))


def _try(at: Context, offer: Offer) -> Offer:
    """Try an offer. Return it with the events that it would cause, or with the reason why it is refused."""
    state, causes = at.state, list[ev.Event]()
    try:
        for fields in ({**offer.command, **offer.asks}, *offer.also):
            command = COMMANDS[fields["do"]].model_validate(fields)
            events = decide(state, command, at.house, at.rules, at.past)
            causes += events
            state = ev.fold(events, state)
    except _NeedsPastHand:
        return offer
    except CommandRefused as error:
        return replace(offer, refused=error.sentence, causes=tuple(causes))
    return replace(offer, causes=tuple(causes))


def _offer(
    state: State,
    do: str,
    words: Message | str = "",
    *,
    hold: bool = False,
    shown: bool = False,
    asks: Fields | None = None,
    also: tuple[Fields, ...] = (),
    **fields: Any,
) -> Offer:
    """Return an offer that is not tried yet. Its commands are bound to the state's hand, and some to its phase."""
    meant: dict[str, Any] = {} if do in _ANY_STATE else {"hand": state.hand}
    follow = tuple({**meant, **command} for command in also)
    if meant and (do in _ONE_PHASE or state.phase in BETWEEN_HANDS):
        meant["phase"] = str(state.phase)
    text = words if isinstance(words, Message) else Message(words)
    return Offer(text, {"do": do, **fields, **meant}, asks or {}, follow, hold, shown)


def _push_buttons(at: Context) -> Iterator[Offer]:
    yield _offer(at.state, "next", _white_words(at), shown=True)
    yield _offer(at.state, "look_again", Message("Look again"))
    try:
        due = pending_natural(at.state, at.rules)
    except CommandRefused:
        return  # the rules refuse the hand; white says why
    if due is not None:
        verified = natural_verdict(at.state, due, at.rules).natural is not None
        words = Message("Confirm the natural") if verified else Message("It is no natural")
        yield _offer(at.state, "confirm", words, hold=not verified, seat=due)


def _white_words(at: Context) -> Message:
    state = at.state
    if state.phase is Phase.SETTLED and state.unpaid and not state.reopened:
        return Message("Paid")
    if state.phase is Phase.SETTLED and not state.reopened:
        ends = isinstance(next_hand(state, at.house), Message)
        return Message("Close the hand") if ends else Message("Next hand")
    owes = state.phase in BETWEEN_HANDS and payback_due(state)
    return Message("Paid back") if owes else _WHITE[state.phase]


def _hand(at: Context) -> Iterator[Offer]:
    state, offer = at.state, partial(_offer, at.state)
    yield offer("back_to_setting", Message("Back to setting"))
    for seat in state.seats:
        if not (seat.placed or seat.open):  # a surrender before the showdown that was not keyed
            words = Message("Seat %(seat)s has surrendered", seat=seat.seat)
            also: tuple[Fields, ...] = ({"do": "surrender", "seat": seat.seat}, {"do": "next"})
            yield offer("back_to_setting", words, hold=True, also=also)
    yield offer("undo_close", Message("Undo the closing"))
    yield offer("key_hand", Message("Key this hand"), reason=str(Message("The camera does not read.")))
    for number in SEATS:
        for do in ("key_button", "keep_button"):
            yield offer(do, Message("Seat %(seat)s", seat=number), seat=number)
    if not state.reopened:  # white closes a reopened hand
        settled = Message("The players have settled among themselves")
        words = settled if state.unpaid else Message("Close the hand: seats and chips")
        yield offer("archive", words, hold=bool(state.unpaid))
    for reason in DEALT_WRONG:
        yield offer("misdeal", reason, hold=True, reason=str(reason))
    for reason in NOT_PLAYED if state.phase in MISDEALING else (*DEALT_WRONG, *NOT_PLAYED):
        yield offer("void", reason, hold=True, reason=str(reason))
    words = Message("It stays at seat %(seat)s: deal again", seat=state.button or 0)
    then, why = {"do": "next", "phase": str(Phase.VOID)}, Message("The puck was at another seat")
    yield offer("misdeal", words, hold=True, also=(then,), reason=str(why))


def _seats(at: Context) -> Iterator[Offer]:
    for seat in at.state.seats:
        offer = partial(_offer, at.state, seat=seat.seat)
        if at.state.phase in SURRENDERING:
            yield offer("declare", Message("Declare"))
            yield offer("surrender", Message("Surrender"))
            yield offer("withdraw", Message("Take it back"))
            yield offer("withdraw_surrender", Message("Take it back"))
        yield offer("undo_confirm", Message("Take back seat %(seat)s's natural", seat=seat.seat))


def _cards(at: Context) -> Iterator[Offer]:
    """Offer to name or change each card and row. Then offer to undo swaps of cards, and to resolve irregularities."""
    state, offer = at.state, partial(_offer, at.state)
    doubtful = {(q.seat, q.row, q.index) for q in state.questions if q.what in (Ask.CARD, Ask.DUPLICATE)}
    for seat in state.seats:
        for row, cards in () if seat.surrenders else seat.rows.items():
            of_row: dict[str, Any] = {"seat": seat.seat, "row": row}
            yield offer("key_row", asks={"cards": " ".join(DECK[: ev.ROWS[row]])}, **of_row)
            if state.phase is Phase.PLACING and len(cards) < ev.ROWS[row]:
                yield offer("place_card", asks={"card": DECK[0]}, **of_row)
            for index, card in enumerate(cards):
                tried = {"card": next(code for code in DECK if code != card.card), "swap": False}
                swaps = card.sure and card.as_read and (seat.seat, row, index) not in doubtful
                swap: dict[str, Any] = {"swap": True} if swaps else {}
                yield offer("set_card", asks=tried, index=index, **of_row, **swap)
    for one, other in swaps_made(state):
        at_one: dict[str, Any] = {"seat": one.seat, "row": one.row, "index": one.index}
        yield offer("set_card", Message("Undo"), card=other.code, swap=True, **at_one)
    for seen in state.irregularities:
        yield offer("resolve", number=seen.number, stands="record")
        yield offer("resolve", hold=True, number=seen.number, stands="table")


def _payments(at: Context) -> Iterator[Offer]:
    """Offer to mark each payment or undo its mark, to mark all while none is marked, and the same for paybacks."""
    state, offer = at.state, partial(_offer, at.state)
    pairs = [{"a": p["a"], "b": p["b"]} for p in (state.settlement or {}).get("pairs", ()) if p["paid"]]
    for pair in pairs:
        is_paid = (pair["a"], pair["b"]) in state.paid
        yield offer("mark_paid", "" if is_paid else Message("Paid"), **pair, paid=not is_paid)
    if pairs and not state.paid:
        all_paid = tuple({"do": "mark_paid", **pair, "paid": True} for pair in pairs)
        moved = Message("These chips have moved: all paid")
        yield offer("mark_paid", moved, hold=True, also=all_paid[1:], **pairs[0], paid=True)
    for number, back in enumerate(state.paybacks, start=1):
        words = Message("Undo") if back.paid else Message("Paid back")
        yield offer("mark_paid_back", words, shown=True, number=number, paid=not back.paid)
    if payback_due(state):
        yield offer("open_hand", Message("Later: open a hand"), hold=True, shown=True)


def _past(at: Context) -> Iterator[Offer]:
    """Offer to reopen the newest hand that is over, then any earlier one. A hand in play waits meanwhile."""
    state, reason = at.state, str(Message("Disputed at the table"))
    newest = state.hand - (state.phase in OPEN)
    if newest < 1 or state.reopened:
        return
    if state.phase in OPEN or not state.misdealt:
        words = Message("Reopen hand %(hand)s", hand=f"{newest:,}")
        yield _offer(state, "reopen", words, reason=reason, past=newest)
    if newest > 1:
        yield _offer(state, "reopen", Message("Another hand"), asks={"past": newest - 1}, reason=reason)


def _players(at: Context) -> Iterator[Offer]:
    state = at.state
    if state.phase not in BETWEEN_HANDS:
        return
    names = tuple(dict.fromkeys(seat.player for seat in state.house.seats))
    for name in names:
        offer = partial(_offer, state, player=name)
        yield offer("sit_out", Message("Plays again"), on=False)
        yield offer("sit_out", Message("Sits out"), on=True)
        if name not in state.sits_out:
            yield offer("pass_round", Message("Does not pass"), on=False)
            yield offer("pass_round", Message("Passes"), on=True)
        has_chips = bool(state.stack_of(name))
        chips, words = ("add_on", Message("Add")) if has_chips else ("buy_in", Message("Buy in"))
        yield offer(chips, words, shown=True, asks={"amount": at.house.unit})
        yield offer("count_stack", Message("Count"), shown=True, asks={"stack": 0}, reason="Counted")
        yield offer("rename_player", Message("Another name"), shown=True, asks={"name": "Guest"})
        yield offer("leave_seat", Message("Leaves"), hold=True)
    taken = {seat.seat for seat in state.house.seats}
    for number in (number for number in SEATS if number not in taken):
        offer = partial(_offer, state, "seat_player", Message("Seat %(seat)s", seat=number), seat=number)
        yield offer(shown=True, asks={"player": "Guest"}, comes=True)
        yield from (offer(player=name) for name in names)
    if state.two_hands or len(state.stacks.keys() - state.sits_out) == 2:
        words = Message("One hand each") if state.two_hands else Message("Two hands each")
        yield _offer(state, "two_hands", words, on=not state.two_hands)


def _people(at: Context) -> Iterator[Offer]:
    offer = partial(_offer, at.state)
    for person in at.state.people:
        if person.role is Role.DEALER:
            yield offer("log_on", person=person.name)
    yield offer("log_off", Message("%(name)s leaves", name=at.state.dealer))
    yield offer("call_floor", Message("Call the floor"))
    yield offer("end_floor_call", Message("The floor is here"), answered=True)
    yield offer("end_floor_call", Message("Take the call back"), answered=False)
    yield offer("read_record_fault", Message("I have read this: go on"), hold=True)


_GROUPS: Final = (_push_buttons, _hand, _seats, _cards, _payments, _past, _players, _people)
NO_OFFERS: Final = Offers(None)
