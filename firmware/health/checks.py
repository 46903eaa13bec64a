"""Health checks: each turns `Facts` into a figure, a verdict and advice.

Pure: the callers gather the `Facts` from the box and the record. A fact that could not be learnt is None, and its check
is then "unknown", never "ok". `CHECKS` lists all checks in the order in which they are shown.
"""

from collections.abc import Callable
from typing import Final

from firmware.health.camera_check import check_settings
from firmware.health.check import Check, CheckFinding, Verdict
from firmware.health.device_checks import LITTLE_ROOM, MAKE_ROOM, ROOM_MB, device_check, judge_clock
from firmware.health.facts import Facts
from firmware.health.picture_checks import MEASURES, picture_check
from firmware.health.pit_check import check_pit
from firmware.messages import Message, message_of
from firmware.record.journal.disk import MB, RESERVE

WORN_PERCENT: Final = 80
"""Wear, in percent of its writes, from which a card should be replaced soon (JEDEC eMMC 5.0, steps of ten)."""
MEMORY_MB: Final = 150
"""Available megabytes below which the kernel may kill the reading process."""
WARM_C: Final = 70.0
HOT_C: Final = 80.0
"""Degrees Celsius from which a Pi reduces its clock rate."""
STALE_DAYS: Final = 90
"""Days after which a felt's calibration should be repeated."""
ANCHOR_DAYS: Final = 7
"""Days after which a new signed head should be stored outside the box."""
DAY_MS: Final = 86_400_000


OK, LOOK, BAD = Verdict.OK, Verdict.LOOK, Verdict.BAD
UNKNOWN: Final = Message("Nothing says how this stands here.")
UNSEEN: Final = Message("No picture of this hand or the last says it.")
VERIFY_ALL: Final = Message("See what it says: feltwatch hands verify --all")
ABSENT_WORDS: Final = {
    "puck": Message("Not installed, by the configuration: the puck's seat is told by touch."),
    "panel": Message("Not installed, by the configuration: the page does what the push-buttons do."),
}
PUCK_CABLE: Final = Message("Check the cable between the box and the puck reader under the table.")
PLUG: Final = Message("Check the panel's plug, then try the push-buttons: set-up, devices.")
SCREEN_CABLE: Final = Message(
    "It is started again by itself. If it stays dark: its cable, then journalctl -u feltwatch-kiosk."
)
PAGE_SHOWS: Final = Message("The page shows all that the lamps show.")
LOOK_FIRST: Final = Message("Look through the camera between hands: set-up, camera.")


def _unknown(advice: Message | None = None, says: Message = UNKNOWN) -> CheckFinding:
    return Verdict.UNKNOWN, "", says, advice


Judge = Callable[[Facts], CheckFinding | None]
"""Judges the facts; None where there is nothing to check."""


def _fault(facts: Facts, device: str) -> Message | None:
    """Return the table process's fault message for a device."""
    fault = facts.faults.get(device)
    return message_of(fault) if fault else None


def _unless(judged: Judge, *faults: tuple[str, Verdict, Message | None]) -> Judge:
    """Return a check that these faults of the table process precede: each a device, its verdict and advice."""

    def check(facts: Facts) -> CheckFinding | None:
        for device, verdict, advice in faults:
            if says := _fault(facts, device):
                return verdict, "", says, advice
        return judged(facts)

    return check


def _if_installed(part: str, judged: Judge) -> Judge:
    """Return a check of a part that some tables have not."""
    absent = (Verdict.ABSENT, "", ABSENT_WORDS[part], None)
    return lambda facts: absent if part in (facts.without or ()) else judged(facts)


def _answering(well: Message) -> Judge:
    """Return the check of a device that reports only faults, and these only while the table process answers."""
    return lambda facts: (OK, "", well, None) if facts.answers else _unknown()


def _table(facts: Facts) -> CheckFinding:
    if facts.answers is None:
        return _unknown()
    if not facts.answers:
        advice = Message("Start it: systemctl start feltwatch.target. Nothing that was recorded is lost.")
        return BAD, "", Message("The table process does not answer."), advice
    return OK, "", Message("The table process answers."), None


def _services(facts: Facts) -> CheckFinding:
    if not facts.services:
        return _unknown(says=Message("The services are not seen from here; on the box: feltwatch doctor"))
    down = [name for name, state in facts.services.items() if state != "active"]
    figure = f"{len(facts.services) - len(down)} / {len(facts.services)}"
    if down:
        advice = Message("See why: journalctl -u %(name)s", name=down[0])
        return BAD, figure, Message("Not running: %(name)s", name=", ".join(down)), advice
    return OK, figure, Message("All services run."), None


