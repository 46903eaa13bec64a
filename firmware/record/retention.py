"""Retention: removes the bytes of old images, by age and by space. Rows are never removed.

Images are kept while their hand is under dispute or among the last hands, and if they are not as they were stored (that
is evidence of a change). A tombstone event for each hand is durable before its first image is removed.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from firmware.messages import Message
from firmware.record.archive import Archive
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.disk import MB, sync_folder
from firmware.table import events as ev
from firmware.table.errors import CommandRefused, RowChanged
from firmware.table.readings import Capture

SPARED: Final = 10
"""How many of the last hands keep their images, because they may be shown again at the table."""
PASSED: Final = 1000
"""How many hands may be kept before the search ends. Clocks can step back, so the first kept hand does not end it."""
DAY_MS: Final = 24 * 3_600_000


@dataclass(frozen=True)
class Rule:
    """The house's limits for images: their age in days and their size in megabytes; None: no limit."""

    days: int | None = None
    megabytes: int | None = None

    @property
    def is_set(self) -> bool:
        """Whether there is any limit."""
        return self.days is not None or self.megabytes is not None


@dataclass(frozen=True)
class Deletion:
    """A hand whose images are removed, and why."""

    hand: int
    images: tuple[Capture, ...]
    reason: Message

    @property
    def size(self) -> int:
        """The bytes that it frees."""
        return sum(image.size for image in self.images)

    @property
    def tombstone(self) -> ev.ImagesDropped:
        """The event that records the removal."""
        return ev.ImagesDropped(self.hand, self.images, self.reason)


def plan(archive: Archive, rule: Rule, now_ms: int | None, *, by_itself: bool = False) -> Iterator[Deletion]:
    """Yield what the rule removes, the oldest hand first.

    `now_ms`: the wall clock; None if it cannot be trusted, then nothing is removed by age. `by_itself`: nobody asked
    for it, so by age no more goes than a day's share in a day: the images of the hands of 24 hours. A clock that is
    wrong by years then costs one day's images, and is seen. Raises JournalError.
    """
    archive.refresh()
    newest = archive.hands(limit=1)
    if not newest:
        return
    last = newest[0].hand - SPARED
    kept = archive.image_bytes()
    after = passed = 0
    until_ms = None if now_ms is None or rule.days is None else now_ms - rule.days * DAY_MS
    if by_itself and until_ms is not None and now_ms is not None:
        dropped = archive.reader.last_tombstone()
        if dropped is not None and now_ms - dropped.wall_ms < DAY_MS:
            until_ms = None
    is_first = by_itself
    while lines := archive.oldest_with_images(100, after):
        for line in lines:
            after = line.hand
            too_old = until_ms is not None and line.opened_ms < until_ms
            too_much = rule.megabytes is not None and kept > rule.megabytes * MB
            if line.hand > last or passed > PASSED:
                return
            if not (too_old or too_much):
                passed += 1
                continue
            if line.disputed:
                continue
            reason = (
                Message("older than %(days)s days", days=rule.days)
                if too_old
                else Message("more than %(megabytes)s MB of images", megabytes=rule.megabytes)
            )
            try:
                hand = archive.hand(line.hand)
            except RowChanged:
                continue  # its images are evidence, as those of a disputed hand
            images = tuple(image.capture for image in archive.images(hand) if image.state == "ok")
            if images:
                if too_old and is_first and until_ms is not None:
                    until_ms, is_first = min(until_ms, line.opened_ms + DAY_MS), False
                drop = Deletion(line.hand, images, reason)
                kept -= drop.size
                yield drop


def remove(store: CaptureStore, images: tuple[Capture, ...]) -> None:
    """Remove images whose tombstone is durable. `leftovers` finds those that cannot be removed now."""
    for folder in {store.path(image.name).parent for image in images}:
        with suppress(OSError):
            for image in images:
                path = store.path(image.name)
                if path.parent == folder:
                    path.unlink(missing_ok=True)
            sync_folder(folder)
            folder.rmdir()  # fails if it is not empty


def leftovers(archive: Archive, store: CaptureStore) -> Iterator[tuple[Capture, ...]]:
    """Yield, for each hand, the images that have a tombstone but are still on the disk after a stop."""
    names = sorted(path.name for path in store.folder.iterdir()) if store.folder.is_dir() else []
    for name in names:
        line = archive.line(int(name)) if name.isdecimal() else None
        if line is None or line.image_bytes:
            continue
        with suppress(CommandRefused, RowChanged):
            hand = archive.hand(line.hand)
            still = tuple(image for image in hand.dropped if store.path(image.name).exists())
            if still:
                yield still
