"""From the configuration to what hands open with: rules, seats, and the content that the journal keeps of them."""

from __future__ import annotations

from importlib.metadata import version
from importlib.resources import files

from firmware.record.journal.journal import Journal
from firmware.rules import Profile, RulesError, load_profile, profile_toml
from firmware.runtime.config import Config
from firmware.runtime.errors import ConfigError
from firmware.table.commands.decide import House
from firmware.table.events import SeatOpened
from vision.reading.networks import networks_hash

SOFTWARE = f"feltwatch {version('feltwatch')}"


def house_rules(config: Config) -> tuple[Profile, Profile]:
    """Return the configured profile as it is written, and with the house's options in it.

    Raises ConfigError for a profile that cannot be used or played.
    """
    try:
        written = load_profile(config.profile)
        rules = written.with_options(config.options)
    except RulesError as error:
        raise ConfigError(f"The profile cannot be used: {error}.") from error
    return written, rules


def prepare_house(config: Config, journal: Journal) -> House:
    """Return what the next hands open with; the texts behind its hashes are in the journal afterwards.

    Raises ConfigError, or JournalError.
    """
    written, rules = house_rules(config)
    return House(
        rules=rules,
        profile=rules.name,
        profile_hash=journal.keep("profile", profile_toml(written).encode()),
        unit=config.unit,
        seats=tuple(SeatOpened(seat.seat, seat.name, seat.place, seat.stack) for seat in config.seats),
        options=config.options,
        layout_hash=journal.keep("layout", _layout(config)),
        model_hash=_model_hash(),
        software=SOFTWARE,
        table=config.table,
        language=config.language,
        written=written,
    )


def _layout(config: Config) -> bytes:
    """Return the layout's text; the reading process is who checks it."""
    path = config.camera.layout
    try:
        return path.read_bytes() if path else (files("hardware") / "table.toml").read_bytes()
    except OSError as error:
        raise ConfigError(f"The felt's layout {path} cannot be read: {error.strerror}.") from error


def _model_hash() -> str:
    try:
        return networks_hash(files("models"))
    except OSError:  # without them nothing is read, and the reading process says so
        return ""
