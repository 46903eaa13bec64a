"""A release that a table asks to be installed is judged by `feltwatch update`, and how that ended comes to the pit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.cli.update import asked_command
from firmware.runtime.config import PitConfig
from firmware.runtime.inbox.install_request import MAY_SWITCH, REQUEST
from firmware.update.release import TARGETS
from firmware.uplink.inbox.requests import inbox_path
from tests.pit.conftest import Pit
from tests.pit.files.conftest import MADE, maker, packed
from tests.pit.files.rig import NEWER, Rig, rig

ALL_DAY = PitConfig(release_hours="00:00-00:00")


@pytest.fixture
def here(pit: Pit, tmp_path: Path, release_key: Path) -> Iterator[Rig]:
    with rig(pit, tmp_path, release_key, ALL_DAY) as made:
        yield made


def roots_turn(here: Rig, made: int = MADE - 1) -> int:
    """Run the program that the service manager starts; return its exit status. `made`: of the release that runs."""
    running = here.folder / "opt/current"
    running.mkdir(parents=True, exist_ok=True)
    (running / "MADE").write_text(f"{made}\n")
    given = {
        "--asked": here.folder / "run",
        "--inbox": here.inbox,
        "--root": here.folder / "root.json",
        "--base": here.folder / "opt",
        "--result": here.folder / "result.json",
    }
    arguments = [str(part) for pair in given.items() for part in pair]
    return CliRunner().invoke(asked_command, arguments).exit_code


def test_the_installer_of_a_signed_release_runs_and_is_told_when_it_may_switch(here: Rig) -> None:
    told = here.folder / "told"
    script = f'echo "$FELTWATCH_MAY_SWITCH" >{told}'
    one = here.request("", packed(here.folder, NEWER, here.release_key, script=script))
    here.turn()
    assert roots_turn(here) == 0
    assert told.read_text().strip() == str(here.folder / "run" / MAY_SWITCH)
    assert not (here.folder / "run" / REQUEST).exists(), "it is not installed twice"
    here.starts_again(NEWER)
    here.turn()
    assert here.at_pit(one).state == "in_force"


def test_an_installer_that_succeeds_while_the_old_release_goes_on_is_no_update(here: Rig) -> None:
    one = here.request("", packed(here.folder, NEWER, here.release_key))
    here.turn()
    assert roots_turn(here) == 0
    here.turn()
    assert here.at_pit(one).state == "refused"
    assert str(here.at_pit(one).why) == "The update did not end; the table runs 0.2.0-00000000."


def test_a_release_that_its_installer_rolled_back_is_refused_with_its_last_words(here: Rig) -> None:
    script = "echo 'Error: Release x was rolled back; y is running, as before.' >&2; exit 1"
    one = here.request("", packed(here.folder, NEWER, here.release_key, script=script))
    here.turn()
    assert roots_turn(here) == 1
    here.turn()
    assert here.at_pit(one).state == "refused"
    assert "Release x was rolled back; y is running, as before." in str(here.at_pit(one).why)


def test_an_older_release_that_is_rightly_signed_is_refused_with_the_reason(here: Rig) -> None:
    one = here.request("", packed(here.folder, NEWER, here.release_key))
    here.turn()
    assert roots_turn(here, made=MADE + 1) == 2
    here.turn()
    assert here.at_pit(one).state == "refused"
    assert "older" in str(here.at_pit(one).why)


def test_a_release_that_is_changed_in_the_inbox_before_root_reads_it_is_refused(here: Rig) -> None:
    one = here.request("", packed(here.folder, NEWER, here.release_key))
    here.turn()
    eves = packed(here.folder / "eve", NEWER, maker(here.folder / "eve"))
    inbox_path(here.inbox, one.sha256).write_bytes(
        (eves / TARGETS / f"feltwatch-{NEWER}.tar.gz").read_bytes()
    )
    assert roots_turn(here) == 2
    here.turn()
    assert "not what the maker signed" in str(here.at_pit(one).why)


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"number": 1, "sha256": "../../etc/shadow"}', '{"number": "1", "sha256": "%s"}' % ("0" * 64)],
)
def test_a_request_of_no_table_installs_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / REQUEST).write_text(text)
    result = tmp_path / "result.json"
    done = CliRunner().invoke(asked_command, ["--asked", str(tmp_path), "--result", str(result)])
    assert done.exit_code == 2
    assert not result.exists()
    assert not (tmp_path / REQUEST).exists(), "or the service manager would start it again and again"
