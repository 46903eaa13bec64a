"""`feltwatch bench archive`: the costs of a long record: its size, the list, any hand, and a full verification."""

from __future__ import annotations

import gc
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import Progress

from firmware.bench.harness import conditions, elapsed_ms, json_option, publish, report_option, table

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


COLUMNS: Final = (
    ("hands", "hands", ","),
    ("events", "events", ","),
    ("journal_bytes", "journal, bytes a hand", ",.0f"),
    ("index_bytes", "index, bytes a hand", ",.0f"),
    ("index_s", "index made, s", ",.1f"),
    ("list_ms", "list, ms", ".1f"),
    ("list_worst_ms", "worst", ".1f"),
    ("hand_ms", "any hand, ms", ".1f"),
    ("hand_worst_ms", "worst", ".1f"),
    ("hand_core_ms", "of it processor", ".1f"),
    ("drawn_ms", "its page or the list's, ms", ".1f"),
    ("drawn_worst_ms", "worst", ".1f"),
    ("core_per_s", "verified a second of one core", ",.0f"),
    ("one_per_s", "by the clock", ",.0f"),
)
"""Every figure: its name in the JSON, its title, its format.

Times in milliseconds are medians. `list_*` is the list's first page, plain and with every filter; `hand_*` a random
hand: found in the journal, replayed, and converted to JSON data; `drawn_*` the rendered page, of the last hands and of
the list.
`hand_core_ms` and `core_per_s` are by processor time: unlike the others they do not depend on the machine's load.
"""


@click.command("archive")
@click.option(
    "--upto",
    type=click.IntRange(100),
    default=100_000,
    show_default=True,
    help="Hands of the longest record; 1000000 takes 17 GB and some ten minutes.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed makes the same hands.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A folder for the records while they are measured.",
)
@report_option
@json_option
def command(upto: int, seed: int, folder: Path | None, report: Path | None, as_json: bool) -> None:
    """Measure records of 1,000 hands and more: their size, and how fast hands are listed, opened and verified.

    The hands are made by the real rules and written by the real journal. They have no images, except for some that
    are measured separately.
    """

    began = conditions()
    with tempfile.TemporaryDirectory(prefix="feltwatch-archive-", dir=folder) as made:
        data = Path(made)
        if shutil.disk_usage(data).free < upto * ROOM:
            raise click.UsageError(
                f"{upto:,} hands take {upto * ROOM / 1e9:.0f} GB; {data.parent} has less. Choose --folder or --upto."
            )
        with Progress(console=Console(stderr=True), disable=as_json) as progress:
            measured = list(measure(data, upto, seed, progress))
        images = measure_images(data / "with-images")
    result = summary(measured, images, began)
    head, *figures = _figures(result)
    publish(
        result,
        as_json,
        f"{result['machine']}; {result['load']}",
        table(head, figures),
        _images_said(result),
        report=report,
        page=markdown(result),
    )


def measure(data: Path, upto: int, seed: int, progress: Progress) -> Iterator[dict[str, float]]:
    """Grow a record and measure it at each size. Raises JournalError."""
    from firmware.bench.generated_record import generate_record

    sizes = [size for size in SIZES if size < upto] + [upto]
    bar = progress.add_task("generating", total=upto)
    hands = 0
    for size in sizes:
        events = generate_record(data, size - hands, seed=seed, done=lambda done: progress.advance(bar, done))
        hands = size
        progress.update(bar, description=f"measuring {size:,}")
        yield _measured(data, hands, events, random.Random(seed))
        progress.update(bar, description="generating")


