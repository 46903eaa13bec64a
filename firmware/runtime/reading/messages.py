"""Messages between the table process and the reading process."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from firmware.devices.camera.source import FrameSource, TakenSetting
from firmware.messages import Text

HAND: Final = 13
"""Number of cards in a hand."""


def reading_threads(cores: int | None = None) -> int:
    """Return the number of threads that read a frame: half the cores, at most two.

    This leaves a core for the page and the table, so that no frame waits for them (docs/security-load.md).
    """
    return max(1, min(2, (cores or os.cpu_count() or 1) // 2))


@dataclass(frozen=True)
class ReaderSpec:
    """Settings of the reading process. `camera` makes the camera in that process; it must be picklable."""

    data: Path
    camera: Callable[[], FrameSource]
    layout: Path | None = None
    sheets: int = 0
    """Number of players at a table on which four marker sheets may lie in place of the felt; 0: the felt alone."""
    threads: int = field(default_factory=reading_threads)
    still_within: float = 10.0
    """Seconds that the table may take to come to rest."""


@dataclass(frozen=True)
class Ready:
    """The model is loaded. The camera works, or `trouble` holds the reason and opening it is retried.

    `taken`: what the camera made of its settings.
    """

    trouble: Text = ""
    taken: tuple[TakenSetting, ...] = ()


@dataclass(frozen=True)
class ReadingFailure:
    """The reading process cannot continue, for this reason; a new one may."""

    reason: Text


@dataclass(frozen=True)
class KnownCard:
    """A card on record: the camera's name for it, and whether it is certain."""

    card: str | None
    sure: bool


@dataclass(frozen=True)
class Watch:
    """Check briefly whether the table shows something new, then answer `ReadingDone` or `NothingNew`.

    `known` is the record, by place and row. `fresh`: report the content even if it was reported before. `changes`:
    store pictures only of certain cards that are not known in their row; cards that are gone are not reported.
    """

    known: dict[tuple[str, str], tuple[KnownCard, ...]]
    fresh: bool = False
    changes: bool = False


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
    """The camera's setup: the calibrations in force as JSON texts, "" for none.

    `layout`: that of the sheets on which the felt's calibration stands, as TOML; "" for the configured felt.
    """

    felt: str = ""
    lens: str = ""
    deck: str = ""
    layout: str = ""


CameraWork = Literal[
    "look",
    "code",
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
    """A job for the camera between hands. An image is stored under `name`; `deck` names a deck."""

    number: int
    work: CameraWork
    name: str
    deck: str = ""


@dataclass(frozen=True)
class JobProgress:
    """Progress of a camera job: `done` of `of` steps. Also a sign of life."""

    number: int
    done: int
    of: int


@dataclass(frozen=True)
class JobDone:
    """A camera job's result as plain data; `text` is content for the record, `picture` a JPEG to show.

    `layout`: the text of sheets that were measured, content too.
    """

    number: int
    result: dict[str, Any]
    text: str = ""
    layout: str = ""
    picture: bytes = b""
    frame: dict[str, Any] | None = None


@dataclass(frozen=True)
class JobLost:
    """A camera job failed, for this reason. `fault`: the cause is the reading process or its camera."""

    number: int
    reason: Text
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
    """Return the places in `full` that show fewer cards than a hand has, from a reading's zones."""
    shown = dict.fromkeys(full, 0)
    for zone in zones:
        if zone["place"] in shown:
            shown[zone["place"]] += len(zone["cards"])
    return tuple(place for place, count in shown.items() if count < HAND)


@dataclass(frozen=True)
class NothingNew:
    """A watched table is unchanged; or it could not be seen now, with the reason in `why`."""

    number: int
    why: Text = ""


@dataclass(frozen=True)
class ReadingLost:
    """The table could not be read. `fault`: the cause is the reading process or its camera, not the table."""

    number: int
    reason: Text
    fault: bool
    frame: dict[str, Any] | None = None


@dataclass(frozen=True)
class ReaderState:
    """State of the reading process and its camera; `trouble` is the fault, if any. Also its sign of life.

    `taken`: what the camera made of its settings when it was last opened.
    """

    trouble: Text = ""
    taken: tuple[TakenSetting, ...] = ()


class Readings(Protocol):
    """Requests readings: `ReadingProcess`."""

    def start(self, put: Callable[[Any], None]) -> None:
        """Start; `put` receives `ReaderState`, `ReadingDone` and `ReadingLost`."""

    def use(self, setup: ReaderSetup) -> None:
        """Use these calibrations from now on."""

    def request(self, job: ReadingJob | CameraJob) -> None:
        """Request a reading or another camera job."""

    def close(self) -> None:
        """End."""
