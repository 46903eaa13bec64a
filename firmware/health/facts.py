"""What the checks judge: observations of the box and the record, from wherever they were gathered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from firmware.messages import Text, text_of


@dataclass(frozen=True)
class Facts:
    """Observations of the box and the record; None: could not be learnt."""

    answers: bool | None = None
    """Whether the table process answers."""
    services: Mapping[str, str] | None = None
    """The service manager's state of each unit; None without a service manager."""
    faults: Mapping[str, Text] = field(default_factory=dict)
    """The table process's fault messages, by device."""
    picture: Mapping[str, Mapping[str, Any]] | None = None
    """The last picture's verdicts, by vision's names."""
    camera_settings: Sequence[Mapping[str, str]] | None = None
    """What the camera made of its settings (`firmware.devices.camera.source.Taken`); None: nothing is known of them."""
    felt_age_ms: int | None = None
    """The age of the felt's calibration; None without a calibration or a record."""
    calibrated: bool | None = None
    readers_ok: int | None = None
    """Antennas of the puck reader that answer."""
    readers: int | None = None
    """Antennas that the puck reader has."""
    without: Sequence[str] | None = None
    """What this table has not, by its configuration: "puck", "panel"."""
    buttons: bool | None = None
    """Whether buttons are connected."""
    short_pins: int | None = None
    """How many people's PINs have fewer digits than a new one must have."""
    free_mb: int | None = None
    worn_percent: int | None = None
    rows: int | None = None
    checked: int | None = None
    """How many of the chain's last rows were checked."""
    broken_at: int | None = None
    """The first checked row with a problem."""
    record_wrong: Text | None = None
    """What is wrong with the record's file or its end; "" if nothing is."""
    synchronised: bool | None = None
    rtc: bool | None = None
    jumped_ms: int | None = None
    celsius: float | None = None
    weak: bool | None = None
    """Whether the power supply is too weak now."""
    was_weak: bool | None = None
    """Whether it was too weak at any time since the box started."""
    slowed: bool | None = None
    """Whether the processor is slowed down now, by heat or a weak supply."""
    memory_mb: int | None = None
    model_hash: str | None = None
    """The hash of the card reader's model file."""
    model_named: str | None = None
    """The hash in the model's manifest."""
    profile_hash: str | None = None
    """The hash of the rule profile's text in the record; "" if the record does not have it."""
    profile_named: str | None = None
    """The hash of the rule profile that the table plays by."""
    limits: Mapping[str, Mapping[str, Any]] | None = None
    """The figures of the adaptive limits (`firmware.adaptive_limit.LimitFigures`), by what they limit."""
    anchor_age_ms: int | None = None
    anchored: bool | None = None
    """Whether the chain's head was ever signed."""
    screen: Mapping[str, Any] | None = None
    """What the table process says of the touchscreen (`firmware.runtime.liveness.screen_watch`)."""
    unsigned: int | None = None
    """How many of the last rows end a hand that no signed head follows."""
    fault: Text | None = None
    """The fault of the record that nobody has read yet; "" if there is none."""
    note: Text | None = None
    """What contradicts the note of the last signed head; "" if nothing does."""
    pit: Mapping[str, Any] | None = None
    """What `firmware.uplink.status_file.read_status` returns; None: this table is not enrolled with a pit."""

    @classmethod
    def from_json(cls, answer: Mapping[str, Any]) -> Facts:
        """Return facts from their JSON; fields that this release does not know are ignored."""
        known = {one.name: answer[one.name] for one in fields(cls) if one.name in answer}
        for name, read in (
            *((name, text_of) for name in ("record_wrong", "fault", "note")),
            ("faults", _texts_of),
        ):
            if known.get(name) is not None:
                known[name] = read(known[name])
        return cls(**known)


def _texts_of(faults: Mapping[str, object]) -> dict[str, Text]:
    return {device: text_of(fault) for device, fault in faults.items()}
