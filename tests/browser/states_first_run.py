"""The states of the set-up's pages and of the PIN page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from playwright.sync_api import Page

from firmware.devices.puck.reading import Disks
from firmware.devices.puck.simulated import ACTION_TAG
from firmware.table import events as ev
from firmware.table.people import Role
from firmware.table.settings import HouseSeat
from firmware.table.topics.setup import TryDevice
from tests.browser.state import Act, State, touch
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.panel import Panel
from tests.dealer_ui.past import ticking

Play = Callable[[Felt], object]
TAKEN: Final = {"state": "done", "result": {"size": [4032, 3024]}}


def furnished(felt: Felt) -> None:
    """What the steps before the devices have settled."""
    seats = tuple(
        HouseSeat(n, name, place)
        for n, name, place in ((1, "Lin", "A"), (2, "Moreno", "B"), (4, "Tran", "D"))
    )
    felt.say(
        ev.HouseSet(
            "Set-up", table="12", profile="washington-1-6", profile_hash=felt.profile_hash, options={}
        )
    )
    felt.say(ev.HouseSet("Set-up", unit=500, seats=seats))
    for step in ("language", "people", "table", "game", "seats"):
        felt.say(ev.StepSettled(step))


def staffed(felt: Felt) -> None:
    """The house has listed its people."""
    felt.say(ev.PersonListed("Bo", Role.FLOOR, "0" * 16), ev.PersonListed("Ito", Role.AUDITOR))
    felt.say(ev.PersonListed("Ines", Role.DEALER))


def tried(prepare: Callable[[Panel], object] = lambda panel: None, device: Any = "") -> Play:
    """Hang devices on a felt, and try one as far as `prepare` goes."""

    def play(felt: Felt) -> None:
        furnished(felt)
        panel = Panel(felt, TAKEN)
        if device:
            panel.answer(TryDevice(device=device))
        prepare(panel)

    return play


def crossed(panel: Panel) -> None:
    panel.press("next", "reject")


SPARES: Final = Disks(
    frozenset(f"04D1A2B3C4E5{n}0" for n in (1, 2, 3)), frozenset(f"04AC71B2C3E5{n}0" for n in (4, 5, 6))
)
"""Three tags of each disk: the most that a house will have."""


def two_lamps(panel: Panel) -> None:
    for name in ("confirm", "reject"):
        panel.answer(TryDevice(device="lamps", act="light", name=name))
        panel.answer(TryDevice(device="lamps", seen=name == "confirm"))


def rung(panel: Panel) -> None:
    panel.answer(TryDevice(device="buzzer", act="ring"))


def hand_open(felt: Felt) -> None:
    """A hand is being dealt, and somebody wants to try the camera."""
    Panel(felt)
    felt.deal()


def _tried(felt: Felt, disk: ev.DeviceTried) -> None:
    furnished(felt)
    for device, why, figures in (
        ("clock", "clock_battery", {"wall_ms": 0}),
        ("camera", "camera_well", {"width": 4032, "height": 3024}),
        ("puck", "puck_well", {"seen": 5, "wanted": 5}),
        ("buttons", "buttons_well", {"pressed": 3, "wanted": 3}),
        ("lamps", "lamps_well", {"lit": 5, "wanted": 5, "dark": ""}),
        ("buzzer", "buzzer_well", {}),
        ("power", "power_well", {"mains": True, "celsius": 51.0}),
    ):
        felt.say(ev.DeviceTried(device, "pass", why, figures, {}))  # type: ignore[arg-type]
    felt.say(disk, ev.StepSettled("clock"), ev.CameraCalibrated("felt", ev.Calibration("0" * 64)))
    felt.say(ev.StepSettled("deck", skipped=True))


def mostly_done(felt: Felt) -> None:
    """Nearly everything is done; a disk is slow, the deck was left for later."""
    _tried(felt, ev.DeviceTried("disk", "fail", "disk_slow", {"free_mb": 57_300, "ms": 812.0}, {}))


def done(felt: Felt) -> None:
    """Everything is done; only the deck was left for later."""
    _tried(felt, ev.DeviceTried("disk", "pass", "disk_well", {"free_mb": 57_300, "ms": 41.0}, {}))


def begun(felt: Felt) -> None:
    """A fresh box: its technician has added their own name, and has come as far as the clock."""
    felt.say(*(ev.StepSettled(step) for step in ("language", "people")))


def proposing(felt: Felt) -> None:
    """A technician is listed; nothing else is settled yet."""
    felt.say(ev.StepSettled("language"))


def at_noon(page: Page) -> None:
    """Show a time that stands still."""
    page.evaluate(
        "() => { document.querySelectorAll('.proposed dd')[1].textContent = '2026-03-01 12:00 (UTC)'; }"
    )


def until(selector: str, *touched: str) -> Act:
    """Touch these, one after another, then wait until something is there."""

    def act(page: Page) -> None:
        for one in touched:
            touch(one)(page)
        page.wait_for_selector(f"{selector} >> visible=true")

    return act


def _page(
    name: str,
    path: str,
    play: Play = lambda felt: None,
    act: Act = lambda page: None,
    role: Role | None = None,
) -> State:
    """A page of a fresh box; of one that is set up where somebody is signed on."""
    made = {"set_up": role is not None, "clock": ticking()}
    return State(name, play, act, made, path=f"/set-up/{path}".rstrip("/"), role=role)


KEYED: Final = until("#new-pin-keyed:has-text('•')", "[data-pin-of=Bo]", "#new-pin [data-key='4']")

FIRST_RUN: Final = (
    _page("set-up language", "language"),
    _page("set-up left out", "language", act=until("#without", "[data-open=without]")),
    _page("set-up first technician", "people"),
    _page("set-up people", "people", staffed, role=Role.TECHNICIAN),
    _page("set-up new PIN", "people", staffed, KEYED, role=Role.TECHNICIAN),
    State(
        "set-up as proposed",
        proposing,
        at_noon,
        {"set_up": False, "clock": ticking()},
        path="/set-up/proposed",
        role=Role.TECHNICIAN,
    ),
    _page("set-up table number", "table", furnished, until("[data-keyed]:has-text('7')", "[data-key='7']")),
    _page("set-up clock", "clock", tried(device="clock"), until(".found")),
    _page(
        "set-up clock keyed",
        "clock",
        tried(device="clock"),
        until(
            "#moment:has-text('2026-1')", "[data-open=wrong]", *(f"#wrong [data-key='{n}']" for n in "20261")
        ),
    ),
    _page("set-up time zones", "clock/zone", furnished),
    _page("set-up game", "game", furnished),
    _page("set-up currency", "game/currency", furnished),
    _page("set-up seats", "seats", furnished),
    _page("set-up camera", "camera", tried(device="camera"), until(".found.pass")),
    _page(
        "set-up puck", "puck", tried(lambda panel: panel.lay_disks(1, 2, 3), "puck"), until(".found.waits")
    ),
    _page(
        "set-up puck unknown disk",
        "puck",
        tried(lambda panel: panel.lay_unknown(2, ACTION_TAG), "puck"),
        until(".tags li"),
    ),
    _page(
        "set-up puck many disks",
        "puck",
        tried(lambda panel: panel.lay_unknown(2, ACTION_TAG, SPARES), "puck"),
        until(".tags li"),
    ),
    _page("set-up buttons crossed", "buttons", tried(crossed, "buttons"), until(".found.fail")),
    _page("set-up lamps", "lamps", tried(two_lamps, "lamps"), until(".found.waits")),
    _page("set-up buzzer", "buzzer", tried(rung, "buzzer"), until(".found.waits")),
    _page("set-up disk", "disk", tried(device="disk"), until(".found.pass")),
    _page("set-up power", "power", tried(device="power"), until(".found.pass")),
    _page("set-up hand open", "camera", hand_open, until(".trial .notice"), role=Role.TECHNICIAN),
    _page("set-up calibration", "calibration", mostly_done),
    _page("set-up deck", "deck", furnished),
    _page("set-up overview", "", mostly_done, role=Role.TECHNICIAN),
    State(
        "set-up begun",
        begun,
        table={"set_up": False, "clock": ticking()},
        path="/set-up",
        role=Role.TECHNICIAN,
    ),
    _page("set-up ready", "ready", done),
    _page("set-up ready with a slow disk", "ready", mostly_done),
)
