"""Damaged pictures, profiles, settle JSON, requests and serial frames, for ten minutes. `make fuzz-all`.

Nothing may raise but the product's own sentences, take longer than `LONGEST_S`, or make the process grow beyond
`MAX_MB`. `make test` sends a few of each.
"""

from __future__ import annotations

import faulthandler
import gc
import io
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click
import cv2
import numpy as np
from flask import Flask

from dealer_ui.remote.access import RemoteSessions
from dealer_ui.remote.app import create_app as create_remote_app
from dealer_ui.remote.app import remote_access
from dealer_ui.server.app import Settings, create_app
from dealer_ui.web.rate_limit import Limit
from dealer_ui.web.services import services
from firmware.bench.harness import machine
from firmware.cli.json_input import json_inputs
from firmware.rules import RulesError, load_profile, parse_profile, profile_names, profile_toml
from firmware.rules.exchange import settle_json as settled_from
from tests.dealer_ui.felt import Felt
from tests.firmware.devices.fuzz import PARSERS, damaged
from tests.security.pictures import png_that_says
from vision.base.errors import VisionError
from vision.base.pictures import load_picture

LONGEST_S: Final = 20.0
"""Seconds for one piece, on a machine with much else to do."""
MAX_MB: Final = 600
"""Megabytes by which the process may grow: a picture at the limit is 360 MB while it is unpacked."""

Pieces = Iterator[None]


def pictures(rng: random.Random, folder: Path) -> Pieces:
    """Pictures with bytes changed, cut off, that say they are huge."""
    felt = np.full((240, 320, 3), 90, np.uint8)
    whole = [cv2.imencode(kind, felt)[1].tobytes() for kind in (".jpg", ".png", ".bmp", ".webp", ".tiff")]
    path = folder / "picture.jpg"
    while True:
        data = rng.choice((*whole, png_that_says(rng.randrange(1 << 31), rng.randrange(1 << 31), 0)))
        path.write_bytes(bent(data, rng))
        with suppress(VisionError):
            load_picture(path)
        yield


def profiles(rng: random.Random, _folder: Path) -> Pieces:
    """Packaged profiles with letters, lines and numbers changed."""
    whole = [profile_toml(load_profile(name)) for name in profile_names()]
    while True:
        text = bent(rng.choice(whole).encode(), rng).decode(errors="replace")
        with suppress(RulesError):
            parse_profile(text)
        yield


HAND: Final = {
    "profile": "traditional",
    "seats": [
        {"seat": 1, "front": "Qh Qd 7c", "middle": "8s 8d 8c Kh 4d", "back": "2h 6h 9h Jh Ah"},
        {"seat": 2, "front": "Ks 9d 5c", "middle": "As Ad 6s 6d 3c", "back": "5s 6c 7h 8h 9s"},
    ],
}


def settle_json(rng: random.Random, _folder: Path) -> Pieces:
    """Hands as JSON with letters changed, values of other kinds, brackets without end."""
    odd: list[object] = [None, -1, 1 << 70, 1e308, "", "\0", [], {}, [[[[]]]], True, "Zz", "Qh " * 1000]
    while True:
        hand = json.loads(json.dumps(HAND))
        if rng.random() < 0.5:
            where = rng.choice((hand, *hand["seats"]))
            where[rng.choice((*where, "other"))] = rng.choice(odd)
        text = json.dumps(hand).encode()
        if rng.random() < 0.5:
            text = bent(text, rng)
        if rng.random() < 0.02:
            text = b"[" * 100_000
        for found in json_inputs(io.BytesIO(text)):
            if not found.error:
                with suppress(RulesError):
                    settled_from(found.value)
        yield


BITS: Final = (
    "1",
    "0",
    "-1",
    "9" * 30,
    "..",
    "%2e%2e%2f",
    "%00",
    "é",
    "'",
    "<b>",
    "{{7*7}}",
    "%s",
    "a" * 3000,
)
"""What stands in an address in the place of a name or a number."""
ASKED: Final = ("past", "hand", "card", "row", "back", "player", "with", "from", "before", "profile", "down")


