"""The people at a simulated table: listed, and heard, by the commands that the table's own page sends."""

from typing import Any, Final

from firmware.runtime.errors import AppError
from firmware.simulation.evening.stepped_table import SteppedTable
from firmware.table.people import Role

TECHNICIAN: Final = ("Lee", "135724")
FLOOR: Final = ("Moreno", "246813")
DEALERS: Final = ("Ana", "Bo", "Ira", "Jun", "Kim", "Lin", "Mia", "Robin", "Sasha", "Tom", "Zoe")
A_TABLE: Final = 2
"""Dealers at a table: they take turns."""
REASON: Final = "A card was read wrong"
"""As the review offers it (`dealer_ui.review.dispute`)."""


def list_people(table: SteppedTable, number: int) -> None:
    """List a technician, a floor person and two dealers, as at its first evening. Raises AppError."""
    name, pin = TECHNICIAN
    _send(table, do="list_person", person=name, role=Role.TECHNICIAN, new_pin=pin)
    session = _send(table, do="unlock", by=name, pin=pin)["session"]
    floor, floor_pin = FLOOR
    _send(table, do="list_person", person=floor, role=Role.FLOOR, new_pin=floor_pin, session=session)
    for dealer in (DEALERS[(number - 1 + turn) % len(DEALERS)] for turn in range(A_TABLE)):
        _send(table, do="list_person", person=dealer, role=Role.DEALER, session=session)


def dispute(table: SteppedTable, hand: int) -> None:
    """Let the floor person put a past hand under dispute. Raises AppError."""
    name, pin = FLOOR
    _send(table, do="dispute", past=hand, reason=REASON, by=name, pin=pin)


def call_floor(table: SteppedTable) -> None:
    """Let the dealer call a floor person. Raises AppError."""
    _send(table, do="call_floor")


def floor_comes(table: SteppedTable) -> None:
    """Let the floor person come who was called. Raises AppError."""
    _send(table, do="end_floor_call", answered=True)


def read_fault(table: SteppedTable) -> None:
    """Let the floor person read that the record is not what the box signed; nothing is played before.

    Raises AppError.
    """
    name, pin = FLOOR
    _send(table, do="read_record_fault", by=name, pin=pin)


def _send(table: SteppedTable, **command: Any) -> dict[str, Any]:
    answer = table.touch(command)
    if answer is None or not answer["ok"]:
        raise AppError(f"The simulated table refused {command['do']}: {answer and answer['error']}")
    return answer
