"""What the table process and the reading process say to each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from firmware.devices.camera.source import FrameSource

HAND: Final = 13
"""Cards of a hand."""


def reading_threads(cores: int | None = None) -> int:
    """Return how many threads read a frame: half the cores, two at the most.

    Page and table find a core free, and no frame waits for a thread of its own that let them go first
    (docs/security-load.md).
    """
    return max(1, min(2, (cores or os.cpu_count() or 1) // 2))


@dataclass(frozen=True)
class ReaderSpec:
    """What the reading process is to be. `camera` makes the camera, over there; it must be picklable."""

    data: Path
    camera: Callable[[], FrameSource]
    layout: Path | None = None
    threads: int = field(default_factory=reading_threads)
    still_within: float = 10.0
    """Seconds that the table may take to lie still."""


@dataclass(frozen=True)
class Ready:
    """The reading process has its model; its camera works, or `trouble` says why not and it keeps trying."""

    trouble: str = ""


@dataclass(frozen=True)
class Failed:
    """The reading process cannot go on, for this reason; a fresh one may."""

    reason: str


@dataclass(frozen=True)
class KnownCard:
    """A card on record: what the camera takes it for, and whether that is certain."""

    card: str | None
    sure: bool


@dataclass(frozen=True)
class Watch:
    """Look for a moment whether the table shows anything new, then answer: `ReadingDone`, or `NothingNew`.

    `known` is the record, by place and row. `fresh`: whatever was told before, tell it again.
    """

    known: dict[tuple[str, str], tuple[KnownCard, ...]]
    fresh: bool = False


@dataclass(frozen=True)
class ReadingJob:
    """Read the table once. Images are stored under `name`; only the zones of `places` are read.

    `full`: places that should show all their cards; while one shows fewer, no image is stored.
    """

    number: int
    name: str
    places: tuple[str, ...]
    watch: Watch | None = None
    full: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReaderSetup:
    """What the camera reads by: the calibrations in force as JSON texts, "" where there is none."""

    felt: str = ""
    lens: str = ""
    deck: str = ""


CameraWork = Literal[
    "look",
    "felt",
    "lens_begin",
    "lens_view",
    "lens_commit",
    "deck_begin",
    "deck_view",
    "deck_commit",
    "count",
]


@dataclass(frozen=True)
class CameraJob:
    """Something to be done with the camera between hands. An image is stored under `name`; `deck` names a deck."""

    number: int
    work: CameraWork
    name: str
    deck: str = ""


@dataclass(frozen=True)
class JobProgress:
    """A camera job goes on: `done` of `of` steps. Also a sign of life."""

    number: int
    done: int
    of: int


@dataclass(frozen=True)
class JobDone:
    """A camera job's result, as plain data; `text` is what it made for the record, `picture` a JPEG to show."""

    number: int
    result: dict[str, Any]
    text: str = ""
    picture: bytes = b""
    frame: dict[str, Any] | None = None


@dataclass(frozen=True)
class JobLost:
    """A camera job came to nothing, for this reason. `fault`: the reading process or its camera is to blame."""

    number: int
    reason: str
    fault: bool
    result: dict[str, Any] = field(default_factory=dict)
    picture: bytes = b""


@dataclass(frozen=True)
class ReadingDone:
    """The table was read: `reading` is `TableReading.to_json()` with the captures' names.

    `reading["frame"]` and each zone's `capture` are `Capture` fields; their bytes are synced.
    """

    number: int
    reading: dict[str, Any]


def short_places(zones: Iterable[Mapping[str, Any]], full: Iterable[str]) -> tuple[str, ...]:
    """Return the places of `full` that show fewer cards than a hand has, from a reading's zones."""
    shown = dict.fromkeys(full, 0)
    for zone in zones:
        if zone["place"] in shown:
            shown[zone["place"]] += len(zone["cards"])
    return tuple(place for place, count in shown.items() if count < HAND)


@dataclass(frozen=True)
class NothingNew:
    """A watched table shows what was told before; or, with `why`, it could not be seen for this moment."""

    number: int
    why: str = ""


@dataclass(frozen=True)
class ReadingLost:
    """The table could not be read. `fault`: the reading process or its camera is to blame, not the table."""

    number: int
    reason: str
    fault: bool
    frame: dict[str, Any] | None = None


@dataclass(frozen=True)
class ReaderState:
    """The reading process and its camera work, or not: then `trouble` says why. Also its sign of life."""

    trouble: str = ""