def _judge_picture(name: str, bad: Verdict = BAD) -> Judge:
    def check(facts: Facts) -> CheckFinding:
        seen = (facts.picture or {}).get(name)
        if seen is None:
            return _unknown(LOOK_FIRST, UNSEEN)
        found = picture_check(name, seen)
        figure = found.figures["value"] if name == "markers" else found.figure
        if found.verdict is not OK:
            return bad, figure, found.says, None
        if not facts.answers or "camera" in facts.faults:
            return _unknown()  # nobody looks: what the last picture was says nothing of now
        return OK, figure, found.says, None

    return check


def _judge_age(
    done: bool | None,
    age_ms: int | None,
    most_days: int,
    never: Message,
    old: Message,
    well: Message,
    advice: Message,
) -> CheckFinding:
    """Judge by its age what must be done again after so many days. `done`: whether it was ever done."""
    if done is None:
        return _unknown()
    if not done:
        return LOOK, "", never, advice
    if age_ms is None or age_ms < -DAY_MS:  # done in what is the future by this clock
        return _unknown()
    days = max(0, age_ms) // DAY_MS
    return (LOOK, f"{days} d", old, advice) if days > most_days else (OK, f"{days} d", well, None)


def _calibration(facts: Facts) -> CheckFinding:
    return _judge_age(
        facts.calibrated,
        facts.felt_age_ms,
        STALE_DAYS,
        Message("The felt was never calibrated: a camera that is knocked is not noticed."),
        Message("The felt's calibration is old."),
        Message("The felt is calibrated."),
        Message("Calibrate the felt between hands: set-up, camera."),
    )


def _puck(facts: Facts) -> CheckFinding:
    if facts.readers_ok is None or facts.readers is None:
        return _unknown()
    figure = f"{facts.readers_ok} / {facts.readers}"
    if facts.readers_ok < facts.readers:
        says = Message("Some seats' antennas do not answer. Meanwhile the dealer keys the puck's seat.")
        return BAD, figure, says, Message("Try the puck reader: set-up, devices.")
    return OK, figure, Message("Every antenna of the puck reader answers."), None


def _buttons(facts: Facts) -> CheckFinding:
    if facts.buttons is None:
        return _unknown()
    if not facts.buttons:
        return LOOK, "", Message("No push-buttons are connected."), PLUG
    return OK, "", Message("No push-button is stuck."), None


def _screen(facts: Facts) -> CheckFinding | None:
    if facts.screen is None:
        return _unknown()
    if not facts.screen["expected"]:
        return None  # the configuration says that this table has none
    silent = facts.screen["silent_s"]
    if silent is None:
        return _unknown(SCREEN_CABLE, Message("The touchscreen has not answered since the start."))
    figure = f"{silent:.0f} s"
    if facts.screen["leaving"]:
        return _unknown(says=Message("The touchscreen is loading a page."))
    return OK, figure, Message("The touchscreen shows the page."), None


def _room(facts: Facts) -> CheckFinding:
    figure = "" if facts.free_mb is None else f"{facts.free_mb} MB"
    if says := _fault(facts, "disk"):
        return BAD, figure, says, MAKE_ROOM
    if facts.free_mb is None:
        return _unknown()
    if facts.free_mb < RESERVE // MB:
        return BAD, figure, Message("There is no room left: no new hand is opened."), MAKE_ROOM
    if facts.free_mb < ROOM_MB:
        return LOOK, figure, LITTLE_ROOM, MAKE_ROOM
    return OK, figure, Message("There is room for a hundred hands and more."), None


def _wear(facts: Facts) -> CheckFinding:
    if facts.worn_percent is None:
        return _unknown(says=Message("This disk does not say how worn it is."))
    figure = f"{facts.worn_percent} %"
    advice = Message("Back the record up and replace the disk.")
    if facts.worn_percent >= 100:
        return BAD, figure, Message("The disk is worn out."), advice
    if facts.worn_percent >= WORN_PERCENT:
        return LOOK, figure, Message("The disk is nearly worn out."), advice
    return OK, figure, Message("The disk is not worn."), None


def _chain(facts: Facts) -> CheckFinding:
    if facts.rows is None or facts.checked is None:
        says = Message("The record cannot be read.")
        return BAD, "", says, VERIFY_ALL
    if not facts.rows:
        return _unknown(says=Message("There is no record here yet."))
    figure = f"{facts.checked} / {facts.rows}"
    if why := facts.record_wrong or facts.note or facts.fault:
        wrong = Message("The record does not hold: %(text)s", text=why)
        return BAD, figure, wrong, VERIFY_ALL
    if facts.broken_at is not None:
        says = Message("The record's chain is broken at row %(row)s.", row=facts.broken_at)
        return BAD, figure, says, VERIFY_ALL
    return OK, figure, Message("The record's last rows follow one another."), None


