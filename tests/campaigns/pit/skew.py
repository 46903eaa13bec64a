"""A pit with tables of other releases: of an older one, whose records lie in the tests, and of a later one.

    python -m tests.campaigns.pit.skew --hands 200

A later release writes events that the pit cannot read, and says more in the first line of a request. No later release
exists, so the pit is made an older one: a process that has unlearned the event that ends a hand. Its update is a start
of the release as it is. Every row must be stored and verified before; after it, the list of hands must be complete, as
the tables' own records make it.
"""

from __future__ import annotations

import json
import tarfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click

from firmware.record.journal.journal import Journal
from firmware.record.journal.reader import JournalReader
from firmware.table.events import HandArchived, TableStarted
from firmware.uplink.client import Client
from firmware.uplink.errors import PitUnreachable
from firmware.uplink.settings import load
from firmware.uplink.wire import Head, Offer, batch, encode
from pit.status.tables import list_tables
from pit.store.database import Database
from tests.campaigns.pit.compare import Difference, compare, has_all, is_listed
from tests.campaigns.pit.report import report_options, write_report
from tests.generated_record import generate_record
from tests.pit.house import MACHINE, house
from tests.waiting import until

OLD: Final = Path(__file__).parents[2] / "firmware/record/records_of_0_1"
OLD_RECORDS: Final = ("washington", "face-up")
OLD_RELEASE, LATER_RELEASE = "0.1.0", "9.0.0"
UNLEARNED: Final = HandArchived.type
_OLDER_PIT: Final = "from firmware.table.events import BY_TYPE; del BY_TYPE[{!r}]; "


@dataclass
class Report:
    """What the campaign found. `waited`: tables of which the list stopped at an event that the pit could not read."""

    hands: int
    releases: dict[str, str] = field(default_factory=dict)
    stored_before_the_update: int = 0
    waited: list[str] = field(default_factory=list)
    waiting_after_the_update: int = 0
    found: Difference = field(default_factory=Difference)
    machine: str = MACHINE

    @property
    def ok(self) -> bool:
        return bool(
            self.found.ok
            and self.stored_before_the_update == self.found.rows
            and self.waited == list(self.releases)
            and not self.waiting_after_the_update
            and list(self.releases.values()) == [OLD_RELEASE, OLD_RELEASE, LATER_RELEASE]
        )


def campaign(hands: int) -> Report:
    """Send records of an older and of a later release; see the command."""
    report = Report(hands)
    with house(durable=False) as all_of_it:
        all_of_it.add_tables(len(OLD_RECORDS) + 1)
        *old, later = all_of_it.data
        for data, name in zip(old, OLD_RECORDS, strict=True):
            with tarfile.open(OLD / f"{name}.tar.xz") as packed:
                packed.extractall(data, filter="data")
            (data / name).rename(data.with_name(f"old-{name}"))
            data.rmdir()
            data.with_name(f"old-{name}").rename(data)
        with Journal(later) as journal:
            journal.append([TableStarted()], "table")
        generate_record(later, hands, pool=20)
        today = all_of_it.pit.arguments[2]
        all_of_it.pit.arguments[2] = _OLDER_PIT.format(UNLEARNED) + today
        all_of_it.start()
        with Database(all_of_it.url, connections=2) as database:
            for number, path in enumerate(all_of_it.data):
                later_one = path == later
                _send(
                    all_of_it.enrolments[number],
                    path,
                    LATER_RELEASE if later_one else OLD_RELEASE,
                    later=later_one,
                )
            assert has_all(database, all_of_it.data)
            until(lambda: is_listed(database))
            tables = list_tables(database)
            report.releases = {one.table.name: one.release for one in tables}
            report.stored_before_the_update = sum(one.fresh.seq for one in tables)
            report.waited = [one.table.name for one in tables if UNLEARNED in (one.stuck_why or "")]
            all_of_it.pit.kill()
            all_of_it.pit.arguments[2] = today
            all_of_it.pit.start()
            until(lambda: not any(one.stuck_why for one in list_tables(database)) and is_listed(database))
            report.waiting_after_the_update = sum(one.stuck_why is not None for one in list_tables(database))
            all_of_it.stop()
            report.found = compare(database, all_of_it.data)
    return report


def _send(enrolment: Path, data: Path, release: str, *, later: bool) -> None:
    """Send a record as a table of another release does; a later one's first line has columns that nobody knows."""
    settings = load(enrolment)
    assert settings is not None
    client = Client(settings)
    head = Head(*JournalReader(data).head())
    genesis = JournalReader(data).events_since(0, 1)[0].hash
    have = Head()
    while have != head:
        until(lambda: _answers(client))
        rows = batch(JournalReader(data).events_since(have.seq))
        body = encode(Offer(genesis, head, release, rows=rows))
        first, *lines = zlib.decompress(body).split(b"\n")
        said: dict[str, Any] = json.loads(first)
        if later:
            said |= {"columns": ["mood"], "proof": {"size": 1}, "mood": None}
        else:
            said = {name: said[name] for name in ("record", "head", "release")}
        body = zlib.compress(b"\n".join([json.dumps(said).encode(), *lines]))
        have = Head(*client._json("POST", "/v1/rows", body)["have"])
    client.close()


def _answers(client: Client) -> bool:
    try:
        client.offer(Offer("", Head()))
    except PitUnreachable:
        return False
    return True


@click.command()
@click.option("--hands", default=200, show_default=True, help="Hands of the later release's table.")
@report_options
def main(hands: int, path: Path | None) -> None:
    """Send records of an older and of a later release to a pit, then update the pit."""
    write_report(campaign(hands), path)


if __name__ == "__main__":
    main()
