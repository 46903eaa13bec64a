"""Faults of the pit's own processes and of the uplinks."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from pit.authority import Authority
from tests.campaigns.pit.fault_kind import Kind, every
from tests.campaigns.pit.fault_stage import Stage, stage
from tests.pit.house import House, Part, feltwatch, free_port, nginx_command


def second_pit(made: House) -> House:
    """Another `pit serve` with a socket, a folder and an nginx of its own, the same authority, the same database."""
    folder = made.folder / "second"
    shutil.copytree(made.folder / "pit", folder / "pit")
    door, authority = folder / "door.sock", Authority(folder / "pit" / "authority")
    served = feltwatch(
        "pit.cli.main", "serve", "--url", made.url, "--folder", folder / "pit", "--socket", door
    )
    nginx = nginx_command(
        made.second_address,
        [door],
        authority.folder.parent,
        folder / "nginx",
    )
    log = made.folder / "log"
    return House(
        folder, made.postgres, made.url, authority, Part(served, log), Part(nginx, log), made.second_address
    )


@contextmanager
def _two_pits() -> Iterator[Stage]:
    seconds: list[House] = []

    def prepare(made: House, stack: ExitStack) -> None:
        made.second_address = f"127.0.0.1:{free_port()}"
        seconds.append(second := second_pit(made))
        stack.callback(second.stop)
        second.start()

    with stage(3, prepare=prepare) as made:
        made.second = seconds[0]
        yield made


@contextmanager
def _one_of_two(made: Stage, rng: random.Random) -> Iterator[None]:
    """One of both is killed whole, loses its door only, or is frozen; its tables go to the other."""
    assert made.second is not None
    one = rng.choice((made.house, made.second))
    how = rng.choice(("killed", "door killed", "frozen"))
    if how == "frozen":
        with _stopped(one.pit):
            yield
        return
    one.pit.kill()
    if how == "killed":
        one.nginx.kill()
    try:
        yield
    finally:
        one.start()


@contextmanager
def _in_turn(made: Stage, rng: random.Random) -> Iterator[None]:
    """Tables are sent from one to the other and back: their connections end in turn."""
    assert made.second is not None
    with every(rng, 0.5, 1.5, lambda: _again(rng.choice((made.house, made.second)))):
        yield
    made.house.start()
    made.second.start()


def _again(one: House | None) -> None:
    assert one is not None
    one.nginx.kill()
    one.start()


@contextmanager
def _stopped(part: Part) -> Iterator[None]:
    assert part.process is not None
    os.killpg(part.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(part.process.pid, signal.SIGCONT)


@contextmanager
def _frozen(made: Stage, rng: random.Random) -> Iterator[None]:
    with _stopped(made.house.pit):
        yield


@contextmanager
def _killed_pit(made: Stage, rng: random.Random) -> Iterator[None]:
    made.house.pit.kill()
    try:
        yield
    finally:
        made.house.start()


@contextmanager
def _nginx(made: Stage, rng: random.Random) -> Iterator[None]:
    """Reloaded again and again, or killed and started when the fault ends."""
    process = made.house.nginx.process
    assert process is not None
    if rng.random() < 0.5:
        with every(rng, 0.2, 0.8, lambda: os.kill(process.pid, signal.SIGHUP)):
            yield
        return
    made.house.nginx.kill()
    try:
        yield
    finally:
        made.house.start()


@contextmanager
def _uplinks(made: Stage, rng: random.Random) -> Iterator[None]:
    """All uplinks are killed; in half of the rounds they are started and killed again and again."""
    for uplink in made.house.uplinks:
        uplink.kill()
    again = (lambda: _restart(rng.choice(made.house.uplinks))) if rng.random() < 0.5 else (lambda: None)
    try:
        with every(rng, 0.3, 1.5, again):
            yield
    finally:
        for uplink in made.house.uplinks:
            if not uplink.runs:
                uplink.start()


def _restart(part: Part) -> None:
    part.kill()
    part.start()


KINDS: Final = (
    Kind("two_pits", "two pits on one database; one is killed, or frozen", _one_of_two, _two_pits),
    Kind("two_pits_in_turn", "two pits on one database; tables go to and fro", _in_turn, _two_pits),
    Kind("frozen_pit", "the pit is frozen, and goes on", _frozen),
    Kind("killed_pit", "the pit is killed, and started", _killed_pit),
    Kind("nginx", "nginx is reloaded again and again, or killed", _nginx),
    Kind("killed_uplinks", "uplinks are killed", _uplinks),
)
