"""A table to look at: real events, judged by the real commands and settled by the real rules, in a real journal."""

from __future__ import annotations

import json
import shutil
import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firmware.access.control import AccessCommand, AccessControl, with_sender
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.clocks import Clock, now
from firmware.record.journal.journal import Journal, JournalReader
from firmware.record.reopening import end_of_hand
from firmware.record_folder import SOCKET
from firmware.rules import load_profile, profile_toml
from firmware.runtime.device_tests import DeviceTestCommand
from firmware.table import INITIAL, CommandRefused, Phase, State
from firmware.table import events as ev
from firmware.table.command import parse_command
from firmware.table.dealing import button_due
from firmware.table.decide import decide, step
from firmware.table.errors import CommandNotAllowed
from firmware.table.events import canonical
from firmware.table.house import House, house_now
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.topics.camera import CameraCommand
from firmware.table.topics.house import SetHouse, profile_text
from firmware.table.topics.screen import LIVENESS_COMMANDS
from firmware.table.topics.setup import AskHealth

Spot = tuple[int, ev.Row, int]

# Dealt from one deck. Seat 1: pair of queens, three eights, flush. Seat 2: king high, two pairs, straight (a plain
# hand). Seat 3: two pairs in the middle over a pair in the back: a foul. Seat 4: jack high, two pairs, two pairs.
HANDS: Mapping[int, tuple[str, str, str]] = {
    1: ("Qh Qd 7c", "8s 8d 8c Kh 4d", "2h 6h 9h Jh Ah"),
    2: ("Ks 9d 5c", "As Ad 6s 6d 3c", "5s 6c 7h 8h 9s"),
    3: ("Ac Kd Jd", "Ts Td 4s 4h 2c", "3s 3d 9c Jc 2d"),
    4: ("Js 3h 2s", "Th Tc 5h 5d 4c", "Qs Qc 7d 7s Kc"),
}
# Seat 1 with six pairs, set as a hand that is not a foul.
SIX_PAIRS = ("2h 2d Kc", "3s 3c 4d 4h 5c", "5d 8s 8d Jc Jd")
SIX_PAIRS_DEALT: Mapping[int, tuple[str, str, str]] = {
    1: SIX_PAIRS,
    2: ("Ks 9d 6c", "As Ad 6s 6d 3h", "5s 7c 7h 8h 9s"),
    3: ("Ac Kd Jh", "Ts Td 4s 4c 2c", "Qd 3d 9c Js 2s"),
    4: ("Qh 9h 7d", "Th Tc 5h 6h Ah", "Qs Qc 7s Kh 8c"),
}
PLAYERS = {1: "Lin", 2: "Moreno", 3: "Okafor", 4: "Tran"}


