"""The table's request to be enrolled at a pit, and how far that is: small files between three programs.

The table process has the device's key and no network; the page has neither. The table writes `REQUEST`, and later
`ANSWER`: what the technician says of the five words. A program of the uplink's user, which the service manager starts
for it (systemd/units/feltwatch-join.path), asks the pit and writes `PROGRESS`, which the page shows. Each side treats
the others' files as untrusted input.
"""

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from firmware.record.journal.disk import write_whole
from firmware.record.stick_request import is_figure, read_small
from firmware.table.errors import CommandRefused
from firmware.uplink.enrolment import Says

FOLDER: Final = Path("/run/feltwatch")
REQUEST: Final = "pit.json"
ANSWER: Final = "pit-answer.json"
PROGRESS: Final = Path("/run/feltwatch-join/progress.json")
SILENT_S: Final = 45.0
"""Seconds without progress after which the program counts as dead: longer than it waits for the pit."""

Step = Literal["asked", "reaching", "compare", "waiting", "done", "failed"]
OVER: Final = frozenset({"done", "failed"})


@dataclass(frozen=True)
class JoinRequest:
    """What the table asks for: the code's text, its device key and that key's proof, its number."""

    id: str
    code: str
    device_key: str
    proof: str
    table: str


@dataclass(frozen=True)
class JoinProgress:
    """How far a request is; `refusal` is the `Message` JSON that says why it failed.

    `words` are the five to compare, `pit` is the address that answered.
    """

    id: str
    step: Step = "asked"
    words: str = ""
    pit: str = ""
    refusal: Mapping[str, Any] = field(default_factory=dict)
    beat_s: float = 0.0
    """When this was written, by the monotonic clock."""

    def goes_on(self, now_s: float) -> bool:
        """Return whether the program is still at work."""
        return self.step not in OVER and 0 <= now_s - self.beat_s <= SILENT_S

    def write(self, path: Path) -> None:
        """Write it atomically to a file that all users may read. Raises OSError."""
        write_whole(path, json.dumps(asdict(replace(self, beat_s=time.monotonic()))).encode())
        path.chmod(0o644)


def read_join_request(folder: Path) -> JoinRequest | None:
    """Return the request; None if there is no valid one."""
    try:
        request = JoinRequest(**read_small(folder / REQUEST))
    except (OSError, TypeError):
        return None
    return request if all(isinstance(text, str) for text in asdict(request).values()) else None


def read_join_answer(folder: Path, request: str) -> Says:
    """Return what the technician says of the words of a request; "" before they do."""
    try:
        fields = read_small(folder / ANSWER)
    except OSError:
        return ""
    says = fields.get("says")
    return says if fields.get("id") == request and says in ("same", "other") else ""


def read_join_progress(path: Path = PROGRESS) -> JoinProgress | None:
    """Return the progress of the last request; None without a valid file."""
    try:
        progress = JoinProgress(**read_small(path))
    except (OSError, TypeError):
        return None
    fits = (
        progress.step in get_args(Step)
        and all(isinstance(text, str) for text in (progress.id, progress.words, progress.pit))
        and is_figure(progress.beat_s)
        and isinstance(progress.refusal, dict)
    )
    return progress if fits else None


class JoinDesk:
    """The table's side: writes requests and answers, and reads how far they are."""

    def __init__(self, folder: Path = FOLDER, progress: Path = PROGRESS) -> None:
        self._folder, self._progress = folder, progress

    def ask(self, code: str, device_key: bytes, proof: bytes, table: str) -> str:
        """Ask to be brought in; return the name of the request. Raises CommandRefused."""
        before = read_join_progress(self._progress)
        if before is not None and before.goes_on(time.monotonic()):
            raise CommandRefused("The table is being enrolled already. Wait until that is over.")
        request = JoinRequest(secrets.token_hex(8), code, device_key.hex(), proof.hex(), table)
        (self._folder / ANSWER).unlink(missing_ok=True)
        self._write(REQUEST, asdict(request))
        return request.id

    def say(self, says: Says) -> str:
        """Pass on what the technician says of the words; return the words. Raises CommandRefused."""
        now = read_join_progress(self._progress)
        if now is None or now.step != "compare" or not now.goes_on(time.monotonic()):
            raise CommandRefused("There are no words to compare now. Begin again with a new code.")
        self._write(ANSWER, {"id": now.id, "says": says})
        return now.words

    def _write(self, name: str, fields: dict[str, Any]) -> None:
        path = self._folder / name
        try:
            write_whole(path, json.dumps(fields).encode())
            path.chmod(0o640)  # the program is another user of our group
        except OSError as error:
            raise CommandRefused(
                "This box cannot ask to be enrolled (%(path)s: %(why)s).", path=str(path), why=error
            ) from error
