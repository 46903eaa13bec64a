"""Every state of every page that is looked at: by the golden pictures, by axe-core, for overflow and overlap.

A state is a name and how a table comes to it, by real commands and real events in a real journal. To add one, add a
line to `STATES`, or to the tuple of a module of its own that is collected there; `make golden` then takes its picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from playwright.sync_api import Page

from firmware.access.control import AccessControl
from firmware.access.pins import PinStore
from firmware.messages import Message
from firmware.table import events as ev
from firmware.table.people import Role
from tests.browser.state import State, opened, touch
from tests.browser.states_camera import CAMERA
from tests.browser.states_first_run import FIRST_RUN
from tests.browser.states_health import HEALTH
from tests.browser.states_languages import spoken
from tests.browser.states_naturals import NATURALS
from tests.browser.states_past import PAST
from tests.browser.states_play import PLAY
from tests.browser.states_profiles import PROFILES
from tests.browser.states_seats import SEATS
from tests.browser.states_training import TRAINING
from tests.browser.table_pictures import hand_over, zone_picture, zone_pictures
from tests.dealer_ui.felt import HANDS, SIX_PAIRS_DEALT, Felt

FACE_UP: Final = {"limits.min_points": 0}
"""Options of the profile `california-face-up` as it is: cards are placed face up."""

# ---- closed hands ----


def review(unsure: Mapping[Any, tuple[str, ...]] | None = None) -> Callable[[Felt], object]:
    """Read the hands; the camera is not sure of these cards."""

    def play(felt: Felt) -> None:
        felt.to_setting()
        felt.to_reading()
        felt.read(unsure, picture=zone_pictures(felt))

    return play


def six_pairs(felt: Felt) -> None:
    """Deal seat 1 six pairs."""
    felt.hands = dict(SIX_PAIRS_DEALT)


def natural_declared(felt: Felt) -> None:
    """Seat 1 declares its six pairs."""
    six_pairs(felt)
    felt.to_setting()
    felt.do("declare", seat=1)


def natural_waiting(felt: Felt) -> None:
    """The declared natural was read and waits for green."""
    natural_declared(felt)
    felt.to_reading()
    felt.read(picture=zone_pictures(felt))


def natural_confirmed(felt: Felt) -> None:
    """Green was pressed."""
    natural_waiting(felt)
    felt.do("confirm", seat=1)


def natural_not_verified(felt: Felt) -> None:
    """Seat 2 declares a natural and has none."""
    felt.to_setting()
    felt.do("declare", seat=2)
    felt.to_reading()
    felt.read(picture=zone_pictures(felt))


def surrendered(felt: Felt) -> None:
    """Seat 4 surrenders, and the hand is settled."""
    felt.to_setting()
    felt.do("surrender", seat=4)
    felt.to_reading()
    felt.read()


def wrong_count(felt: Felt) -> None:
    """Only four cards lie in seat 4's back."""
    felt.hands[4] = (*HANDS[4][:2], "Qs Qc 7d 7s")
    review()(felt)


def not_done(felt: Felt) -> None:
    """The white push-button was pressed while the screen showed nothing."""
    felt.to_settled()
    why = Message(
        "A push-button did nothing: the screen had shown nothing for %(seconds)s s. Look, then press again.",
        seconds="12",
    )
    felt.heartbeat = {"screen": {"notice": {"number": 1, "why": why.to_json()}}}


def twice(felt: Felt) -> None:
    """The ace of hearts was read at two places."""
    felt.hands[4] = (*HANDS[4][:2], "Qs Qc 7d 7s Ah")
    review()(felt)


def camera_dead(felt: Felt) -> None:
    """The camera gives no picture after the showdown signal."""
    felt.to_setting()
    felt.to_reading()
    felt.say(ev.DeviceFault("camera", "The camera gives no picture. Check its cable."))
    felt.say(ev.ReadingFailed("The camera gives no picture. Check its cable."))


def keyed(felt: Felt) -> None:
    """The dealer keys the hand; two seats are done."""
    felt.to_setting()
    felt.say(ev.DeviceFault("camera", "The camera gives no picture. Check its cable."))
    felt.do("key_hand", reason="The camera is dead")
    felt.do("next")
    for seat in (1, 2):
        for row, cards in zip(ev.ROWS, felt.hands[seat], strict=True):
            felt.do("key_row", seat=seat, row=row, cards=cards)


def paid(times: int) -> Callable[[Felt], object]:
    """Mark so many payments."""

    def play(felt: Felt) -> None:
        felt.to_settled()
        for _ in range(times):
            felt.pay()

    return play


def reopened(felt: Felt) -> None:
    """Hand 1 is disputed after it was closed."""
    felt.to_archived()
    felt.say(ev.HandReopened("The foul of seat 3 is disputed", **_end(felt)))


def _end(felt: Felt) -> dict[str, Any]:
    from firmware.record.journal.journal import JournalReader
    from firmware.record.reopening import end_of_hand
    from firmware.table.topics.opening import reopen as reopening

    event = reopening(end_of_hand(JournalReader(felt.folder), 1), "The foul of seat 3 is disputed")
    return {key: value for key, value in vars(event).items() if key != "reason"}


