"""The root program that sets the box's clock: one request line in, one answer line out (feltwatch-clock@.service).

In: JSON of `date` ("2026-11-22") and `time` ("21:30"), both or neither, and `zone` ("Europe/Madrid" or ""). Out: JSON
of `ok`, and if it is false `why`: "request", "zone", "time" or "refused". A valid request is passed to timedatectl.
Imports none of our modules. UNTESTED on a box with a real battery-backed clock.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

LONGEST: Final = 200
"""Maximum length of a request in bytes."""
EARLIEST: Final = datetime(2025, 1, 1)
LATEST: Final = datetime(2100, 1, 1)
_ZONE: Final = re.compile(r"[A-Z][A-Za-z0-9_+-]{0,31}(/[A-Z][A-Za-z0-9_+-]{0,31}){0,2}")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME: Final = re.compile(r"[0-9]{2}:[0-9]{2}")

Run = Callable[[Sequence[str]], str]


class ClockRefusal(Exception):
    """A refusal; the message is the `why` of the answer."""


def main(arguments: Sequence[str] = ()) -> int:
    """Answer the request on the standard input. Arguments: timedatectl and the folder of the time zones."""
    program, zones = arguments or ("timedatectl", "/usr/share/zoneinfo")
    try:
        request = read(sys.stdin.buffer.readline(LONGEST + 1))
        set_clock(*check_time(request, Path(zones)), lambda facts: _run([program, *facts]))
        answer: dict[str, Any] = {"ok": True}
    except ClockRefusal as refused:
        answer = {"ok": False, "why": str(refused)}
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()
    return 0


def read(line: bytes) -> dict[str, str]:
    """Return a request's fields. Raises ClockRefusal."""
    try:
        fields = json.loads(line) if len(line) <= LONGEST else None
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or set(fields) != {"date", "time", "zone"}:
        raise ClockRefusal("request")
    if not all(isinstance(value, str) and value.isascii() for value in fields.values()):
        raise ClockRefusal("request")
    if bool(fields["date"]) != bool(fields["time"]) or not (fields["date"] or fields["zone"]):
        raise ClockRefusal("request")
    return fields


def check_time(facts: dict[str, str], zones: Path) -> tuple[str, str]:
    """Return the time as timedatectl expects it, and the zone; either may be "". Raises ClockRefusal."""
    moment = ""
    if facts["date"]:
        if not (_DATE.fullmatch(facts["date"]) and _TIME.fullmatch(facts["time"])):
            raise ClockRefusal("time")
        moment = f"{facts['date']} {facts['time']}:00"
        try:
            sound = EARLIEST <= datetime.fromisoformat(moment) < LATEST
        except ValueError:
            sound = False
        if not sound:
            raise ClockRefusal("time")
    if facts["zone"] and not is_zone(facts["zone"], zones):
        raise ClockRefusal("zone")
    return moment, facts["zone"]


def is_zone(name: str, zones: Path) -> bool:
    """Return whether a time zone of this name exists: a time zone file inside the folder of the zones."""
    if not _ZONE.fullmatch(name):
        return False
    try:
        folder, path = zones.resolve(strict=True), (zones / name).resolve(strict=True)
        return path.is_relative_to(folder) and path.is_file() and path.read_bytes()[:4] == b"TZif"
    except OSError:
        return False


def set_clock(moment: str, zone: str, run: Run) -> None:
    """Set the zone, then the time in it. Network time stays on if it was on. Raises ClockRefusal."""
    if zone:
        run(["set-timezone", zone])
    if not moment:
        return
    follows = run(["show", "--property=NTP", "--value"]).strip() == "yes"
    if follows:
        run(["set-ntp", "false"])  # otherwise timedatectl refuses a time
    try:
        run(["set-time", moment])
    finally:
        if follows:
            run(["set-ntp", "true"])


def _run(words: Sequence[str]) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        sys.stderr.write(f"{words[0]}: {error}\n")
        raise ClockRefusal("refused") from error
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise ClockRefusal("refused")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
