"""Takes a wave's turns: looks what its tables have shown, asks those that it has come to, stops where one fails.

Everything is in the database, and one turn is one transaction: a pit that is killed at any moment goes on from there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Final

from firmware.pit.database import Connection, Database
from firmware.pit.down.requests import ask, withdraw
from firmware.pit.errors import DatabaseError, PitError
from firmware.pit.waves.facts import Facts, text_to_store
from firmware.pit.waves.plan import Judged, Mark, Phase, first_start, steps_of, turn
from firmware.pit.waves.store import Wave, newest

log = logging.getLogger(__name__)
EVERY_S: Final = 5.0
"""Seconds between two turns of a wave that runs."""
SELDOM_S: Final = 10.0
"""The same of one that was stopped or is done: its tables are still shown as they are."""
AWAY_S: Final = 60.0
"""Seconds without a turn after which nobody is called silent for that time: the pit itself was away."""
BY: Final = "wave"
"""Who asks tables, in their requests."""


class Stepper:
    """One pit's waves. `turn` does what is due."""

    def __init__(self, database: Database, leads: Callable[[], bool] = lambda: True) -> None:
        """`leads`: whether this process, of several on one database, is the one that takes the turns."""
        self._database, self._leads = database, leads
        self._facts = Facts()
        self._listening = self._looked = float("-inf")

    def turn(self) -> float:
        """Take a turn; return the seconds until the next one. Raises DatabaseError."""
        if not self._leads():
            return EVERY_S
        with self._database.transaction() as connection:
            wave = newest(connection, is_locked=True)
            row = connection.execute("SELECT extract(epoch FROM now())::float8").fetchone()
            assert row is not None
            now: float = row[0]
            if not 0 <= now - self._looked < AWAY_S:
                self._listening = now
            self._looked = now
            if wave is None:
                return SELDOM_S
            self._turn(connection, wave, now)
        return EVERY_S if wave.phase is Phase.RUNNING else SELDOM_S

    def _turn(self, connection: Connection, wave: Wave, now: float) -> None:
        members = self._facts.members(connection, wave.wave_id, wave.sha256, wave.release)
        found = turn(wave.phase, wave.release, wave.rules, members, now, self._listening)
        steps = steps_of(members, wave.rules)
        for key in found.causes:
            log.warning("The wave of %s stops: table %s, %s", wave.release, key, found.judged[key].failure)
        is_stopping = found.phase is Phase.STOPPED and wave.phase is Phase.RUNNING
        connection.cursor().executemany(
            "UPDATE wave_table SET step = %(step)s, mark = %(mark)s, failure = %(failure)s, why = %(why)s,"
            " since = to_timestamp(%(since)s), was_updated = was_updated OR %(is_updated)s,"
            " stopped_for = CASE WHEN %(stops)s THEN %(failure)s ELSE stopped_for END,"
            " reached_at = CASE WHEN %(is_reached)s THEN now() ELSE reached_at END"
            " WHERE wave_id = %(wave)s AND table_id = %(table)s AND ((step, mark, why) IS DISTINCT FROM"
            " (%(step)s, %(mark)s, %(why)s) OR failure IS DISTINCT FROM %(failure)s"
            " OR since IS DISTINCT FROM to_timestamp(%(since)s) OR %(stops)s OR %(is_reached)s)",
            [
                {
                    **_stored(judged),
                    "step": steps[key],
                    "is_reached": key in found.reached,
                    "stops": is_stopping and key in found.causes,
                    "wave": wave.wave_id,
                    "table": key,
                }
                for key, judged in found.judged.items()
            ],
        )
        connection.execute(
            "UPDATE wave SET step = %s, judged_at = now(), phase = %s, phase_at = CASE WHEN phase = %s THEN phase_at"
            " ELSE now() END, phase_by = CASE WHEN phase = %s THEN phase_by ELSE '' END WHERE wave_id = %s",
            (found.step, *[found.phase.value] * 3, wave.wave_id),
        )
        kept = found.asked
        if found.phase is not Phase.STOPPED:  # where the release runs, its request ends by itself
            kept |= {key for key, one in members.items() if first_start(one.starts, wave.release) is not None}
        _ask(connection, wave, found.asked, kept)


def _stored(judged: Judged) -> Mapping[str, str | float | bool | None]:
    return {
        "mark": judged.mark.value,
        "is_updated": judged.mark is Mark.UPDATED,
        "failure": judged.failure.value if judged.failure else None,
        "why": text_to_store(judged.why),
        "since": judged.since,
    }


def _ask(connection: Connection, wave: Wave, asked: frozenset[int], kept: frozenset[int]) -> None:
    """Ask tables for the release, and withdraw what waves ask but of those in `kept`. What a person asks stays."""
    rows = connection.execute(
        "SELECT table_id, sha256, asked_by = %s FROM file_request WHERE ended_at IS NULL"
        " AND (asked_by = %s OR sha256 = %s)",
        (BY, BY, wave.sha256),
    ).fetchall()
    open_now = {key for key, sha256, _ in rows if sha256 == wave.sha256}
    for key in sorted(asked - open_now):
        try:
            ask(connection, key, wave.sha256, BY)
        except PitError as error:
            log.warning("Table %s cannot be asked: %s", key, error)
            connection.execute(
                "UPDATE wave_table SET why = %s WHERE wave_id = %s AND table_id = %s",
                (text_to_store(error.sentence), wave.wave_id, key),
            )
    for key, sha256, is_ours in sorted(rows):
        if is_ours and not (sha256 == wave.sha256 and key in kept):
            withdraw(connection, key, sha256, BY)


class StepperThread(threading.Thread):
    """Takes the turns in the background. A database that is away is waited for."""

    def __init__(self, stepper: Stepper) -> None:
        super().__init__(name="waves", daemon=True)
        self._stepper = stepper
        self._end = threading.Event()

    def run(self) -> None:
        """Take turns until `stop`."""
        wait = 0.0
        while not self._end.wait(wait):
            try:
                wait = self._stepper.turn()
            except DatabaseError as error:
                log.warning("Waves wait: %s", error)
                wait = EVERY_S
            except Exception:
                log.exception("Waves wait: this is an error of Feltwatch")
                wait = SELDOM_S

    def stop(self) -> None:
        """End after the turn in work."""
        self._end.set()
        self.join()
