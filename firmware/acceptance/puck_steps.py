"""The puck reader's steps: an empty table, each seat, 20 mm off each middle, between seats, two disks apart."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Final

from firmware.acceptance.findings import Result
from firmware.acceptance.walk import NotMeasurable, Walk

QUIET_S: Final = 3.0
"""Seconds for which nothing may be read: twice the time after which a position is old."""
DEALER, ACTION = "dealer", "action"


def nothing(walk: Walk) -> Result:
    """Count what is read on a table without a disk, and the antennas that do not answer."""
    walk.technician.ready("Take both disks, and every card with a chip, off the table.")
    found = _begin(walk)
    walk.watch("puck", walk.hands_s, lambda seen: not _read(seen))
    strays: set[tuple[int, str]] = set()
    ends = walk.clock() + QUIET_S

    def is_over(seen: dict[str, Any]) -> bool:
        strays.update((seat, tag) for seat, tag, _disk in _read(seen))
        return walk.clock() >= ends

    walk.watch("puck", 2 * QUIET_S, is_over)
    dead = _list(found["figures"].get("dead"))
    figures = {"tags_read": float(len(strays)), "antennas_silent": float(len(dead))}
    sentences = [f"Seat {seat}: the tag {tag} is read." for seat, tag in sorted(strays)]
    sentences += [f"Seat {seat}: the antenna does not answer; check its plug." for seat in dead]
    return walk.result("puck.nothing", figures, " ".join(sentences))


def places(walk: Walk) -> Result:
    """Read both disks side by side at every seat, and nowhere else."""
    return _at_each(
        walk, "puck.places", "places_missing", "Lay both disks side by side in the circle of seat {}."
    )


def edges(walk: Walk) -> Result:
    """Read both disks 20 mm off each circle's middle: as far as the book promises."""
    return _at_each(
        walk,
        "puck.edges",
        "edges_missing",
        "Seat {}: lay them 20 mm beside the circle's middle, away from the table's edge.",
    )


def between(walk: Walk) -> Result:
    """Read nothing, or one of the two seats, half way between neighbours: never both, never a third one."""
    found = _begin(walk)
    wrong = []
    for one, other in pairwise(_seats(found)):
        walk.technician.ready(f"Lay both disks half way between seats {one} and {other}.")
        ends = walk.clock() + QUIET_S
        seen_at: set[frozenset[int]] = set()

        def is_over(seen: dict[str, Any], ends: float = ends, seen_at: set[frozenset[int]] = seen_at) -> bool:
            # the first second is the time in which they were laid down
            if walk.clock() >= ends - QUIET_S * 2 / 3:
                seen_at.add(frozenset(seat for seat, _tag, _disk in _read(seen)))
            return walk.clock() >= ends

        walk.watch("puck", 2 * QUIET_S, is_over)
        if any(len(seats) > 1 or seats - {one, other} for seats in seen_at):
            wrong.append(f"{one} and {other}")
    says = f"Read at the wrong seat, or at two, between seats {', '.join(wrong)}." if wrong else ""
    return walk.result("puck.between", {"between_wrong": float(len(wrong))}, says)


def two(walk: Walk) -> Result:
    """Read the two disks at two seats at once, each at its own."""
    seats = _seats(_begin(walk))
    if len(seats) < 2:
        raise NotMeasurable("This reader has a single seat.")
    first, last = seats[0], seats[-1]
    walk.technician.tell(f"   Lay the DEALER disk at seat {first} and the ACTION disk at seat {last}.")
    wanted = {(first, DEALER), (last, ACTION)}
    found = walk.watch("puck", walk.hands_s, lambda seen: _disks(seen) == wanted)
    says = "" if found else f"Read otherwise within {walk.hands_s:.0f} s: {_say_what_is_read(walk)}."
    return walk.result("puck.two", {"two_wrong": 0.0 if found else 1.0}, says)


def _at_each(walk: Walk, step: str, figure: str, words: str) -> Result:
    missing = []
    for seat in _seats(_begin(walk)):
        walk.technician.tell(f"   {words.format(seat)}")
        if why := _missing_at(walk, seat):
            missing.append(f"seat {seat} ({why})")
    says = f"Not read within {walk.hands_s:.0f} s: {'; '.join(missing)}." if missing else ""
    return walk.result(step, {figure: float(len(missing))}, says)


def _missing_at(walk: Walk, seat: int) -> str:
    """Wait until both disks are read at a seat and nowhere else; return what is read instead, "" if they are."""
    wanted = {(seat, DEALER), (seat, ACTION)}

    def is_silent(seen: dict[str, Any]) -> bool:
        return seat in _list(seen["figures"].get("dead"))

    found = walk.watch("puck", walk.hands_s, lambda seen: is_silent(seen) or _disks(seen) == wanted)
    if found is not None and is_silent(found):
        return "its antenna does not answer"
    return "" if found else _say_what_is_read(walk)


def _begin(walk: Walk) -> dict[str, Any]:
    """Begin the puck reader's test. Raises NotMeasurable where it does not work at all."""
    found = walk.watch(
        "puck",
        walk.hands_s,
        lambda seen: seen["why"] != "puck_absent" and "left" in seen["figures"],
        begin=True,
    )
    if found is None:
        last = walk.trial.order("try_device", device="puck")
        raise NotMeasurable(walk.trial.words("puck", last) if last["ok"] else str(last["error"]))
    return found


def _seats(found: dict[str, Any]) -> list[int]:
    """Return every seat that the reader should serve."""
    figures = found["figures"]
    return sorted({*_list(figures["left"]), *_list(figures["seats"]), *_list(figures.get("dead"))})


def _list(text: object) -> list[int]:
    return [int(seat) for seat in str(text or "").split()]


def _read(found: dict[str, Any]) -> list[tuple[int, str, str]]:
    """Return (seat, tag, disk) of every tag on an antenna."""
    return [(seat, tag, disk) for seat, tag, disk in found["tags"] if seat]


def _disks(found: dict[str, Any]) -> set[tuple[int, str]]:
    return {(seat, disk) for seat, _tag, disk in _read(found) if disk}


def _say_what_is_read(walk: Walk) -> str:
    """Return what is read now, in words."""
    found = walk.trial.order("try_device", device="puck")
    read: Iterable[str] = (
        (f"{disk or tag} at {seat}" for seat, tag, disk in _read(found)) if found["ok"] else ()
    )
    return ", ".join(read) or "nothing is read"
