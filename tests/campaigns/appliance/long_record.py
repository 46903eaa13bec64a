"""The costs of a long record: its size, the list, any hand, and a full verification.

python -m tests.campaigns.appliance.long_record --upto 1000000
"""

from __future__ import annotations

import gc
import random
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click

from dealer_ui.review.routes import LAST
from dealer_ui.server.app import Settings, create_app
from firmware.bench.harness import Result, benchmark, each, machine, number, option, seed_option
from firmware.cli.hands_text import hand_json
from firmware.command_options import progress_bar
from firmware.record.archive import MARKS, Archive, HandFilter
from firmware.record.evidence.verify import verify
from firmware.record.hand_history import load_hand
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import FILE, Journal
from firmware.record.journal.row_index import index_to_write
from firmware.table import Phase
from firmware.table import events as ev
from tests.generated_record import generate_record

SIZES: Final = (1_000, 10_000, 100_000, 1_000_000)
ROOM: Final = 22_000
"""Limit of disk space in bytes for a generated hand, with its share of the index."""
LOOKS: Final = 100
"""Number of hands that are opened, and number of times that each page of the list is requested."""
ROUNDS: Final = 3
"""The best of this many verifications counts: other processes disturb a busy machine."""
SMALL: Final = 2_000_000
"""Events up to which a verification is repeated; a longer one runs once."""
IMAGE: Final = 1_600_000
"""Bytes of a full frame at the reference camera's size, as measured on the simulated table."""
WITH_IMAGES: Final = 100
"""Hands with such an image."""
EXISTING: Final = click.Path(path_type=Path, file_okay=False, exists=True)
METHOD: Final = f"""Hands of four players, played by the real rules and chained by the real journal, grown to each
size. "List" is the list's first page, plain and by every filter (also those that nothing fits); "any hand" is one of
{LOOKS} random hands found in the journal, followed again row by row and answered as data; its page is HTML as the
screen gets it, of the last ten hands. A verification reads every row and compares its hash and its place in the chain;
these hands have no images."""


@benchmark(
    "tests.campaigns.appliance.long_record",
    number("--upto", 100_000, "Hands of the longest record; 1000000 takes 17 GB and some ten minutes.", 100),
    option("--folder", None, "A folder for the records while they are measured.", type=EXISTING),
    seed_option,
)
def command(upto: int, seed: int, folder: Path | None) -> Result:
    """Measure records of 1,000 hands and more: their size, and how fast hands are listed, opened and verified.

    The hands are made by the real rules and written by the real journal. They have no images, except for some that
    are measured separately.
    """
    with tempfile.TemporaryDirectory(prefix="feltwatch-archive-", dir=folder) as made:
        data = Path(made)
        if shutil.disk_usage(data).free < upto * ROOM:
            raise click.UsageError(
                f"{upto:,} hands take {upto * ROOM / 1e9:.0f} GB; {data.parent} has less. Choose --folder or --upto."
            )
        sizes = []
        with progress_bar("hands") as progress:
            hands = 0
            for size in [size for size in SIZES if size < upto] + [upto]:
                events = generate_record(data, size - hands, seed=seed)
                hands = size
                progress(hands, upto)
                sizes.append(_measure(data, hands, events, random.Random(seed)))
        mb_per_s = _images(data / "with-images")
    return Result(
        "What a long record costs",
        METHOD,
        {
            "machine": f"{machine()}, SQLite {sqlite3.sqlite_version}",
            "sizes": sizes,
            "images": {"hands": WITH_IMAGES, "bytes": IMAGE, "mb_per_s": mb_per_s},
        },
        [
            f"{WITH_IMAGES} hands with a frame of {IMAGE / 1e6:.1f} MB each: {mb_per_s:,.0f} MB of images a second are "
            "read and compared by one process."
        ],
    )


