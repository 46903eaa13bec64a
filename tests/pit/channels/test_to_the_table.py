"""A channel's release to a running table: a signed file over the real door, taken between hands."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.runtime import house_config
from firmware.runtime.config import PitConfig
from firmware.runtime.inbox.desk import INSTALLING
from firmware.runtime.inbox.install_request import write_result
from pit.channels.judge import Mark
from pit.channels.stepper import Stepper
from pit.channels.store import Channel, ChannelTable, Name, move, put
from pit.channels.store import read_channels as channels
from pit.follow.follower import Follower as Floor
from pit.follow.projector import project
from pit.store.database import Database
from tests.generated_record import generate_record
from tests.pit.conftest import opened_pit
from tests.pit.files.conftest import packed, release_key
from tests.pit.files.rig import NEWER, RUNNING, Rig, rig
from tests.pit.files.test_down import now_within

__all__ = ["release_key"]


def shown(here: Rig) -> tuple[Channel, ChannelTable]:
    """Let the pit follow what came, take a turn, and return the channel First and its table."""
    database = here.pit.database
    while Floor(database).follow() + project(database):
        pass
    Stepper(database).turn()
    with database.transaction() as connection:
        first = channels(connection)[Name.FIRST]
    return first, first.tables[0]


@pytest.mark.parametrize("holds", [True, False])
def test_a_channel_reaches_a_running_table_and_believes_its_release_alone(
    database: Database, tmp_path: Path, release_key: Path, monkeypatch: pytest.MonkeyPatch, holds: bool
) -> None:
    hours = PitConfig(release_hours=now_within(-5))
    with opened_pit("without nginx", database) as pit, rig(pit, tmp_path, release_key, hours) as here:

        def starts(release: str) -> None:
            monkeypatch.setattr(house_config, "SOFTWARE", f"feltwatch {release}")
            here.starts_again(release)

        one = here.offer("", packed(here.folder, NEWER, here.release_key))
        here.fetch()
        with database.transaction() as connection:
            [rest] = channels(connection)[Name.REST].tables
        put(database, rest.name, Name.FIRST, "Ines")
        move(database, one.sha256, Name.FIRST, "Ines")
        assert shown(here)[1].mark is Mark.ASKED
        here.turn()
        _, table = shown(here)
        assert (table.mark, table.state, table.says) == (Mark.ASKED, "waiting", INSTALLING)
        request = here.here(one)
        starts(NEWER)
        here.turn()
        assert shown(here)[1].mark is Mark.RUNS, "the table says so itself, before its installer has ended"
        if not holds:
            starts(RUNNING)
            write_result(here.folder / "result.json", request, "Release x was rolled back.")
            here.turn()
            first, table = shown(here)
            assert (bool(first.stopped), table.mark) == (True, Mark.WENT_BACK)
            return
        write_result(here.folder / "result.json", request, "")
        here.turn()
        assert here.at_pit(one).state == "in_force"
        assert shown(here)[1].mark is Mark.RUNS, "installed and in force is not updated"
        here.table.stop()
        generate_record(here.table.config.data, 1, pool=1)
        here.fetch()
        first, table = shown(here)
        assert (first.stopped, first.missing, table.mark) == ("", [], Mark.UPDATED)
