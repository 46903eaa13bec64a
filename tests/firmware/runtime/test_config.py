from __future__ import annotations

from pathlib import Path

import pytest

from firmware.runtime.config import Config, load_config
from firmware.runtime.errors import ConfigError
from firmware.runtime.house_config import house_rules
from firmware.table.checks import CLOTH


def test_without_a_file_the_reference_build_stands() -> None:
    config = load_config()
    assert config == Config()
    assert config.data == Path("/var/lib/feltwatch")
    assert {seat.seat: seat.place for seat in config.seats} == CLOTH


def test_a_file_is_read_and_options_of_the_command_go_before_it(tmp_path: Path) -> None:
    file = tmp_path / "feltwatch.toml"
    file.write_text(
        """
        data = "/srv/felt"
        profile = "washington-2-4"
        unit = 500
        options = { "foul.points" = 5 }
        seats = [
            { seat = 2, place = "A", player = "Ann", stack = 20000 },
            { seat = 5, place = "C" },
        ]
        [puck]
        dealer = ["04A1B2C3D4E580"]
        [camera]
        kind = "files"
        device = "/srv/pictures"
        [ui]
        port = 8080
        """
    )
    config = load_config(file, data=tmp_path, profile=None)
    assert (config.data, config.socket) == (tmp_path, tmp_path / "table.sock")
    assert (config.profile, config.unit) == ("washington-2-4", 500)
    assert [(seat.name, seat.stack) for seat in config.seats] == [("Ann", 20000), ("Seat 5", None)]
    assert house_rules(config)[1].foul.points == 5
    assert house_rules(config)[0].foul.points == 4


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("unit = 0", "unit: "),
        ("unit = '1'", "unit: "),
        ("unit =", "no TOML"),
        ("colour = 'red'", "colour: "),
        ("seats = [{ seat = 1, place = 'A' }]", "seats: "),
        ("seats = [{ seat = 1, place = 'A' }, { seat = 6, place = 'B' }]", "seats.1.seat: "),
        ("seats = [{ seat = 1, place = 'A' }, { seat = 2, place = 'E' }]", "seats.1.place: "),
        ("seats = [{ seat = 1, place = 'A' }, { seat = 1, place = 'B' }]", "two seats share one seat"),
        ("seats = [{ seat = 1, place = 'A' }, { seat = 2, place = 'A' }]", "two seats share one place"),
        (
            "seats = [{ seat = 1, place = 'A', player = 'x', stack = 1 }, { seat = 2, place = 'B', player = 'x' }]",
            "two different stacks",
        ),
        ("seats = [{ seat = 1, place = 'A', player = '\u3164' }]", "seats.0.player: A name has only letters"),
        (
            "seats = [{ seat = 1, place = 'A', player = 'Kim' }, { seat = 2, place = 'B', player = 'К\u0456m' }]",
            "looks like Kim|Kim looks like",
        ),
        ("table = '\u2800'", "table: A name has only letters"),
        ("[camera]\nkind = 'telescope'", "camera.kind: "),
        ("[camera]\nmains_hz = 60\nexposure_ms = 10.0", "camera: .*bands"),
        ("[puck]\nkind = 'radar'", "puck.kind: "),
        ("[times]\nreading = 0", "times.reading: "),
        ("[times]\nreading = 30.0\nreading_ceiling = 20.0", "times: reading_ceiling lies below reading"),
        ("[times]\nreader_silence_ceiling = 1.0", "times: reader_silence_ceiling lies below"),
    ],
)
def test_a_mistake_is_said_with_its_file_and_key(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "feltwatch.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=f"feltwatch.toml.*{why}"):
        load_config(file)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_config(tmp_path / "nothing.toml")


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"profile": "nope"}, "no profile"),
        ({"options": {"foul.colour": 1}}, "foul.colour"),
        ({"options": {"foul.points": "many"}}, "foul.points"),
    ],
)
def test_rules_that_cannot_be_played_are_said(values: dict[str, object], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        house_rules(load_config(None, **values))
