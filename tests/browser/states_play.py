"""States of a hand that is played by real hands: too early, not moved, timed out, counted wrong."""

from __future__ import annotations

import time
from typing import Final

from playwright.sync_api import Page

from firmware.messages import Message
from firmware.table import events as ev
from firmware.uplink.follow import UplinkStatus
from firmware.uplink.status_file import write_status
from firmware.uplink.wire import Head
from tests.browser.state import PIT, State, opened
from tests.dealer_ui.felt import Felt


def turned_up(felt: Felt, *seats: int) -> tuple[ev.ShownRow, ...]:
    """What the camera saw at seats that have turned their cards up."""
    return tuple(
        ev.ShownRow(seat, row, tuple(cards.split()))
        for seat in seats
        for row, cards in zip(ev.ROWS, felt.hands[seat], strict=True)
    )


def no_cards_yet(felt: Felt) -> None:
    """Showdown was pressed before the last seat had turned its cards up, or its player has surrendered silently."""
    felt.to_setting()
    felt.to_reading()
    felt.say(ev.CardsAwaited((4,), (4,), turned_up(felt, 1, 2, 3)))


def some_cards_yet(felt: Felt) -> None:
    """One seat has turned up two rows, two have turned up none, and a card is not sure."""
    felt.to_setting()
    felt.to_reading()
    front, middle, _back = turned_up(felt, 3)
    unsure = ev.ShownRow(1, "front", ("Qh", "??", "7c"))
    felt.say(ev.CardsAwaited((2, 3, 4), (2, 4), (unsure, *turned_up(felt, 1)[1:], front, middle)))


def timed_out(felt: Felt) -> None:
    """Hands were over the felt all the time."""
    felt.to_setting()
    felt.to_reading()
    felt.say(
        ev.ReadingFailed(Message("The table did not lie still: %(why)s. Look again.", why="a hand moves"))
    )


def folded(felt: Felt) -> None:
    """Nobody has keyed that seat 4 surrendered."""
    felt.hands[4] = ("", "", "")
    felt.to_settled()


def wrong_button(felt: Felt) -> None:
    """Five play, and the puck lies where another would sit out."""
    felt.do("rename_player", player="Player 5", name="Bo")
    felt.deal(button=2)
    felt.say(ev.PuckSeen("seat", 1))


def half_paid(felt: Felt) -> None:
    """One of six payments is made."""
    felt.to_settled()
    felt.pay()


def changed_since(felt: Felt) -> None:
    """Two rows show other cards than were read, while the payments are made."""
    half_paid(felt)
    rows = (
        ev.ChangedRow(1, "back", ("Th", "2d"), ("9h", "3c")),
        ev.ChangedRow(3, "middle", ("Qd",), ("As",)),
    )
    felt.say(ev.CardsCompared(False, changed=rows))


def changed_places(felt: Felt) -> None:
    """The camera took two cards for one another; the dealer has said so."""
    felt.to_settled()
    felt.do("set_card", seat=1, row="front", index=2, card="Jd", swap=True)


def open_pad(page: Page) -> None:
    """Bring seat 1 near and touch the last card of its front."""
    page.locator("[data-open=look-A]").tap()
    page.locator("#look-A .lookrows [data-pad]").nth(2).tap()


def long_currency(felt: Felt) -> None:
    """Settled, in six figures of a currency with a long symbol."""
    felt.do("set_house", reason="the house's", symbol="HK$")
    felt.to_settled()


def long_stacks(felt: Felt) -> None:
    """That hand is closed, and one player has won most of it."""
    long_currency(felt)
    felt.do("archive")


def strong_hands(felt: Felt) -> None:
    """The longest words there are for rows, with a bonus next to each."""
    felt.hands = {
        1: ("5s 5d 5c", "8s 8d 8c 8h 2c", "Th Jh Qh Kh Ah"),
        2: ("Ac Ad 4c", "7s 7d 7c 6h 6d", "9s Ts Js Qs Ks"),
        3: ("2s 2d Kd", "Tc Td Jc Jd Qc", "3s 3d 3c 3h 9d"),
        4: ("As Kc 2h", "9h 9c Qd 7h 5h", "4s 4h 4d 6s 6c"),
    }
    felt.to_settled()


def strong_hands_paid(felt: Felt) -> None:
    """All of that is paid."""
    strong_hands(felt)
    felt.pay_all()


def counted(page: Page) -> None:
    """Key three zeros too many for a stack."""
    page.locator(".players li", has_text="Okafor").locator("[data-amount]").nth(1).tap()
    for key in ("7", "5", "0", "00", "0"):
        page.locator(f"[data-key='{key}']").tap()


def pit_hears(felt: Felt) -> None:
    """The pit has every row of this table."""
    (felt.folder / PIT).mkdir()
    write_status(felt.folder / PIT, UplinkStatus(Head(10**6), at=time.monotonic()))


def call_offered(felt: Felt) -> None:
    """A table that sends to a pit."""
    pit_hears(felt)
    felt.to_setting()


def floor_called(felt: Felt) -> None:
    """The dealer has called the floor, and the pit has the call."""
    call_offered(felt)
    felt.do("call_floor")


def call_unheard(felt: Felt) -> None:
    """The dealer has called the floor during the payments; the pit is away, and the puck reader does not answer."""
    felt.to_settled()
    felt.do("call_floor")
    felt.say(ev.DeviceFault("puck", "The puck reader does not answer."))


PLAY: Final = (
    State("floor to be called", call_offered, opened("more")),
    State("floor called", floor_called),
    State("floor called and more", floor_called, opened("more")),
    State("floor call not heard", call_unheard),
    State("no cards yet", no_cards_yet, table={"profile": "poker-flush-eastern", "options": {}}),
    State("some cards yet", some_cards_yet),
    State("reading timed out", timed_out),
    State("empty seat asked", folded, table={"profile": "washington-1-unit", "options": {}}),
    State("wrong button", wrong_button, table={"seats": {1: "A", 2: "B", 3: "C", 4: "D", 5: "A"}}),
    State("strong hands", strong_hands),
    State("strong hands paid", strong_hands_paid),
    State("closing asked", half_paid, opened("more")),
    State("count beyond the limit", Felt.to_archived, counted),
    State("pad of a sure card", Felt.to_settled, open_pad),
    State("cards changed places", changed_places),
    State("cards not as read", changed_since),
    State("settled in a long currency", long_currency, table={"unit": 1_234_550, "stack": 99_999_950}),
    State("stacks in a long currency", long_stacks, table={"unit": 1_234_550, "stack": 99_999_950}),
)