def corrected(felt: Felt) -> None:
    """The reopened hand was corrected and closed: somebody pays back."""
    reopened(felt)
    felt.do("set_card", seat=1, row="front", index=1, card="2d")
    felt.do("set_card", seat=3, row="back", index=4, card="Qd")
    felt.do("next")


def opened_after_closing(felt: Felt) -> None:
    """Hand 1 is closed with open payments, and hand 2 is open: no card is dealt."""
    felt.to_archived()
    felt.do("next")


def sitting_out(felt: Felt) -> None:
    """Seat 4 sits out."""
    felt.to_archived()
    felt.do("sit_out", player="Tran")


# ---- people ----


def people(felt: Felt) -> None:
    """The house has listed its people."""
    for name, role in (
        ("Ines", Role.DEALER),
        ("Bo", Role.DEALER),
        ("Moreno F.", Role.FLOOR),
        ("Vu", Role.TECHNICIAN),
    ):
        felt.say(ev.PersonListed(name, role, "0" * 16 if role in (Role.FLOOR, Role.TECHNICIAN) else ""))


def logged_on(felt: Felt) -> None:
    """Ines is logged on, and a hand is being set."""
    people(felt)
    felt.say(ev.LoggedOn("Ines", 1))
    felt.to_setting()


def judged(felt: Felt) -> None:
    """Hand 1 is closed, and what asks for a floor person asks for their PIN."""
    felt.to_archived()
    felt.access = AccessControl(PinStore(felt.folder), lambda: 0.0)
    felt.say(ev.PersonListed("Moreno F.", Role.FLOOR, PinStore(felt.folder).keep("258053")))
    felt.say(ev.PersonListed("Ngo", Role.FLOOR, PinStore(felt.folder).keep("258053")))


def locked_out(felt: Felt) -> None:
    """Somebody tried wrong PINs: the screen's wait ends in nobody's test, as this clock stands still."""
    judged(felt)
    felt.say(*(ev.PinTried("Moreno F.") for _ in range(20)))


def logged_on_between(felt: Felt) -> None:
    """Ines' down goes on between two hands."""
    people(felt)
    felt.say(ev.LoggedOn("Ines", 1))
    felt.to_archived()


# ---- face-up play ----


def place(felt: Felt, rows: Mapping[ev.Row, int], unsure: tuple[int, ev.Row, str] | None = None) -> None:
    """Place so many cards in each row of each seat, in the seats' order; one of them may be unsure."""
    for row, count in rows.items():
        for index in range(count):
            for seat in (3, 4, 1, 2):
                card = felt.hands[seat][list(ev.ROWS).index(row)].split()[index]
                sure = (seat, row, card) != unsure
                candidates = () if sure else (card, "2d", "2s")
                felt.say(ev.CardPlaced(seat, row, ev.CardReading(card, 0.9, sure, candidates)))


def placing(felt: Felt) -> None:
    """All have placed their backs."""
    felt.deal()
    felt.go_on()
    place(felt, {"back": 5})


def placing_dead(felt: Felt) -> None:
    """Seat 3's hand can no longer be anything but a foul."""
    felt.deal()
    felt.go_on()
    place(felt, {"back": 5, "middle": 5})


def placing_unsure(felt: Felt) -> None:
    """A placed card is unsure."""
    felt.deal()
    felt.go_on()
    place(felt, {"back": 2}, unsure=(1, "back", "6h"))


def moved(felt: Felt) -> None:
    """A set card lies in another row."""
    placing(felt)
    seen = zone_picture(felt, 1, "back", {"middle": "2h", "back": "6h 9h Jh Ah"})
    felt.say(ev.IrregularitySeen(1, "card_moved", 1, "back", 0, "2h", 1, "middle", capture=seen))


def hand_over_card(felt: Felt) -> None:
    """A set card is no longer seen."""
    placing(felt)
    seen = zone_picture(felt, 2, "back", things=[hand_over("B", "back", 1)])
    felt.say(ev.IrregularitySeen(1, "card_missing", 2, "back", 1, "6c", detail="hand", capture=seen))


def face_up_settled(felt: Felt) -> None:
    """All is placed and settled."""
    placing_dead(felt)
    place(felt, {"front": 3})
    felt.do("next")
    felt.look()
    felt.say(ev.ReadingTaken(()))


FANTASY: Final = ("Ah Ad 7c", "8s 8d 8c Kh 4d", "2h 6h 9h Jh Qh")
"""Aces in the front: Fantasy Land."""


def fantasy_land_earned(felt: Felt) -> None:
    """Seat 1 earns Fantasy Land."""
    felt.hands[1] = FANTASY
    felt.hands[2] = ("Ks 9d 5c", "As Qd 6s 6d 3c", "5s 6c 7h 8h 9s")
    face_up_settled(felt)


def fantasy_land(felt: Felt) -> None:
    """Seat 1's thirteen lie face down while the others place."""
    fantasy_land_earned(felt)
    felt.deal(None)
    felt.go_on()


# ---- fingers ----