def _anchor(facts: Facts) -> CheckFinding:
    if facts.unsigned:
        says = Message("Hands ended and are NOT signed: no signed head follows them.")
        return BAD, str(facts.unsigned), says, VERIFY_ALL
    return _judge_age(
        facts.anchored,
        facts.anchor_age_ms,
        ANCHOR_DAYS,
        Message("The record's head was never signed."),
        Message("The record's last signed head is old."),
        Message("The record's head was signed lately."),
        Message("Print or photograph the signed head and keep it elsewhere: feltwatch anchor"),
    )


def _clock(facts: Facts) -> CheckFinding:
    if facts.synchronised is None:
        return _unknown()
    why = judge_clock(facts.synchronised, facts.rtc, facts.jumped_ms)
    jumped = (facts.jumped_ms or 0) / 1000
    found = device_check("clock", "fail", why, {"jumped_s": f"{jumped:+.1f}"})
    well = why in ("clock_synchronised", "clock_battery")
    return OK if well else LOOK, f"{jumped:+.1f} s" if jumped else "", found.says, found.advice


def _heat(facts: Facts) -> CheckFinding:
    if facts.celsius is None:
        return _unknown()
    figure, advice = f"{facts.celsius:.0f} °C", Message("Check the box's fan and the air around it.")
    if facts.celsius >= HOT_C:
        return BAD, figure, Message("The box is so hot that it slows itself down."), advice
    if facts.celsius >= WARM_C:
        return LOOK, figure, Message("The box is warm."), advice
    return OK, figure, Message("The box is cool enough."), None


def _power(facts: Facts) -> CheckFinding:
    advice = Message("Use the 5 V, 5 A supply and its own cable.")
    if facts.weak:
        return BAD, "", Message("The supply is too weak now."), advice
    if says := _fault(facts, "power"):
        return BAD if facts.was_weak is None else LOOK, "", says, advice
    if facts.was_weak:
        return LOOK, "", Message("The supply was too weak since the box started."), advice
    if facts.weak is None:
        return _unknown(says=Message("The supply's sensors say nothing here."))
    return OK, "", Message("The supply is well."), None


def _pins(facts: Facts) -> CheckFinding:
    if says := _fault(facts, "pins"):
        return BAD, "", says, None
    if facts.short_pins is None:
        return _unknown()
    if facts.short_pins:
        advice = Message("Change it on the page: Set-up, People and PINs. It asks for enough figures.")
        return LOOK, str(facts.short_pins), Message("A PIN is too short to stand a day of tries."), advice
    return OK, "", Message("No wrong PIN was entered again and again."), None


def _memory(facts: Facts) -> CheckFinding:
    if facts.memory_mb is None:
        return _unknown()
    figure = f"{facts.memory_mb} MB"
    if facts.memory_mb < MEMORY_MB:
        says = Message("Little memory is left: the card reader may be ended.")
        return BAD, figure, says, Message("Start the box again between hands; tell the technician.")
    return OK, figure, Message("There is memory enough."), None


def _same(
    used: str | None, meant: str | None, other: Message, well: Message, advice: Message
) -> CheckFinding:
    """Compare the hash of what is used with the hash of what is meant."""
    if used is None or meant is None:
        return _unknown()
    return (OK, used[:8], well, None) if used == meant else (BAD, used[:8], other, advice)


def _model(facts: Facts) -> CheckFinding:
    return _same(
        facts.model_hash,
        facts.model_named,
        Message("The card reader's model is not the one that was shipped."),
        Message("The card reader's model is the one that was shipped."),
        Message("Install the release again."),
    )


def _profile(facts: Facts) -> CheckFinding:
    return _same(
        facts.profile_named,
        facts.profile_hash,
        Message("The game's rules are not those that the record keeps."),
        Message("The game's rules are those that the record keeps."),
        Message("Choose the game again: set-up, table."),
    )


