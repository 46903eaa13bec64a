"""`feltwatch pit table list`."""

import time
from datetime import datetime

import click

from firmware.terminal import say, say_json
from pit.options import pit_database_option


@click.command("list")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON array.")
@pit_database_option
def list_command(is_json: bool, url: str) -> None:
    """List the tables: how far each has been heard, and what is not live, whole or right."""
    from pit.status.freshness import status_of
    from pit.status.tables import list_tables
    from pit.store.database import Database

    with Database(url) as database:
        tables = list_tables(database)
    now_ms = time.time_ns() // 1_000_000
    states = [(one, status_of(one.fresh, now_ms)) for one in tables]
    if is_json:
        say_json(
            [
                {
                    "table": one.table.name,
                    "have": one.fresh.seq,
                    "behind": status.behind,
                    "heard": _date(one.fresh.heard_ms),
                    "last_row": _date(one.fresh.last_ms),
                    "lacks": [lack.value for lack, _ in status.lacks],
                    "release": one.release,
                    "struck": one.struck_at is not None,
                    "fork": one.fork_seq,
                    "waits": one.stuck_why,
                }
                for one, status in states
            ]
        )
        return
    for one, status in states:
        heard = _date(one.fresh.heard_ms) or "never"
        trouble = (
            "struck off"
            if one.struck_at
            else f"record differs at row {one.fork_seq}"
            if one.fork_seq
            else one.stuck_why or ", ".join(map(str, status.sentences))
        )
        heard += f", release {one.release}" if one.release else ""
        say(f"{one.table.name}: {one.fresh.seq} rows, {status.behind} behind, heard {heard}  {trouble}")
    if not tables:
        say("No table is enrolled. Begin with: feltwatch pit table add NAME --pit HOST:PORT")


def _date(ms: int | None) -> str | None:
    return None if ms is None else datetime.fromtimestamp(ms / 1000).astimezone().isoformat(" ", "seconds")