def requests(rng: random.Random, folder: Path) -> Pieces:
    """Requests to every route of the table's page, with paths, bodies and headers that mean harm."""
    with ExitStack() as stack:
        felt = Felt(folder / "felt")
        stack.callback(felt.journal.close)
        felt.to_settled()
        stack.enter_context(felt.answering())
        app = create_app(Settings(felt.folder, felt.folder / "table.sock"))
        services(app).live.stop()  # a stream then ends after its first view
        token = app.config["CSRF_TOKEN"]

        def order() -> dict[str, Any]:
            told = {
                "do": rng.choice(("next", "void", "set_house", "unlock", "key_row")),
                "reason": rng.choice(BITS),
            }
            body = bent(json.dumps(told).encode(), rng) if rng.random() < 0.7 else rng.randbytes(200)
            headers = {"X-CSRF-Token": rng.choice((token, "", "x"))}
            return {"data": body, "headers": headers, "content_type": "application/json"}

        yield from _asked(rng, app, f"feltwatch_session={rng.randint(0, 9)}", order)


def remote_requests(rng: random.Random, folder: Path) -> Pieces:
    """The same to every route of the review for other machines, with a session and without; log-ins of nonsense."""
    felt = Felt(folder / "felt")
    felt.to_archived()
    felt.journal.close()
    app = create_remote_app(felt.folder, folder / "secrets")
    without = Limit((1 << 60, 1.0), (1 << 60, 1.0))
    app.extensions["feltwatch-log-in"] = replace(remote_access(app), tries=without)
    remote_access(app).people.add("Ines", "correct horse battery")
    passphrase = remote_access(app).people.identify("Ines", "correct horse battery")
    assert passphrase
    token = remote_access(app).sessions.open("Ines", passphrase)

    def order() -> dict[str, Any]:
        told = f"name={rng.choice(BITS)}&passphrase={rng.choice(BITS)}".encode()
        body = bent(told, rng) if rng.random() < 0.7 else rng.randbytes(200)
        return {"data": body, "content_type": "application/x-www-form-urlencoded"}

    yield from _asked(rng, app, f"{RemoteSessions.cookie}={token}", order)


def _asked(rng: random.Random, app: Flask, cookie: str, order: Callable[[], dict[str, Any]]) -> Pieces:
    client = app.test_client(use_cookies=False)
    rules = [rule.rule for rule in app.url_map.iter_rules() if rule.endpoint != "log_in.log_out"]
    while True:
        rule = rng.choice(rules)
        path = "/".join(rng.choice(BITS) if part.startswith("<") else part for part in rule.split("/"))
        query = f"?{rng.choice(ASKED)}={rng.choice(BITS)}"
        method = rng.choice(("GET", "GET", "POST", "HEAD", "PUT"))
        given = order() if method == "POST" else {}
        headers = {**given.pop("headers", {}), "Cookie": rng.choice((cookie, cookie, "x=y"))}
        with client.open(path + query, method=method, headers=headers, **given) as answer:
            told = answer.get_data() if method != "HEAD" else b""
            assert answer.status_code < 500 or answer.status_code == 503, (method, path, query, given)
            assert b"Traceback" not in told
        yield


def serial(rng: random.Random, _folder: Path) -> Pieces:
    """Damaged frames through every parser of the puck readers."""
    sends = [parser(random.Random(rng.random())) for parser in PARSERS]
    while True:
        for one in sends:
            next(one)
        yield


KINDS: Final[tuple[Callable[[random.Random, Path], Pieces], ...]] = (
    pictures,
    profiles,
    settle_json,
    requests,
    remote_requests,
    serial,
)


