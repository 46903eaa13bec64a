"""The auditor: compares the journal's rows with what people and the reader really did, and reports differences.

It shares no code with the state machine: rows are plain JSON, and `firmware.rules.settle_json` computes the settlement
again, as `feltwatch settle` does.
"""

import json
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from firmware.record.journal.journal import Entry
from firmware.rules import settle_json
from firmware.simulation.evening.audited_hand import SIZES, AuditedHand, Card, DealtHand, cards_of
from firmware.simulation.evening.faults import Faults

Kind = Literal["lost", "twice", "unasked", "otherwise", "broken"]
KINDS: Final[Mapping[Kind, str]] = {
    "lost": "lost: answered or dealt, and not in the record",
    "twice": "settled twice",
    "unasked": "settled on a card, row or button in doubt without asking the dealer",
    "otherwise": "settled otherwise than the rules settle the cards that lie there",
    "broken": "the table process broke, or its record does not verify",
}
"""Kinds of errors."""

HOUR_MS: Final = 3_600_000

REOPENS: Final = frozenset(
    {"looked_again", "card_corrected", "row_keyed", "button_keyed", "natural_unconfirmed", "hand_reopened"}
)
"""Events after which a settled hand may settle again."""

EVENTS_OF: Final[Mapping[str, frozenset[str]]] = {
    "next": frozenset(
        {"hand_opened", "phase_advanced", "looked_again", "payment_marked", "hand_archived", "puck_awaited"}
    ),
    "keep_button": frozenset({"button_kept"}),
    "confirm": frozenset({"natural_confirmed"}),
    "look_again": frozenset({"looked_again"}),
    "key_button": frozenset({"button_keyed"}),
    "declare": frozenset({"natural_declared"}),
    "withdraw": frozenset({"natural_withdrawn"}),
    "surrender": frozenset({"surrendered"}),
    "withdraw_surrender": frozenset({"surrender_withdrawn"}),
    "set_card": frozenset({"card_resolved", "card_corrected"}),
    "key_row": frozenset({"row_keyed"}),
    "undo_confirm": frozenset({"natural_unconfirmed"}),
    "mark_paid": frozenset({"payment_marked"}),
    "back_to_setting": frozenset({"setting_resumed"}),
    "void": frozenset({"hand_voided"}),
    "archive": frozenset({"hand_archived"}),
    "key_hand": frozenset({"keying_begun"}),
    "resolve": frozenset({"irregularity_ended"}),
    "sit_out": frozenset({"seating_changed"}),
    "count_stack": frozenset({"stack_counted"}),
    "log_on": frozenset({"logged_on"}),
    "log_off": frozenset({"logged_off"}),
    "list_person": frozenset({"person_listed"}),
    "misdeal": frozenset({"hand_misdealt"}),
}
"""The events that a command may cause. The event must have the command's content."""


@dataclass(frozen=True)
class Problem:
    """An error found by the audit."""

    hand: int
    kind: Kind
    what: str