def pin_asked(page: Page) -> None:
    """Reopen the last hand: that asks for a PIN."""
    opened("more")(page)
    page.locator("[data-command*='reopen']").tap()
    page.wait_for_selector("#keypad", state="visible")


def pin_locked(page: Page) -> None:
    """Come to the keypad while the screen waits."""
    pin_asked(page)
    page.wait_for_selector("#keyed-says.lockout >> visible=true")


UNSURE: Final = {(3, "middle", 1): ("Td", "Th", "Jd")}
TWO_UNSURE: Final = {**UNSURE, (4, "front", 0): ("Js", "Jc", "Qs")}
LONG_NAMES: Final = {"unit": 12_345, "stack": None}

PLAIN: Final = (
    State("no hand yet"),
    State("dealing", Felt.deal),
    State("missing puck", lambda felt: felt.deal(button=None)),
    State(
        "puck dead",
        lambda felt: (
            felt.deal(button=None),
            felt.say(
                ev.DeviceFault(
                    "puck",
                    Message(
                        "The puck reader is not connected (%(port)s): plug it in, or key the seat.",
                        port="/dev/feltwatch-puck",
                    ),
                )
            ),
        ),
    ),
    State("setting", Felt.to_setting),
    State("natural declared", natural_declared),
    State("showdown", lambda felt: (felt.to_setting(), felt.do("next"))),
    State("reading", lambda felt: (felt.to_setting(), felt.to_reading())),
    State("settled with a foul", Felt.to_settled),
    State("second payment", paid(1)),
    State("third payment", paid(3)),
    State("all paid", paid(6)),
    State("short stack", Felt.to_settled, table={"stack": 4_000}),
    State("large sums", paid(1), table=LONG_NAMES),
    State("closed game settled", Felt.to_settled, table={"profile": "washington-1-unit", "options": {}}),
    State("surrender", surrendered, table={"profile": "poker-flush-eastern", "options": {}}),
    State("unsure card", review(UNSURE)),
    State("two unsure cards", review(TWO_UNSURE)),
    State("card pad", review(UNSURE), touch("#need button[data-pad]:visible")),
    State("wrong count", wrong_count),
    State("card twice", twice),
    State("button unknown", lambda felt: (felt.to_setting(button=None), felt.to_reading(), felt.read())),
    State("natural waiting", natural_waiting),
    State("natural not verified", natural_not_verified),
    State("natural confirmed", natural_confirmed),
    State("camera dead", camera_dead),
    State("keyed hand", keyed),
    State("placing", placing, table={"options": FACE_UP}),
    State("placing dead hand", placing_dead, table={"options": FACE_UP}),
    State("placing unsure card", placing_unsure, table={"options": FACE_UP}),
    State("irregularity moved", moved, table={"options": FACE_UP}),
    State("irregularity missing", hand_over_card, table={"options": FACE_UP}),
    State("face up settled", face_up_settled, table={"options": FACE_UP}),
    State("fantasy land earned", fantasy_land_earned, table={"options": FACE_UP}),
    State("fantasy land", fantasy_land, table={"options": FACE_UP}),
    State("void", lambda felt: (felt.to_setting(), felt.do("void", reason="The deck was short"))),
    State("misdeal", lambda felt: (felt.to_setting(), felt.do("misdeal", reason="A card was exposed"))),
    State("between hands", Felt.to_archived),
    State("dealing after a closing", opened_after_closing),
    State("sitting out", sitting_out),
    State("reopened", reopened),
    State("payback", corrected),
    State("nobody logged on", people),
    State("logged on between hands", logged_on_between),
    State("logged on", logged_on),
    State("PIN asked", judged, pin_asked),
    State("locked out", locked_out, pin_locked),
    State("PIN page", judged, lambda page: page.wait_for_selector("button[data-who]"), path="/pin?for=floor"),
    State(
        "PIN page locked",
        locked_out,
        lambda page: page.wait_for_selector("#pin-waits"),
        path="/pin?for=floor",
    ),
    State("chips added", Felt.to_archived, touch("[data-amount]")),
    State("table not running", Felt.to_settled, answers=False),
    State("not live", Felt.to_settled, live=False),
    State("press not done", not_done),
    State("every payment", paid(1), opened("details")),
    State("chips", Felt.to_settled, opened("chips")),
    State("more", Felt.to_settled, opened("more")),
    State("this screen", Felt.to_archived, lambda page: (opened("more")(page), opened("screen")(page))),
    State("more while setting", Felt.to_setting, opened("more")),
    State("rules in force", Felt.to_settled, opened("rules")),
    State(
        "rules closed game", Felt.to_settled, opened("rules"), {"profile": "washington-1-6", "options": {}}
    ),
    State("seat closer", Felt.to_settled, touch("[data-open=look-C]")),
    State("seat closer while placing", placing_dead, touch("[data-open=look-C]"), {"options": FACE_UP}),
    State("change the dealer", logged_on_between, opened("dealer")),
    *NATURALS,
    *SEATS,
    *PLAY,
    *PAST,
    *HEALTH,
    *CAMERA,
    *FIRST_RUN,
    *PROFILES,
    *TRAINING,
)

STATES: Final = (*PLAIN, *spoken(PLAIN))
