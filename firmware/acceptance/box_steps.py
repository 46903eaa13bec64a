"""The box's steps: the plug pulled in the middle of a hand, an hour of heat, and the steps of the self-test."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from firmware.acceptance import table_trial
from firmware.acceptance.findings import Result, StepVerdict
from firmware.acceptance.limits import HEAT_MINUTES, STILL_MINUTES
from firmware.acceptance.run_file import now_utc
from firmware.acceptance.walk import TOLD_EVERY_S, NotMeasurable, Walk
from firmware.record.journal.journal import JournalReader
from firmware.table.entry import Entry
from firmware.table.errors import TableError
from firmware.table.events import TableStarted

CUT: Final = "power.cut"
NOTED_EVERY_S: Final = 1.0
"""Seconds between two notes of the record's head while the plug is waited for."""
CUT_MINUTES: Final = STILL_MINUTES
"""How long the plug is waited for."""
CELSIUS: Final = "Temperature, °C over minutes"
READING: Final = "Reading a full table, ms over minutes"


# ---- the plug ----


def cut(walk: Walk) -> Result:
    """Have the plug pulled; at the next start of the command, verify the record and compare it with what was noted."""
    noted = walk.run.pending(CUT)
    if noted is not None and (started := _started_after(walk.trial.data, noted)) is not None:
        return _after_cut(walk, noted, started)
    walk.trial.order("end_trial")
    walk.technician.ready(
        "Open a hand on the page and lay some cards. Then press Enter here, and pull the plug when it is said. Plug it "
        "in again, wait for the page, and give the same command once more: it goes on from here."
    )
    walk.run.note(CUT, _note(walk.trial.data))
    walk.technician.tell("   Pull the plug now. Nothing is to be shut down before.")
    ends = walk.clock() + 60 * CUT_MINUTES
    while walk.clock() < ends:
        walk.pause(NOTED_EVERY_S)
        walk.run.note(CUT, _note(walk.trial.data))
    walk.run.note(CUT, None)
    raise NotMeasurable(f"The plug was not pulled within {CUT_MINUTES:g} minutes.")


def _note(data: Path) -> dict[str, Any]:
    reader = JournalReader(data)
    state, seq = reader.recover()
    (row,) = reader.events_since(seq - 1, 1)
    return {"seq": seq, "hash": row.hash, "boot": row.boot, "hand": state.hand, "phase": str(state.phase)}


def _started_after(data: Path, noted: dict[str, Any]) -> Entry | None:
    """Return the row of the first start in the present boot; None: the box was not started again since then.

    Its number says nothing: a record that lost rows counts on from where it ends.
    """
    rows = JournalReader(data).of_type(TableStarted.type)
    boot = rows[-1].boot if rows else noted["boot"]
    return None if boot == noted["boot"] else next(row for row in rows if row.boot == boot)


def _after_cut(walk: Walk, noted: dict[str, Any], started: Entry) -> Result:
    from firmware.record.evidence.verify import verify

    if not walk.technician.ask("Did you pull the plug, with nothing shut down before?"):
        walk.run.note(CUT, None)
        raise NotMeasurable("The box was started again, but not by a power cut.")
    reader = JournalReader(walk.trial.data)
    kept = reader.events_since(noted["seq"] - 1, 1)
    is_kept = bool(kept) and kept[0].hash == noted["hash"]
    try:
        state, _ = reader.recover()
        hands_lost = max(0, noted["hand"] - state.hand)
        problems = [str(one.what) for one in verify(walk.trial.data).problems]
    except TableError as error:
        hands_lost, problems = 0, [str(error)]
    figures = {
        "rows_lost": 0.0 if is_kept else float(max(1, noted["seq"] - started.seq + 1)),
        "hands_lost": float(hands_lost),
        "record_problems": float(len(problems)),
        "start_s": started.monotonic_ns / 1e9,
    }
    result = walk.result(CUT, figures, " ".join(problems[:3]))
    result.notes |= {
        "hand at the cut": f"{noted['hand']}, {noted['phase']}",
        "rows before it": str(noted["seq"]),
    }
    walk.run.note(CUT, None)
    return result


