"""What the routes for programs and scripts answer, as types: `/openapi.json` is made from them."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from flask import Response, jsonify


@dataclass(frozen=True)
class Refusal:
    """An error: `error` is a sentence for the person at the screen.

    `ask`: the roles whose PIN would do. `wait_s`: seconds that this place waits yet after wrong PINs. `badge`: a badge
    lies on the table, whose PIN needs no name. `errors`: sentences by a form's fields.
    """

    error: str
    ok: Literal[False] = False
    ask: list[str] | None = None
    wait_s: int | None = None
    badge: bool | None = None
    errors: dict[str, str] | None = None


@dataclass(frozen=True)
class Acknowledgement:
    """A command is accepted and durable; of the rest only what belongs to it.

    `seq`: the last event's number in the journal. `job`: the number of what the camera was asked to do. Role, name and
    seconds left are those of a session. `told`: a sentence for the person whose PIN was just right.
    """

    ok: Literal[True]
    seq: int | None = None
    job: int | None = None
    role: str | None = None
    name: str | None = None
    expires_s: float | None = None
    told: str | None = None


@dataclass(frozen=True)
class Job:
    """How far a job of the camera is. `why` it failed; the address of its `picture`; `html`: its result, as a part of
    the page; `enough`: what was collected may be used.
    """

    state: Literal["running", "done", "failed"]
    done: int
    of: int
    why: str | None = None
    picture: str | None = None
    html: str | None = None
    enough: bool | None = None
    ok: Literal[True] = True


@dataclass(frozen=True)
class Trial:
    """How far a device's test is; `html` is a part of the page."""

    verdict: Literal["pass", "fail", "waits"]
    html: str
    ok: Literal[True] = True


@dataclass(frozen=True)
class NewPin:
    """A PIN that a person would like to have."""

    new_pin: str


@dataclass(frozen=True)
class PaintOrder:
    """What the screen at the table has painted: the view of row `seq`, or null for something else. `leaving`: another
    page is being loaded.
    """

    seq: int | None
    leaving: bool


@dataclass(frozen=True)
class KioskScreen:
    """The screen at the table, in seconds: `painted_s` since its last acknowledgement, null if there was none since the
    server began; `up_s` since then. `leaving`: another page is being loaded.
    """

    painted_s: float | None
    leaving: bool
    up_s: float


@dataclass(frozen=True)
class Session:
    """Who is signed on; without a session the dealer, with 0 seconds left.

    `usual_s`: the most that is left where no evidence is looked at.
    """

    role: str
    name: str
    left_s: int
    usual_s: int


@dataclass(frozen=True)
class StickProgress:
    """How far a dispute file is on its way to a stick; `says` is a sentence."""

    step: str
    over: bool
    percent: int
    says: str


@dataclass(frozen=True)
class StickFile:
    """A file on a stick that is called a profile; `text` is null for one that is too long or no text in UTF-8."""

    name: str
    text: str | None


@dataclass(frozen=True)
class StickProfiles(StickProgress):
    """How far the profiles on a stick are read; `files` once they are."""

    files: tuple[StickFile, ...] = ()


@dataclass(frozen=True)
class Health:
    """Whether the table process answers (`table`), the journal can be read (`record`), and the touchscreen is alive.

    `screen`: "none" if the configuration says that there is none, "unknown" if it has not answered yet.
    `training`: no hand on this page is played. `checks`: every check's verdict by name, if they were asked for.
    """

    ok: bool
    table: bool
    record: bool
    screen: Literal["well", "silent", "unknown", "none"]
    trouble: str
    seq: int
    training: bool
    checks: dict[str, str] | None = None


@dataclass(frozen=True)
class StreamEvent:
    """An event of the stream; `data` is JSON, of a `beat` the number of the last view."""

    event: Literal["hello", "view", "beat", "stale"]
    data: str


@dataclass(frozen=True)
class ProfileOrder:
    """Checks a profile's form, stores a version, goes back to one, or puts one in force."""

    do: Literal["check", "keep", "back", "use"]
    version: str = ""
    fields: list[list[str]] | None = None
    reason: str = ""
    by: str = ""
    pin: str = ""


@dataclass(frozen=True)
class ProfileFileOrder:
    """Checks the text of a profile, or stores it as a version."""

    do: Literal["check", "keep"]
    text: str
    reason: str = ""
    by: str = ""
    pin: str = ""


@dataclass(frozen=True)
class ProfileMistake:
    """What is wrong with a profile's text; `line` is 0 and `key` empty if it concerns several."""

    line: int
    key: str
    says: str


def json_answer(answer: Acknowledgement | Job | Trial | Session | StickProgress | Health) -> Response:
    """Return an answer as JSON, without the fields that it does not have."""
    fields: dict[str, Any] = asdict(answer)
    return jsonify({name: value for name, value in fields.items() if value is not None})