def bent(data: bytes, rng: random.Random) -> bytes:
    """The data with some bytes changed, moved, doubled or cut off."""
    if rng.random() < 0.2:
        return data[: rng.randrange(len(data) + 1)]
    at = rng.randrange(max(1, len(data) - 200))
    return data[:at] + damaged(data[at : at + 200], rng) + data[at + 200 :]


def grown_mb() -> float:
    """The most memory that the process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@dataclass(frozen=True)
class FuzzTotals:
    """What was sent of a kind; the longest piece in seconds, the most memory that the process had in MB."""

    kind: str
    pieces: int
    longest_s: float
    most_mb: float


def send(
    kind: Callable[[random.Random, Path], Pieces],
    seed: int,
    seconds: float,
    most: int = 1 << 60,
    watch: Callable[[], None] = lambda: None,
) -> FuzzTotals:
    """Send pieces of a kind for so long, or so many. Raises AssertionError for one that takes too long or too much.

    The first piece is not timed: with it what stands around the others is built. `watch` is called before each.
    """
    before, longest, count = grown_mb(), 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        pieces = kind(random.Random(seed), Path(folder))
        watch()
        next(pieces)
        began = time.monotonic()
        while count < most and time.monotonic() - began < seconds:
            watch()
            at = time.monotonic()
            next(pieces)
            longest = max(longest, time.monotonic() - at)
            count += 1
            assert longest < LONGEST_S, f"piece {count} of seed {seed} took {longest:.0f} s"
        assert grown_mb() - before < MAX_MB, (
            f"{grown_mb() - before:.0f} MB after {count} pieces of seed {seed}"
        )
        pieces.close()  # type: ignore[attr-defined]
    gc.collect()
    return FuzzTotals(kind.__name__, count, longest, grown_mb())


def _watched() -> None:
    """End the process, and say on which line it hung, where the next piece never comes back."""
    faulthandler.dump_traceback_later(3 * LONGEST_S, exit=True)


def report(found: list[FuzzTotals], seconds: float, seed: int) -> str:
    """Say what was sent, as Markdown."""
    rows = "\n".join(
        f"| {one.kind.replace('_', ' ')} | {one.pieces:,} | {one.longest_s:.2f} | {one.most_mb:.0f} |"
        for one in found
    )
    return f"""# What a fuzz run sends, and what came of it

Written by `make fuzz-all ARGS="--write docs/fuzz-report.md"` on {datetime.now(UTC).date()}: {machine()},
load {os.getloadavg()[0]:.1f} at the end. {seconds:.0f} seconds, seed {seed}. Nothing raised but the product's own
sentences, nothing took {LONGEST_S:.0f} s, nothing grew by {MAX_MB} MB; the run fails where anything does.

| kind | pieces | longest, s | most memory of the process so far, MB |
|---|---:|---:|---:|
{rows}

Requests are sent to the applications themselves, without a server between; serial frames to every parser of a puck
reader; pictures to the reader's loader; settle JSON is parsed and settled. Left out: what needs a real device.
"""


@click.command()
@click.option("--seconds", default=600.0, show_default=True, help="For all kinds together.")
@click.option("--seed", default=1, show_default=True, help="The same seed sends the same pieces.")
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="Also write the report here.")
def main(seconds: float, seed: int, write: Path | None) -> None:
    """Send what is damaged to everything that takes something from outside."""
    found = []
    for kind in KINDS:
        try:
            one = send(kind, seed, seconds / len(KINDS), watch=_watched)
        except Exception as error:
            click.echo(f"{kind.__name__}: {error!r}", err=True)
            if not isinstance(error, AssertionError):
                raise
            sys.exit(1)
        click.echo(
            f"{one.kind}: {one.pieces:,} pieces, the longest {one.longest_s:.2f} s, {one.most_mb:.0f} MB at most"
        )
        found.append(one)
    faulthandler.cancel_dump_traceback_later()
    if write:
        write.write_text(report(found, seconds, seed), encoding="utf-8")


if __name__ == "__main__":
    main()