class Auditor:
    """Processes the journal's rows one by one; `problems` are the errors, `counts` the number of each occurrence.

    The dealer passes in the true cards (`dealt`) and the commands that the table answered (`note_answer`).
    """

    def __init__(
        self, faults: Faults, given: Mapping[str, list[dict[str, Any]]] | None, profile: str = ""
    ) -> None:
        """`given`: the zones of every reading that the reader gave, by the name of its frame; None: unknown.

        `profile`: the house's own rules, if it is the path of their file.
        """
        self.problems: list[Problem] = []
        self.counts: Counter[str] = Counter()
        self.dealt: dict[int, DealtHand] = {}
        self._faults = faults
        self._given = given
        self._own_rules = {"profile": profile} if profile.endswith(".toml") else {}
        self._hand: AuditedHand | None = None
        self._stacks: dict[str, int | None] = {}
        self._fantasyland: dict[str, int] = {}
        """How many cards each player has earned for the next hand in Fantasy Land."""
        self._seq = 0
        self._monotonic_ns = 0
        self._wall_ms = 0
        self._rows: deque[tuple[int, str, Mapping[str, Any], str]] = deque(maxlen=1024)
        self._answered: deque[tuple[int, Mapping[str, Any]]] = deque()

    # ---- input from the dealer ----

    def note_answer(self, command: Mapping[str, Any], seq: int) -> None:
        """Record that the table acknowledged a command with this row: the row must have the same content."""
        self._answered.append((seq, command))

    def problem(self, kind: Kind, what: str) -> None:
        """Record an error."""
        self.problems.append(Problem(self._hand.number if self._hand else 0, kind, what))

    # ---- the rows ----

    def take(self, entry: Entry) -> None:
        """Process the journal's next row."""
        if entry.seq != self._seq + 1:
            self.problem("lost", f"Rows {self._seq + 1} to {entry.seq - 1} are missing.")
        self._seq = entry.seq
        payload: Mapping[str, Any] = json.loads(entry.payload)
        self._rows.append((entry.seq, entry.type, payload, entry.actor))
        self._time(entry)
        handler = getattr(self, f"_{entry.type}", None)
        if handler is not None:
            handler(payload)
        if self._hand is not None and entry.type in REOPENS:
            self._hand.settled = False

    def _time(self, entry: Entry) -> None:
        """Check the order by the monotonic clock; a wall clock that went back must be marked."""
        before, self._wall_ms = self._wall_ms, entry.wall_ms
        if entry.monotonic_ns < self._monotonic_ns:
            self.problem("broken", f"Row {entry.seq} is earlier than the one before it.")
        self._monotonic_ns = entry.monotonic_ns
        if entry.wall_ms < before and entry.clock != "stepped_back":
            self.problem("broken", f"The clock stepped back at row {entry.seq}, and the row does not say so.")
        if abs(entry.wall_ms - before) > HOUR_MS:
            self._faults.notice("clock-step")

    def check_answers(self) -> None:
        """Find the row of every acknowledged command that should be written by now."""
        while self._answered and self._answered[0][0] <= self._seq:
            seq, command = self._answered.popleft()
            if not any(
                number <= seq and _agrees(type_, row, command)
                for number, type_, row, _ in reversed(self._rows)
            ):
                self.problem("lost", f"The table answered {dict(command)} with row {seq}; no row says so.")

    def finish(self, hands: int) -> None:
        """End the run: every answer must have its row, and every hand except an open one its end."""
        self.check_answers()
        for seq, command in self._answered:
            self.problem("lost", f"The table answered {dict(command)} with row {seq}, which is not there.")
        hand = self._hand
        opened = hand.number if hand else 0
        if opened < hands:
            self.problem("lost", f"{hands} hands were played; the record opened {opened}.")
        if hand is not None and hand.settled and not hand.ended:
            self._end(hand, "settled")
            self._compare(hand)
        self.counts["waiting"] = int(hand is not None and not hand.ended)

    # ---- one method per event, named like the event's type ----

    def _table_started(self, _: Mapping[str, Any]) -> None:
        self._faults.notice("table-killed")
        self._puck(None)

    def _puck_seen(self, payload: Mapping[str, Any]) -> None:
        self._puck(payload["seat"])
        if payload["state"] != "seat":
            self._faults.notice("puck-unplugged")

    def _puck(self, seat: int | None) -> None:
        hand = self._hand
        if hand is not None and not hand.ended and not hand.is_puck_fixed and not hand.is_puck_keyed:
            hand.puck = seat

    def _device_fault(self, payload: Mapping[str, Any]) -> None:
        match payload["device"]:
            case "puck":
                self._faults.notice("puck-unplugged")
            case "buttons":
                detail = payload["detail"]
                is_stuck = isinstance(detail, Mapping) and "stuck" in detail["args"]  # names the push-button
                self._faults.notice("buttons-babble" if is_stuck else "buttons-unplugged")
            case "camera":
                for name in ("camera-unplugged", "reader-killed", "late-frames"):
                    if self._faults.on(name):
                        self._faults.notice(name)

    def _hand_opened(self, payload: Mapping[str, Any]) -> None:
        before = self._hand
        number = before.number if before else 0
        if before is not None and not before.ended:
            self.problem("lost", f"Hand {number} has no end; hand {payload['hand']} was opened over it.")
        if payload["hand"] != number + 1:
            self.problem("lost", f"Hand {payload['hand']} follows hand {number}.")
        for seat in payload["seats"]:
            had = self._stacks.get(seat["player"], seat["stack"])
            if had != seat["stack"]:
                self.problem(
                    "lost",
                    f"{seat['player']} had {had} cents; hand {payload['hand']} opens with {seat['stack']}.",
                )
            earned = self._fantasyland.get(seat["player"], 0)
            if (seat.get("fantasyland_cards", 13) if seat.get("fantasyland") else 0) != earned:
                self.problem(
                    "lost",
                    f"{seat['player']}'s Fantasy Land in hand {payload['hand']} is not what they earned.",
                )
        self._hand = AuditedHand(payload["hand"], payload, payload["button"])
        self._hand.is_puck_keyed = payload.get("button_keyed", False)
        self._stacks |= {seat["player"]: seat["stack"] for seat in payload["seats"]}
        self.counts["opened"] += 1

    def _button_keyed(self, payload: Mapping[str, Any]) -> None:
        self._open.puck, self._open.is_puck_keyed = payload["seat"], True

    def _phase_advanced(self, _: Mapping[str, Any]) -> None:
        self._open.is_puck_fixed = True

    def _natural_declared(self, payload: Mapping[str, Any]) -> None:
        self._open.declares.add(payload["seat"])
        self._open.confirmed.discard(payload["seat"])
        self._open.acted.append(payload["seat"])

    def _natural_withdrawn(self, payload: Mapping[str, Any]) -> None:
        self._open.declares.discard(payload["seat"])
        self._open.acted.remove(payload["seat"])

    def _natural_found(self, payload: Mapping[str, Any]) -> None:
        self._open.confirmed.discard(payload["seat"])

    def _natural_confirmed(self, payload: Mapping[str, Any]) -> None:
        self._open.confirmed.add(payload["seat"])

    def _natural_unconfirmed(self, payload: Mapping[str, Any]) -> None:
        self._open.confirmed.discard(payload["seat"])

    def _surrendered(self, payload: Mapping[str, Any]) -> None:
        self._open.surrenders.add(payload["seat"])
        self._open.acted.append(payload["seat"])

    def _surrender_withdrawn(self, payload: Mapping[str, Any]) -> None:
        self._open.surrenders.discard(payload["seat"])
        self._open.acted.remove(payload["seat"])

    # face-up play

    def _card_placed(self, payload: Mapping[str, Any]) -> None:
        hand, card = self._open, payload["card"]
        self.counts["cards_placed"] += 1
        self._need_reading(payload["seat"], payload["row"], card)
        hand.cards.setdefault((payload["seat"], payload["row"]), []).append(Card(card["card"], card["sure"]))

    def _card_reread(self, payload: Mapping[str, Any]) -> None:
        self._need_reading(payload["seat"], payload["row"], payload["card"])
        row = self._open.row(payload["seat"], payload["row"])
        if row[payload["index"]].sure:
            self.problem(
                "unasked",
                f"Hand {self._open.number}: a look changed a set card, {row[payload['index']].card}.",
            )
        row[payload["index"]] = Card(payload["card"]["card"], payload["card"]["sure"])

    def _need_reading(self, seat: int, row: str, card: Mapping[str, Any]) -> None:
        """Check that a card placed by the camera is in a reading that was given."""
        if self._given is None:
            return
        place = next(s["place"] for s in self._open.opened["seats"] if s["seat"] == seat)
        if not any(
            (zone["place"], zone["row"]) == (place, row)
            and any((c["card"], c["sure"]) == (card["card"], card["sure"]) for c in zone["cards"])
            for zones in self._given.values()
            for zone in zones
        ):
            self.problem(
                "lost", f"{card['card']} was placed at seat {seat}, and no reading that was given has it."
            )

    def _irregularity_seen(self, payload: Mapping[str, Any]) -> None:
        self.counts["irregularities"] += 1
        self._open.irregular[payload["number"]] = payload
        if payload["what"] in ("card_changed", "card_twice"):
            self._faults.notice("sure-misread")

    def _irregularity_ended(self, payload: Mapping[str, Any]) -> None:
        seen = self._open.irregular.pop(payload["number"])
        if payload["by"] != "dealer":
            return
        row = self._open.row(seen["seat"], seen["row"])
        at = next(
            (k for k, spot in enumerate(row) if seen["card"] and spot.card == seen["card"]), seen["index"]
        )
        match seen["what"], payload["stands"]:
            case ("out_of_turn", "record") | ("card_missing", "table"):
                del row[at]
            case "card_moved", "table":
                self._open.cards.setdefault((seen["to_seat"], seen["to_row"]), []).append(row.pop(at))
            case "card_changed", stands:
                row[at] = Card(
                    seen["seen"]["card"] if stands == "table" else row[at].card, True, is_named=True
                )

    # ---- the camera, after the signal ----

    def _reading_taken(self, payload: Mapping[str, Any]) -> None:
        hand = self._open
        self.counts["readings"] += 1
        cards = {(row["seat"], row["row"]): cards_of(row["cards"]) for row in payload["rows"]}
        if self._given is not None:
            name = (payload["frame"] or {}).get("name", "")
            places = {seat["place"]: seat["seat"] for seat in hand.opened["seats"]}
            zones = self._given.get(name)
            if zones is None:
                self.problem(
                    "broken", f"A reading was taken that nobody gave ({name or 'without a picture'})."
                )
            given = {
                (places[zone["place"]], zone["row"]): cards_of(zone["cards"])
                for zone in zones or ()
                if zone["place"] in places
            }
            if zones is not None and given != cards:
                self.problem("lost", f"The reading {name} is in the record otherwise than it was given.")
        self._read(cards)

    def _reading_failed(self, payload: Mapping[str, Any]) -> None:
        self.counts["readings_failed"] += 1
        for name in ("camera-unplugged", "reader-killed", "late-frames", "camera-babble", "disk-full"):
            self._faults.notice(name)
        self._read({})

    def _read(self, cards: dict[tuple[int, str], list[Card]]) -> None:
        hand = self._open
        stay = hand.confirmed | hand.face_up_seats
        kept = {key: row for key, row in hand.cards.items() if key[0] in stay}
        hand.cards = {key: row for key, row in cards.items() if key[0] not in stay} | kept

    def _card_resolved(self, payload: Mapping[str, Any]) -> None:
        self._dealer_says(payload)

    def _card_corrected(self, payload: Mapping[str, Any]) -> None:
        self.counts["corrections"] += 1
        before = self._open.row(payload["seat"], payload["row"])[payload["index"]]
        if not before.is_named and before.card != payload["card"]:
            self._faults.notice("sure-misread")
        self._dealer_says(payload)
        self._open.confirmed.discard(payload["seat"])

    def _dealer_says(self, payload: Mapping[str, Any]) -> None:
        self._open.row(payload["seat"], payload["row"])[payload["index"]] = Card(
            payload["card"], True, is_named=True
        )

    def _row_keyed(self, payload: Mapping[str, Any]) -> None:
        self._open.cards[payload["seat"], payload["row"]] = [
            Card(card, True, is_named=True) for card in payload["cards"]
        ]
        self._open.confirmed.discard(payload["seat"])

    def _settled(self, payload: Mapping[str, Any]) -> None:
        hand = self._open
        self.counts["settlements"] += 1
        if hand.settled or hand.ended:
            self.problem("twice", f"Hand {hand.number} settled while it was settled.")
        hand.settled, hand.settlement = True, payload["settlement"]
        for what in hand.in_doubt():
            self.problem("unasked", f"Hand {hand.number} settled with {what}.")
        if self._surely_wrong(hand):
            self.counts["shown_surely_misread"] += 1
        expected = settle_json({**hand.to_json(), **self._own_rules})
        if expected != payload["settlement"]:
            self.problem("otherwise", f"Hand {hand.number}: the rules settle the recorded cards otherwise.")

    def _wrong(self, hand: AuditedHand) -> list[Card]:
        """Return the recorded cards that differ from those that were set."""
        dealt = self.dealt.get(hand.number)
        if dealt is None:
            return []
        return [
            card
            for seat in hand.compared_seats
            for row in SIZES
            for card in hand.row(seat, row)
            if card.card not in dealt.rows[seat][row]
        ]

    def _surely_wrong(self, hand: AuditedHand) -> bool:
        return any(not card.is_named for card in self._wrong(hand))

    def _hand_archived(self, _: Mapping[str, Any]) -> None:
        hand = self._open
        self._end(hand, "settled")
        if not hand.settled or hand.settlement is None:
            self.problem("lost", f"Hand {hand.number} was archived unsettled.")
            return
        self._stacks |= hand.settlement.get("stacks", {})
        player = {seat["seat"]: seat["player"] for seat in hand.opened["seats"]}
        self._fantasyland = {
            name: cards for name, cards in self._fantasyland.items() if name not in player.values()
        }
        for one in hand.settlement.get("hands", ()):
            if one["fantasyland_next"]:
                self._fantasyland[player[one["seat"]]] = one.get("fantasyland_cards", 13)
        self._compare(hand)

    def _compare(self, hand: AuditedHand) -> None:
        """Count whether the cards and the puck of an archived hand are those that were dealt."""
        wrong = self._wrong(hand)
        dealt = self.dealt.get(hand.number)
        if any(not card.is_named for card in wrong):
            self.counts["ended_surely_misread"] += 1
        elif wrong:
            self.counts["ended_as_dealer_said_wrongly"] += 1
        elif dealt is not None and dealt.puck not in (None, hand.puck):
            self.counts["ended_with_another_button"] += 1
        elif dealt is not None:
            self.counts["ended_as_dealt"] += 1
        else:
            self.problem("unasked", f"Hand {hand.number} settled, and nobody had dealt it.")

    def _hand_voided(self, _: Mapping[str, Any]) -> None:
        self._end(self._open, "voided")

    def _hand_misdealt(self, _: Mapping[str, Any]) -> None:
        self._end(self._open, "voided")

    # between hands

    def _stack_counted(self, payload: Mapping[str, Any]) -> None:
        self._stacks[payload["player"]] = payload["stack"]

    def _end(self, hand: AuditedHand, how: str) -> None:
        if hand.ended:
            self.problem("twice", f"Hand {hand.number} ended twice: {hand.ended}, then {how}.")
        hand.ended = how
        self.counts[how] += 1

    @property
    def _open(self) -> AuditedHand:
        """The hand on the table; an empty one, number 0, before the first."""
        if self._hand is None:
            self._hand = AuditedHand(0, {"seats": []}, None)
        return self._hand


def _agrees(type_: str, row: Mapping[str, Any], command: Mapping[str, Any]) -> bool:
    """Return whether a row is what a command requested."""
    if type_ not in EVENTS_OF.get(command["do"], ()):
        return False
    payload = dict(row)
    if type_ == "row_keyed":
        payload["cards"] = " ".join(row["cards"])
    return all(payload.get(key) == value for key, value in command.items() if key in payload)