def _judge_limit(work: str) -> Judge:
    def check(facts: Facts) -> CheckFinding:
        seen = (facts.limits or {}).get(work)
        if seen is None or not seen["recent"]:
            return _unknown(says=Message("Nothing of this was timed here yet."))
        limits = {name: f"{seen[f'{name}_s']:.4g}" for name in ("limit", "floor", "ceiling")}
        if seen["timeouts"]:
            figure = f"{seen['timeouts']} / {seen['recent']}"
            says = Message(
                "So many of the last were given up at their limit. It is now %(limit)s s "
                "(floor %(floor)s, ceiling %(ceiling)s).",
                **limits,
            )
            advice = Message(
                "Each timeout lets the limit grow. If it goes on, see what keeps the box busy, and its temperature."
            )
            return LOOK, figure, says, advice
        usual = _seconds(seen["usual_s"])
        figure = f"{usual} s ({limits['limit']})"
        if seen["limit_s"] >= seen["ceiling_s"] > seen["floor_s"]:
            says = Message(
                "It takes so long that the limit is at its ceiling, %(ceiling)s s.", ceiling=limits["ceiling"]
            )
            return LOOK, figure, says, Message("See what keeps the box busy, or raise the ceiling.")
        says = Message(
            "Usual: %(usual)s s. Limit: %(limit)s s (floor %(floor)s, ceiling %(ceiling)s).",
            usual=usual,
            **limits,
        )
        return OK, figure, says, None

    return check


def _seconds(seconds: float) -> str:
    """Return a duration as text to show, without fractions below a second."""
    return f"{seconds:.1f}" if seconds >= 1 else "< 1"


CHECKS: Final[tuple[tuple[str, Message, Judge], ...]] = (
    ("table", Message("Table process"), _table),
    ("services", Message("Services"), _services),
    (
        "camera",
        Message("Camera"),
        _unless(
            _answering(Message("The camera delivers pictures.")),
            ("camera", BAD, Message("Check the camera's cable. Meanwhile hands are keyed on the page.")),
            ("view", LOOK, None),
        ),
    ),
    ("camera_settings", Message("Camera's settings"), lambda facts: check_settings(facts.camera_settings)),
    ("sharpness", Message("Sharpness"), _judge_picture("sharpness")),
    ("light", Message("Light"), _judge_picture("light")),
    ("banding", MEASURES["banding"].title, _judge_picture("banding")),
    ("markers", MEASURES["markers"].title, _judge_picture("markers", LOOK)),
    ("drift", Message("Camera moved"), _judge_picture("camera")),
    ("calibration", Message("Calibration"), _unless(_calibration, ("calibration", BAD, None))),
    ("puck", Message("Puck reader"), _if_installed("puck", _unless(_puck, ("puck", BAD, PUCK_CABLE)))),
    ("buttons", Message("Push-buttons"), _if_installed("panel", _unless(_buttons, ("buttons", BAD, PLUG)))),
    ("screen", Message("Touchscreen"), _unless(_screen, ("screen", BAD, SCREEN_CABLE))),
    (
        "lamps",
        Message("Lamps and buzzer"),
        _if_installed(
            "panel",
            _unless(
                _answering(Message("Lamps and buzzer raise no fault.")),
                ("lamps", LOOK, PAGE_SHOWS),
                ("buzzer", LOOK, PAGE_SHOWS),
            ),
        ),
    ),
    (
        "pictures",
        Message("Pictures"),
        _unless(
            _answering(Message("The last hand's pictures are whole.")),
            ("images", BAD, VERIFY_ALL),
            ("captures", BAD, None),
        ),
    ),
    ("pins", Message("PINs"), _pins),
    ("room", Message("Disk: room"), _room),
    ("wear", Message("Disk: wear"), _wear),
    ("chain", Message("Record"), _chain),
    ("anchor", Message("Signed head"), _anchor),
    ("pit", Message("Pit"), lambda facts: check_pit(facts.pit, facts.rows)),
    ("clock", Message("Clock"), _unless(_clock, ("clock", BAD, None))),
    ("heat", Message("Temperature"), _heat),
    ("power", Message("Power supply"), _power),
    ("memory", Message("Memory"), _memory),
    ("model", Message("Card reader's model"), _model),
    ("profile", Message("Game rules"), _profile),
    ("reading_time", Message("Time of a reading"), _judge_limit("reading")),
    ("start_time", Message("Card reader's start"), _judge_limit("reader_start")),
    ("answer_time", Message("Time of an answer"), _judge_limit("answer")),
)
"""Every check: its name, its title, its function. In the order in which they are shown."""


def judge(facts: Facts) -> tuple[Check, ...]:
    """Return the results of all checks that there is something for.

    >>> next(check for check in judge(Facts(celsius=84.0)) if check.name == "heat").verdict
    'bad'
    """
    found = ((name, title, judged(facts)) for name, title, judged in CHECKS)
    return tuple(Check(name, title, *of_it) for name, title, of_it in found if of_it is not None)
