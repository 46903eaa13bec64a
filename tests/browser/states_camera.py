"""The states of the camera's pages: the felt live, the lens, a deck learnt, a deck counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from playwright.sync_api import Page

from firmware.table import events as ev
from firmware.table.people import Role
from tests.browser.state import Act, State, touch
from tests.dealer_ui.bench import PictureBench, Rows, bare, board, dark_and_glaring, laid
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.past import ticking

Play = Callable[[Felt], object]


def bench(prepare: Callable[[PictureBench], object] = lambda bench: None) -> Play:
    """Hang a camera above the felt, and prepare what it sees and has done."""

    def play(felt: Felt) -> None:
        prepare(PictureBench(felt))

    return play


def until(selector: str, *touched: str) -> Act:
    """Touch these, one after another, then wait until something is there."""

    def act(page: Page) -> None:
        for one in touched:
            touch(one)(page)
        page.wait_for_selector(f"{selector} >> visible=true")
        page.wait_for_selector("body:not([data-sending])", state="attached")

    return act


def calibrated_twice(bench: PictureBench) -> None:
    bench.give("calibrate_felt")
    bench.show(bare(7))
    bench.give("calibrate_felt")


def hand_open(bench: PictureBench) -> None:
    bench.felt.deal()


def camera_gone(bench: PictureBench) -> None:
    bench.felt.say(ev.DeviceFault("camera", "The camera is not connected: plug it in."))


def without_a_four(rows: Rows) -> None:
    rows["A"]["front"].remove("4c")


def two_deuces(rows: Rows) -> None:
    rows["D"]["back"][4] = "2c"
    rows["C"]["front"].remove("3h")


def king_and_queen_exchanged(rows: Rows) -> None:
    rows["A"]["back"][2:4] = ["Kc", "Qc"]


def deck_from_the_pit(bench: PictureBench) -> None:
    bench.felt.say(ev.DeckEnrolled(ev.Calibration("b" * 64, "Blue deck"), unchecked=True))


def read_for_another(bench: PictureBench) -> None:
    deck_from_the_pit(bench)
    bench.show(laid(king_and_queen_exchanged))


COMPARED: Final = until(".compared", "[data-compare]")
LOOKED: Final = until("#live[data-job]")
COUNTED: Final = until("#tally[data-job]", "[data-order*=round]")
VIEWED: Final = "[data-order*='\"view\"']"


def _technician(name: str, path: str, play: Play, act: Act) -> State:
    return State(name, play, act, {"clock": ticking()}, path=path, role=Role.TECHNICIAN)


CAMERA: Final = (
    _technician("camera and felt", "/setup/camera", bench(), LOOKED),
    _technician(
        "camera spoiled", "/setup/camera", bench(lambda bench: bench.show(dark_and_glaring())), LOOKED
    ),
    _technician("camera gone", "/setup/camera", bench(camera_gone), LOOKED),
    _technician("camera while a hand is open", "/setup/camera", bench(hand_open), LOOKED),
    _technician("calibrations compared", "/setup/camera", bench(calibrated_twice), COMPARED),
    _technician("lens", "/setup/lens", bench(), until(".steps")),
    _technician(
        "lens views",
        "/setup/lens",
        bench(lambda bench: bench.show(board(4))),
        until("#views[data-job]", VIEWED),
    ),
    _technician("deck to learn", "/setup/deck", bench(), until(".spread")),
    _technician(
        "deck card missing",
        "/setup/deck",
        bench(lambda bench: bench.show(laid(without_a_four))),
        until(".is-missing", VIEWED),
    ),
    State("deck check", bench(), until(".steps"), path="/deck-check"),
    State("deck from the pit to check", bench(deck_from_the_pit), until(".spread"), path="/deck-check"),
    State("deck reads one card for another", bench(read_for_another), COUNTED, path="/deck-check"),
    State("deck lacks cards", bench(lambda bench: bench.show(laid(two_deuces))), COUNTED, path="/deck-check"),
)
