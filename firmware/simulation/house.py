"""The house of a simulated table: four named players, stakes of a dollar a unit, and times that suit a busy machine."""

from pathlib import Path
from typing import Final

from firmware.runtime.config import NO_SCREEN, Config, SeatConfig, TimesConfig
from firmware.runtime.house_config import house_rules

PLAYERS: Final = {"A": "Ann", "B": "Bao", "C": "Carla", "D": "Dev"}
"""The players by their places on the felt."""
UNIT: Final = 100


def make_config(
    data: Path, profile: str, stack_units: int | None = 20_000, turn_up: float = 0.0, *, closed: bool = False
) -> Config:
    """Return the configuration; `stack_units` None caps no losses, `closed` deals a face-up game closed.

    Raises ConfigError for a profile that cannot be played.
    """
    stack = None if stack_units is None else stack_units * UNIT
    seats = tuple(
        SeatConfig.model_validate({"seat": number, "place": place, "player": player, "stack": stack})
        for number, (place, player) in enumerate(PLAYERS.items(), start=1)
    )
    times = TimesConfig(turn_up=turn_up, reading=60.0, reading_start=120.0)
    config = Config(data=data, profile=profile, unit=UNIT, seats=seats, times=times, screen=NO_SCREEN)
    _, rules = house_rules(config)
    if closed and rules.deal.kind != "closed":
        options = {"deal.kind": "closed", "fantasyland.entry": {}, "fantasyland.stay": {}}
        return config.model_copy(update={"options": options})
    return config
