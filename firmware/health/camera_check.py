"""What a camera made of its settings: each as it was asked for, and as the camera took it."""

from collections.abc import Mapping, Sequence
from typing import Final

from firmware.health.check import CheckFinding, Verdict
from firmware.messages import Message, in_turn, message_of

NAMES: Final[Mapping[str, Message]] = {
    "format": Message("format"),
    "size": Message("size of the picture"),
    "mains": Message("mains frequency"),
    "exposure": Message("exposure"),
    "gain": Message("gain"),
    "white_balance": Message("white balance"),
    "focus": Message("focus"),
}
"""Settings, by the names that a camera tells them under."""
ITS_OWN: Final = Message(
    "What it does not take stays on the camera's own automatic. Whether the pictures are good stands under light, "
    "flicker and sharpness."
)


def check_settings(settings: Sequence[Mapping[str, str]] | None) -> CheckFinding | None:
    """Return what the camera made of its settings; None where nothing is known of them.

    The nearest value is well: what it does to a picture is judged from the picture.
    """
    if not settings:
        return None
    missing = [one for one in settings if not one["took"]]
    figure = f"{len(settings) - len(missing)} / {len(settings)}"
    says = message_of(in_turn(_sentence(one) for one in settings))
    return (Verdict.LOOK, figure, says, ITS_OWN) if missing else (Verdict.OK, figure, says, None)


def _sentence(one: Mapping[str, str]) -> Message:
    name, asked, took = NAMES.get(one["name"], Message(one["name"])), one["asked"], one["took"]
    if not took:
        return Message("%(name)s: %(asked)s was asked for, and not taken.", name=name, asked=asked)
    if took == asked:
        return Message("%(name)s: %(took)s.", name=name, took=took)
    return Message("%(name)s: %(took)s; %(asked)s was asked for.", name=name, took=took, asked=asked)