@dataclass
class Felt:
    """Plays hands into a journal. `do` is a command as the page sends it; `say` is what a device tells."""

    folder: Path
    profile: str = "california-face-up"
    unit: int = 500
    seats: Mapping[int, str] = field(default_factory=lambda: dict(zip((1, 2, 3, 4), "ABCD", strict=True)))
    stack: int | None = 100_000
    hands: dict[int, tuple[str, str, str]] = field(default_factory=lambda: dict(HANDS))
    _state: State = field(default=INITIAL, init=False)
    options: Mapping[str, Any] = field(
        default_factory=lambda: {"deal.kind": "closed", "limits.min_points": 0}
    )

    device_tests: Callable[[DeviceTestCommand], dict[str, Any]] | None = None
    """Who tries devices (`tests.dealer_ui.panel`); nobody where it is absent."""
    set_up: bool = True
    """Whether the first set-up of the box is over."""
    camera: Callable[[CameraCommand], dict[str, Any]] | None = None
    """Who does what needs the camera; without one it is refused."""
    health: Mapping[str, Any] | None = None
    """What the table process sees of the box (`firmware.health.checks.Facts`)."""
    heartbeat: Mapping[str, Any] = field(default_factory=dict)
    """What the table process says in its answer to a heartbeat, besides its last row."""
    access: AccessControl | None = None
    """Who judges the roles of what comes over the socket; nobody where it is absent."""

    clock: Clock = now
    actor: str = "test"
    """In whose name everything stands in the record."""
    training: bool = False
    """Whether it is a training record."""

    def __post_init__(self) -> None:
        self._one_at_a_time = threading.RLock()  # the test's own thread, and the one that answers the page
        self.journal = Journal(self.folder, self.clock, training=self.training)
        self.captures = CaptureStore(self.folder)

        self.written = load_profile(self.profile)
        self.rules = self.written.with_options(self.options)
        self.profile_hash = self.journal.keep("profile", profile_toml(self.written).encode())
        if self.set_up:
            self.say(ev.SetUpEnded())
        self.say(ev.TableStarted(house=self.configured.settings))

    def copied(self, folder: Path) -> Felt:
        """Return the same table over a copy of its record in another folder. Its own journal must be closed."""
        shutil.copytree(self.folder, folder)
        made = copy(self)
        made.folder, made.hands = folder, dict(self.hands)
        made._one_at_a_time = threading.RLock()
        made.journal = Journal(folder, self.clock, training=self.training)
        made.captures = CaptureStore(folder)
        return made

    @property
    def state(self) -> State:
        """The state by the rows of the journal: anyone who saw a row of it finds it in here."""
        with self._one_at_a_time:
            return self._state

    @state.setter
    def state(self, state: State) -> None:
        with self._one_at_a_time:
            self._state = state

    @property
    def house(self) -> House:
        """What the next hand opens with; a test may have configured it otherwise since."""
        settings = self.state.house.over(self.configured.settings)
        return house_now(self.configured, settings, JournalReader(self.folder).content)

    @property
    def configured(self) -> House:
        return House(
            rules=self.rules,
            profile=self.profile,
            profile_hash=self.profile_hash,
            unit=self.unit,
            seats=tuple(
                ev.SeatOpened(seat, PLAYERS.get(seat, f"Player {seat}"), place, self.stack)
                for seat, place in self.seats.items()
            ),
            options=self.options,
            written=self.written,
        )

    @property
    def seq(self) -> int:
        return self.journal.seq

    def do(self, do: str, **fields: Any) -> State:
        """Give a command. Raises CommandRefused as the table does."""
        command = parse_command(canonical({"do": do, **fields}))
        with self._one_at_a_time:
            if isinstance(command, SetHouse) and (text := profile_text(command)):
                self.journal.keep("profile", text.encode())
            return self.say(*decide(self.state, command, self.house, self.rules, self._past))

    def _past(self, hand: int) -> State:
        return end_of_hand(JournalReader(self.folder), hand)

    def say(self, *events: ev.Event) -> State:
        with self._one_at_a_time:
            state, followed = step(self.state, events, self.rules)
            self.journal.append([*events, *followed], self.actor)
            self._state = state
            return state

    def write(self, events: Sequence[ev.Event], _actor: str) -> int:
        """Make events happen for the gate."""
        self.say(*events)
        return self.seq

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        """Do what came over the socket, and answer as the table process does."""
        try:
            given = parse_command(canonical(command))
            if self.access is not None:
                sender = self.access.authorize(given, self)
                given = with_sender(given, sender)
                if isinstance(given, AccessCommand):
                    return self.access.handle(given, self, sender) | sender.notices
            if self.camera is not None and isinstance(given, CameraCommand):
                return self.camera(given)
            if isinstance(given, AskHealth):
                return {"ok": True, "facts": dict(self.health or {})}
            if self.device_tests is not None and isinstance(given, DeviceTestCommand):
                return self.device_tests(given)
            self.do(**command)
        except CommandNotAllowed as error:
            assert self.access is not None
            return self.access.refusal(error, self.state, given.at)
        except CommandRefused as error:
            return {"ok": False, "error": str(error)}
        return {"ok": True, "seq": self.seq}

    # ---- whole stretches ----

    def deal(self, button: int | None = 2) -> State:
        """Open a hand, the puck at a seat; the players of the last one have settled among themselves."""
        if self.state.phase is Phase.SETTLED:
            self.do("archive")
        if button is not None:
            self.say(ev.PuckSeen("seat", button))
        if (due := button_due(self.state, self.house)) is not None:
            self.do("keep_button", seat=button or due)
        return self.do("open_hand")

    def to_setting(self, button: int | None = 2) -> State:
        self.deal(button)
        return self.do("next")

    def go_on(self) -> State:
        """Press white, the puck lying where it is due."""
        if self.state.is_paid or self.state.phase in BETWEEN_HANDS:
            self.move_puck()
        return self.do("next")

    def move_puck(self) -> None:
        """Lay the puck where the next hand needs it."""
        if (due := button_due(self.state, self.house)) is not None:
            self.say(ev.PuckSeen("seat", due))

    def to_reading(self) -> State:
        """Go on from setting to the camera's look."""
        self.do("next")
        return self.look()

    def look(self) -> State:
        """The camera begins to look."""
        return self.say(ev.PhaseAdvanced(Phase.READING))

    def read(
        self,
        unsure: Mapping[Spot, tuple[str, ...]] | None = None,
        picture: ev.Capture | Callable[[int, ev.Row], ev.Capture] | None = None,
        frame: ev.Capture | None = None,
        corners: tuple[tuple[float, float], ...] = (),
        verdicts: Mapping[str, Any] | None = None,
    ) -> State:
        """The camera reads `hands`; `unsure` gives the candidates of cards it is not sure of, `picture` is a row's."""
        asked = unsure or {}
        rows = tuple(
            ev.RowReading(
                seat,
                row,
                self.seats[seat],
                tuple(
                    ev.CardReading(
                        card, 0.99, (seat, row, i) not in asked, asked.get((seat, row, i), ()), corners
                    )
                    for i, card in enumerate(cards.split())
                ),
                picture(seat, row) if callable(picture) else picture,
            )
            for seat in self.seats
            for row, cards in zip(ev.ROWS, self.hands[seat], strict=True)
        )
        return self.say(ev.ReadingTaken(rows, frame, dict(verdicts or {})))

    def to_settled(self, button: int | None = 2) -> State:
        self.to_setting(button)
        self.to_reading()
        return self.read()

    def to_natural(self, seat: int = 1, hands: Mapping[int, tuple[str, str, str]] = SIX_PAIRS_DEALT) -> State:
        """A seat declares a natural, and the camera reads the hands."""
        self.hands = dict(hands)
        self.to_setting()
        self.do("declare", seat=seat)
        self.to_reading()
        return self.read()

    def to_archived(self) -> State:
        """Play a hand and close it, whatever is still to be paid."""
        self.to_settled()
        return self.do("archive")

    def pay_all(self) -> State:
        while self.state.unpaid:
            self.pay()
        return self.state

    def pay(self) -> State:
        """Mark the first payment that is not yet marked."""
        a, b = self.state.unpaid[0]
        return self.do("mark_paid", a=a, b=b)

    # ---- the table process's socket ----

    @contextmanager
    def answering(self) -> Iterator[list[dict[str, Any]]]:
        """Take commands on the socket as the table process does; yields the list of those that came."""
        came: list[dict[str, Any]] = []
        felt = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                for line in self.rfile:
                    order = json.loads(line)
                    if order["do"] in LIVENESS_COMMANDS:
                        answer = {"ok": True, "seq": felt.seq, **felt.heartbeat}
                    else:
                        came.append(order)
                        answer = felt.answer(order)
                    self.wfile.write(json.dumps(answer).encode() + b"\n")

        path = self.folder / SOCKET
        with socketserver.UnixStreamServer(str(path), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
            thread.start()
            try:
                yield came
            finally:
                server.shutdown()
                thread.join()
                path.unlink()
