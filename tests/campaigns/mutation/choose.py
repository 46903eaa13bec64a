"""Choose faults at random places: as many in each area, as many of each kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

from tests.campaigns.mutation.fault import Fault
from tests.campaigns.mutation.places import AREAS, KINDS, changes_code, faults

A_FILE: Final = 2
"""So many faults in one file at the most."""


def choose(root: Path, count: int, seed: int) -> list[Fault]:
    """Choose the faults. The same seed chooses the same ones in the same code."""
    chosen: list[Fault] = []
    for turn, area in enumerate(AREAS):
        random = Random(f"{seed} {area}")
        found = list(faults(root, area, random))
        share = count // len(AREAS) + (turn < count % len(AREAS))
        chosen += _of_area(root, found, share, turn, random)
    return [replace(fault, number=number) for number, fault in enumerate(chosen, start=1)]


def _of_area(root: Path, found: list[Fault], share: int, turn: int, random: Random) -> list[Fault]:
    """Go round the kinds, each area from another one on; each fault is any of its kind that is left."""
    chosen: list[Fault] = []
    in_file: Counter[str] = Counter()
    kind = turn
    while len(chosen) < share and found:
        left = [
            fault
            for fault in found
            if fault.kind == KINDS[kind % len(KINDS)] and in_file[fault.file] < A_FILE
        ]
        kind += 1
        if left:
            fault = random.choice(left)
            found.remove(fault)
            if changes_code(root, fault):
                chosen.append(fault)
                in_file[fault.file] += 1
    return sorted(chosen, key=lambda fault: (fault.file, fault.line))
