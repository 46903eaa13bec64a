"""Recorded traces of bouncing contacts, and the model that made them: python -m tests.firmware.devices.bounce_traces

The model. A press is the contact closing at a moment and opening later; both bounce. A bounce is an even number
of changes: the contact flies off and comes back. The stretches between changes are exponentially distributed around the
switch's mean, and the whole is over within its longest. Four switches, after what makers and benches tell of push
buttons (0 to 10 ms, most of them 1 to 6 ms):

    good     up to 6 pairs around 0.6 ms, over within 8 ms   (the simulated panel's own)
    worn     up to 12 pairs around 0.8 ms, over within 10 ms: the most that our filter is made for
    lazy     up to 3 pairs around 2.5 ms, over within 10 ms: few and long
    chatter  up to 60 pairs around 0.05 ms, over within 8 ms: many and short

None of them was measured on a real button: UNTESTED on hardware.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("bounce_traces.json")
SWITCHES = {
    "good": (6, 600, 8000),
    "worn": (12, 800, 10_000),
    "lazy": (3, 2500, 10_000),
    "chatter": (60, 50, 8000),
}
"""By switch: the most pairs of changes, the mean stretch and the longest bounce in microseconds."""
PRESSES = 25


def record(switch: str) -> dict[str, Any]:
    """Presses of one switch: when each begins and ends, and every change of the contact, in microseconds."""
    pairs, mean, longest = SWITCHES[switch]
    rng = random.Random(f"bounce {switch}")
    now, presses, changes = 100_000, [], []
    for _ in range(PRESSES):
        begins = now + rng.randint(40_000, 400_000)
        ends = begins + rng.choice((rng.randint(35_000, 90_000), rng.randint(90_000, 700_000)))
        presses.append([begins, ends])
        for at in (begins, ends):
            stretches = [max(1, round(rng.expovariate(1 / mean))) for _ in range(2 * rng.randint(0, pairs))]
            while sum(stretches) > longest:
                stretches = stretches[:-2]
            changes.append(at)
            for stretch in stretches:
                changes.append(changes[-1] + stretch)
        now = ends
    return {"switch": switch, "presses_us": presses, "changes_us": changes}


def traces() -> list[dict[str, Any]]:
    """The traces as they were recorded."""
    return list(json.loads(RECORDED.read_text()))


if __name__ == "__main__":
    RECORDED.write_text(",\n".join(json.dumps(record(switch)) for switch in SWITCHES).join(("[\n", "\n]\n")))