def _measure(data: Path, hands: int, events: int, rng: random.Random) -> dict[str, float]:
    index = index_to_write(data)
    index.unlink(missing_ok=True)
    archive = Archive(data)
    index_ms = elapsed_ms(archive.refresh)
    newest = archive.hands(limit=1)[0].opened_ms
    wanted = [
        HandFilter(),
        *(HandFilter(marks=frozenset({mark})) for mark in MARKS),
        HandFilter(player="Player 2"),
        HandFilter(player="nobody"),
        HandFilter(seat=3),
        HandFilter(dealer="nobody"),
        HandFilter(profile="washington-1-unit"),
        HandFilter(since_ms=newest - 3_600_000),
        HandFilter(until_ms=newest // 2, player="Player 1"),
    ]

    def load(number: int) -> None:
        load_hand(archive.reader, number)
        hand = archive.hand(number)
        hand_json(hand, archive.images(hand))

    listed = [elapsed_ms(lambda one=one: archive.hands(one)) for one in wanted * (LOOKS // 10)]  # type: ignore[misc]
    opened = [rng.randint(1, hands) for _ in range(LOOKS)]
    looks = [elapsed_ms(lambda n=n: load(n)) for n in opened]  # type: ignore[misc]
    core, _ = _times(each(load, opened))
    drawn = list(_pages(data, hands))
    rounds = [_times(lambda: _verify(data, images=False)) for _ in range(ROUNDS if events <= SMALL else 1)]
    return {
        "hands": hands,
        "events": events,
        "journal, bytes a hand": (data / FILE).stat().st_size / hands,
        "index, bytes a hand": index.stat().st_size / hands,
        "index made, s": index_ms / 1000,
        "list, median ms": statistics.median(listed),
        "list, worst ms": max(listed),
        "any hand, median ms": statistics.median(looks),
        "any hand, worst ms": max(looks),
        "any hand, ms of processor": 1000 * core / LOOKS,
        "its page or the list's, median ms": statistics.median(drawn),
        "its page or the list's, worst ms": max(drawn),
        "events verified a second of one core": events / min(core for core, _ in rounds),
        "events verified a second by the clock": events / min(clock for _, clock in rounds),
    }


def elapsed_ms(run: Callable[[], object]) -> float:
    """Return the wall time of a run in milliseconds."""
    began = time.perf_counter()
    run()
    return 1000 * (time.perf_counter() - began)


def _times(run: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of a run: by processor time, and by the clock."""
    began, used = time.perf_counter(), time.process_time()
    run()
    return time.process_time() - used, time.perf_counter() - began


def _verify(data: Path, *, images: bool) -> None:
    found = verify(data, images=images, replayed=False)
    if not found.ok:
        raise click.ClickException(f"The generated record does not hold: {found.problems[0].what}")


def _pages(data: Path, hands: int) -> Iterator[float]:
    """Yield the time of the page for each of the last hands, which need no PIN, and for the list."""
    app = create_app(Settings(data, data / "table.sock"))
    client = app.test_client()
    addresses = ["/review", *(f"/review/{hands - back}" for back in range(LAST))]
    statuses: set[int] = set()
    try:
        for address in addresses:  # once to load templates and texts, as in a running page
            client.get(address)
        gc.freeze()  # as the page's server does
        for address in addresses * (LOOKS // 10):
            yield elapsed_ms(lambda one=address: statuses.add(client.get(one).status_code))  # type: ignore[misc]
        if statuses != {200}:
            raise click.ClickException(f"The page does not show the generated record: {statuses}")
    finally:
        gc.unfreeze()
        app.extensions["feltwatch"].live.stop()


def _images(data: Path) -> float:
    """Return how many megabytes of images a second are verified, of hands with a full frame each."""
    store = CaptureStore(data)
    seats = (ev.SeatOpened(1, "Player 1", "A"), ev.SeatOpened(2, "Player 2", "B"))
    with Journal(data) as journal:
        for hand in range(1, WITH_IMAGES + 1):
            frame = store.save(f"{hand:06}/frame.jpg", random.Random(hand).randbytes(IMAGE))
            journal.append(
                [
                    ev.HandOpened(hand, "washington-1-unit", "", 100, seats),
                    *(ev.PhaseAdvanced(phase) for phase in (Phase.SETTING, Phase.SHOWDOWN, Phase.READING)),
                    ev.ReadingFailed("measured", frame),
                    ev.HandVoided("measured"),
                ],
                "generated",
            )
    best_ms = min(elapsed_ms(lambda: _verify(data, images=True)) for _ in range(ROUNDS))
    return WITH_IMAGES * IMAGE / 1e6 / (best_ms / 1000)


if __name__ == "__main__":
    command()