# ---- the heat ----


def heat(walk: Walk) -> Result:
    """Read a drawn table for an hour: how hot the box gets, whether it slows down, how long a reading takes."""
    from statistics import median

    read = table_trial.drawn_table()
    read()  # the first one also warms the networks up
    began = told = walk.clock()
    sampled = float("-inf")
    length = walk.length(HEAT_MINUTES)
    hot: list[list[float]] = []
    times: list[list[float]] = []
    slowed: list[bool | None] = []
    weak: list[bool | None] = []
    wrong = ""
    walk.technician.tell(f"   {length:g} minutes of reading, in the box with its lid on. Cover nothing.")
    while True:
        misread, ms = read()
        minutes = (walk.clock() - began) / 60
        wrong = wrong or misread
        times.append([round(minutes, 3), float(ms)])
        if walk.clock() - sampled < walk.every_s and minutes < length:
            continue
        sampled = walk.clock()
        facts = walk.trial.order("health").get("facts", {})
        if facts.get("celsius") is not None:
            hot.append([round(minutes, 3), float(facts["celsius"])])
        slowed.append(facts.get("slowed"))
        weak.append(facts.get("weak"))
        figures = {
            # a sensor that fell silent on the way is not known to have stayed cool
            "celsius": max(point[1] for point in hot) if len(hot) == len(slowed) else None,
            "slowed": _times(slowed),
            "weak": _times(weak),
            "reading_ms": median(point[1] for point in times),
            "reading_worst_ms": max(point[1] for point in times),
        }
        result = walk.result(
            "box.heat",
            figures,
            _about_heat(figures, wrong),
            curves={CELSIUS: hot, READING: _thin(times)},
            minutes=minutes,
            wanted_minutes=HEAT_MINUTES,
        )
        if wrong:
            result.verdict = StepVerdict.FAIL
        if minutes >= length:
            return result
        walk.run.keep(result)
        if walk.clock() - told >= TOLD_EVERY_S:
            told = walk.clock()
            now = f"{hot[-1][1]:.0f} °C" if hot else "temperature unknown"
            walk.technician.tell(f"   {minutes:.1f} of {length:g} minutes; {now}, {ms} ms a table")


def _times(seen: list[bool | None]) -> float | None:
    """Return how often it was so; None where it was not so, as far as known, and not always known."""
    often = sum(one is True for one in seen)
    return float(often) if often or None not in seen else None


def _about_heat(figures: dict[str, float | None], wrong: str) -> str:
    sentences = []
    if figures["celsius"] is None:
        sentences.append("The temperature is unknown: no sensor answers.")
    if figures["slowed"] is None:
        sentences.append("Whether the processor is slowed down is unknown: vcgencmd does not answer.")
    if figures["slowed"]:
        sentences.append("The box slows itself down: check its fan and the air around it.")
    if figures["weak"]:
        sentences.append("The supply is too weak: use the 5 V, 5 A one and its own cable.")
    if wrong:
        sentences.append(f"The drawn table was read wrong: {wrong}. {table_trial.INSTALL_AGAIN}")
    return " ".join(sentences)


def _thin(points: list[list[float]], most: int = 400) -> list[list[float]]:
    """Return at most so many of the points, evenly spaced."""
    step = -(-len(points) // most)
    return points[::step]


# ---- the self-test's ----


def of_selftest(name: str) -> Callable[[Walk], Result]:
    """Return a step of the self-test as one of the acceptance."""
    (step,) = (one for one in table_trial.STEPS if one.name == name)
    verdicts = {
        table_trial.PASS: StepVerdict.PASS,
        table_trial.FAIL: StepVerdict.FAIL,
        table_trial.SKIP: StepVerdict.UNMEASURED,
    }

    def run(walk: Walk) -> Result:
        verdict, says, figures = step.do(walk.trial)
        notes = {key: str(value) for key, value in figures.items()}
        return Result(name, verdicts[verdict], says, notes=notes, at=now_utc(), by=walk.by)

    return run