def _measured(data: Path, hands: int, events: int, rng: random.Random) -> dict[str, float]:
    from firmware.record.archive import MARKS, Archive, HandFilter
    from firmware.record.journal.journal import FILE
    from firmware.record.journal.row_index import index_to_write

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
    pages = [elapsed_ms(lambda one=one: archive.hands(one)) for _ in range(LOOKS // 10) for one in wanted]  # type: ignore[misc]
    numbers = [rng.randint(1, hands) for _ in range(LOOKS)]
    looks = [elapsed_ms(lambda n=n: _load_hand(archive, n)) for n in numbers]  # type: ignore[misc]
    used = time.process_time()
    for number in numbers:
        _load_hand(archive, number)
    hand_core_ms = 1000 * (time.process_time() - used) / len(numbers)
    drawn = list(_pages(data, hands))
    core, one = _verified(data, events)
    return {
        "hands": hands,
        "events": events,
        "journal_bytes": (data / FILE).stat().st_size / hands,
        "index_bytes": index.stat().st_size / hands,
        "index_s": index_ms / 1000,
        "list_ms": statistics.median(pages),
        "list_worst_ms": max(pages),
        "hand_ms": statistics.median(looks),
        "hand_worst_ms": max(looks),
        "hand_core_ms": hand_core_ms,
        "drawn_ms": statistics.median(drawn),
        "drawn_worst_ms": max(drawn),
        "core_per_s": core,
        "one_per_s": one,
    }


def _load_hand(archive: Any, number: int) -> None:
    """Find a hand, replay it row by row, and convert it to the page's data."""
    from firmware.cli.hands_text import hand_json
    from firmware.record.hand_history import load_hand

    load_hand(archive.reader, number)
    hand = archive.hand(number)
    hand_json(hand, archive.images(hand))


def _pages(data: Path, hands: int) -> Iterator[float]:
    """Yield the time of the page for each of the last hands, which need no PIN, and for the list."""
    from dealer_ui.review.routes import LAST
    from dealer_ui.server.app import Settings, create_app

    app = create_app(Settings(data, data / "table.sock"))
    client = app.test_client()
    addresses = ["/review", *(f"/review/{hands - back}" for back in range(LAST))]
    try:
        for address in addresses:  # once to load templates and texts, as in a running page
            client.get(address)
        gc.freeze()  # as the page's server does
        for address in addresses * (LOOKS // 10):
            status = 0

            def get(address: str = address) -> None:
                nonlocal status
                status = client.get(address).status_code

            yield elapsed_ms(get)
            if status != 200:
                raise click.ClickException(f"The page does not show {address} of the generated record.")
    finally:
        gc.unfreeze()
        app.extensions["feltwatch"].live.stop()


def _verified(data: Path, events: int) -> tuple[float, float]:
    """Return events a second: by processor time, and by the clock."""
    from firmware.record.evidence.verify import verify

    rounds = ROUNDS if events <= SMALL else 1
    core = one = 0.0
    for _ in range(rounds):
        began, used = time.perf_counter(), time.process_time()
        _need_whole(verify(data, images=False, replayed=False))
        core = max(core, events / (time.process_time() - used))
        one = max(one, events / (time.perf_counter() - began))
    return core, one


def _need_whole(found: Any) -> None:
    if not found.ok:
        raise click.ClickException(f"The generated record does not hold: {found.problems[0].what}")


def measure_images(data: Path) -> dict[str, float]:
    """Measure hands with a full frame each: bytes a hand, and the speed of verifying images. Raises JournalError."""
    from firmware.record.evidence.verify import verify
    from firmware.record.journal.captures import CaptureStore
    from firmware.record.journal.journal import Journal
    from firmware.table import Phase
    from firmware.table import events as ev

    store = CaptureStore(data)
    seats = (ev.SeatOpened(1, "Player 1", "A"), ev.SeatOpened(2, "Player 2", "B"))
    with Journal(data) as journal:
        for hand in range(1, WITH_IMAGES + 1):
            frame = store.save(f"{hand:06}/frame.jpg", random.Random(hand).randbytes(IMAGE))
            phases = (Phase.SETTING, Phase.SHOWDOWN, Phase.READING)
            journal.append(
                [
                    ev.HandOpened(hand, "washington-1-unit", "", 100, seats),
                    *(ev.PhaseAdvanced(phase) for phase in phases),
                    ev.ReadingFailed("measured", frame),
                    ev.HandVoided("measured"),
                ],
                "generated",
            )
    best = min(elapsed_ms(lambda: _need_whole(verify(data, replayed=False))) for _ in range(ROUNDS))
    return {"hands": WITH_IMAGES, "bytes": IMAGE, "mb_per_s": WITH_IMAGES * IMAGE / 1e6 / (best / 1000)}


def summary(
    measured: list[dict[str, float]], images: Mapping[str, float], began: Mapping[str, str]
) -> dict[str, Any]:
    """Return the figures with the machine, the time and its load."""
    import sqlite3

    named = f"{began['machine']}, SQLite {sqlite3.sqlite_version}"
    return {**began, "machine": named, "sizes": measured, "images": dict(images)}


def _figures(answer: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each figure, with a column for each size: this fits on a terminal."""
    for name, head, form in COLUMNS:
        yield (head, *(format(one[name], form) for one in answer["sizes"]))


def _images_said(answer: Mapping[str, Any]) -> str:
    images = answer["images"]
    return (
        f"{images['hands']:.0f} hands with a frame of {images['bytes'] / 1e6:.1f} MB each: "
        f"{images['mb_per_s']:,.0f} MB of images a second are read and compared by one process."
    )


def markdown(answer: Mapping[str, Any]) -> str:
    """Return the figures as a page, with the method."""
    head, *figures = (f"| {' | '.join(line)} |" for line in _figures(answer))
    rows = "\n".join(figures)
    return f"""# What a long record costs

Written by `feltwatch bench archive --upto {answer["sizes"][-1]["hands"]} --report FILE` on {answer["measured"]}:
{answer["machine"]}; {answer["load"]}.

Hands of four players, played by the real rules and chained by the real journal, grown to each size. "List" is the
list's first page, plain and by every filter (also those that nothing fits); "any hand" is one of {LOOKS} random hands
found in the journal, followed again row by row and answer as data, images compared; its page is HTML as the screen gets
it, of the last ten hands. A verification reads every row and compares its hash and its place in the chain; these hands
have no images.

{head}
|---|{"---:|" * len(answer["sizes"])}
{rows}

{_images_said(answer)}
"""
