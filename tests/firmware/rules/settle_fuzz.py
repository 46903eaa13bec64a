"""Damaged hands as JSON lines through `feltwatch settle`: as many answers as lines, and never a traceback.

python -m tests.firmware.rules.settle_fuzz --lines 10000
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Iterator

from firmware.rules import CARDS, profile_names
from firmware.terminal import say

_PIECES = (
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b":",
    b"NaN",
    b"1e999",
    b"9" * 4_300,
    b"9" * 5_000,
    b"null",
    b"\\u12",
)


def hand(deal: random.Random) -> bytes:
    """Return a sound hand of two to four seats as a line of JSON."""
    deck = [card.code for card in deal.sample(CARDS, 52)]
    seats = []
    for seat in deal.sample(range(1, 6), deal.randint(2, 4)):
        cards, deck = deck[:13], deck[13:]
        rows = {"front": cards[:3], "middle": cards[3:8], "back": cards[8:]}
        seats.append(
            {"seat": seat, "stack": deal.randrange(10_000), **{k: " ".join(v) for k, v in rows.items()}}
        )
    profile = deal.choice(profile_names())
    return json.dumps({"profile": profile, "unit": 100, "button": 1, "seats": seats}).encode()


def damaged(deal: random.Random, line: bytes) -> bytes:
    """Return a line with something wrong in it; it stays a line that is not blank."""
    whole = line
    for _ in range(deal.randint(1, 3)):
        at = deal.randrange(len(line))
        match deal.randrange(7):
            case 0:
                line = line[:at]
            case 1:
                line = line[:at] + line[at + deal.randrange(1, 20) :]
            case 2:
                line = line[:at] + deal.choice(_PIECES) + line[at:]
            case 3:
                line = line[:at] + bytes([deal.choice((0, 7, 27, 0x80, 0xC0, 0xFF, 0x7F))]) + line[at + 1 :]
            case 4:
                line = line[:at] + b"[" * deal.choice((5, 200, 979, 3_000)) + line[at:]
            case 5:
                line = line[:at] + line[at:].replace(b'"', b"'", 1)
            case 6:
                line = line.replace(b'"unit": 100', b'"unit": ' + b"7" * deal.choice((16, 400, 4_299)))
        line = line if line.strip() else whole
    return line


def lines(seed: int, count: int) -> Iterator[bytes]:
    """Yield sound and damaged lines."""
    deal = random.Random(seed)
    for _ in range(count):
        line = hand(deal)
        yield damaged(deal, line) if deal.random() < 0.8 else line


def trouble(given: list[bytes]) -> str:
    """Settle lines in a process of its own. Return what is wrong with the answers; nothing if nothing is."""
    command = [sys.executable, "-m", "firmware.cli", "settle", "--json"]
    ran = subprocess.run(command, input=b"\n".join(given) + b"\n", capture_output=True, check=False)
    errors = ran.stderr.decode(errors="replace")
    if "Traceback" in errors or ran.returncode not in (0, 1, 2):
        return f"it ended with {ran.returncode}: {errors[-2_000:]}"
    answers = ran.stdout.splitlines()
    if len(answers) != len(given):
        return f"{len(given)} lines have {len(answers)} answers"
    for number, answer in enumerate(answers, start=1):
        said = json.loads(answer)
        if "error" in said and (said["error"]["line"] != number or len(answer) > 2_000):
            return f"line {number} is answered by {answer[:300]!r}"
    if longest := max(map(len, errors.splitlines()), default=0) > 1_000:
        return f"a message has {longest} letters"
    return ""


def main() -> None:
    """Run as a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    given = list(lines(chosen.seed, chosen.lines))
    found = trouble(given)
    say(found or f"{chosen.lines:,} lines, as many answers, no traceback (seed {chosen.seed})")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
