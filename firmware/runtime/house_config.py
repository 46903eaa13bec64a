"""Prepare from the configuration what a hand needs to open: rules, seats, and the texts that the journal stores."""

from importlib.resources import files

from firmware.record.journal.journal import Journal
from firmware.rules import (
    Profile,
    ProfileError,
    RulesError,
    contradictions,
    load_profile,
    profile_toml,
    with_checked_options,
)
from firmware.rules.profiles.library import load_unjudged
from firmware.runtime.config import Config
from firmware.runtime.errors import ConfigError
from firmware.table.events import SeatOpened
from firmware.table.house import House
from firmware.update.release import running_release
from vision.reading.networks import networks_hash

SOFTWARE = f"feltwatch {running_release()}"


def house_rules(config: Config) -> tuple[Profile, Profile]:
    """Return the configured profile as written, and the same with the house's options applied.

    Raises ConfigError for a profile that is invalid or cannot be played.
    """
    try:
        written = load_profile(config.profile)
        rules = with_checked_options(written, config.options)
    except RulesError as error:
        raise ConfigError(f"The profile cannot be used: {error}") from error
    return written, rules


def rules_to_start_with(config: Config) -> tuple[Profile, Profile]:
    """Return what `house_rules` returns, even if the options contradict each other.

    The table then starts, but opens no hand. Raises ConfigError for a profile that is invalid in any other way.
    """
    try:
        return house_rules(config)
    except ConfigError as error:
        cause = error.__cause__
        try:
            written, rules = load_unjudged(config.profile, config.options)
        except RulesError:
            raise error from cause
        allowed = {str(found.sentence) for found in contradictions(rules)}
        if not isinstance(cause, ProfileError) or not {str(one.message) for one in cause.troubles} <= allowed:
            raise
        return written, rules


def prepare_house(config: Config, journal: Journal) -> House:
    """Return the setup of the next hands, and store the texts that its hashes refer to in the journal.

    Raises ConfigError, JournalError.
    """
    written, rules = rules_to_start_with(config)
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
        without=config.without,
    )


def _layout(config: Config) -> bytes:
    """Return the layout's text; the reading process validates it."""
    path = config.camera.layout
    try:
        return path.read_bytes() if path else (files("hardware") / "table.toml").read_bytes()
    except OSError as error:
        raise ConfigError(f"The felt's layout {path} cannot be read: {error.strerror}.") from error


def _model_hash() -> str:
    try:
        return networks_hash(files("models"))
    except OSError:  # A network is missing: the health check of the model reports it.
        return ""
