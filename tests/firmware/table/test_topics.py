"""An event and its command are one class each: nothing else has to name them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Literal

import pytest

from firmware.access.control import AccessControl
from firmware.access.pins import PinStore
from firmware.messages import Message
from firmware.rules import load_profile
from firmware.table import CommandRefused, Phase, State, UnknownEvent, apply
from firmware.table.command import COMMAND_ROLES, COMMANDS, Command, Context, command_adapter, parse_command
from firmware.table.decide import decide
from firmware.table.errors import CommandNotAllowed
from firmware.table.event import BY_TYPE, Event, parse, payload, stays
from firmware.table.house import House
from firmware.table.people import FLOOR, Person, Role
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.topics.settlement import PaymentMarked
from firmware.table.values import RecordDamage
from tests.firmware.conftest import Deal

HOUSE = House(load_profile("washington-1-unit"), "washington-1-unit", "", 100, ())


@pytest.fixture
def topic(monkeypatch: pytest.MonkeyPatch) -> tuple[type[Any], type[Command]]:
    """A topic of its own, known while a test runs."""
    for registry in (BY_TYPE, COMMANDS, COMMAND_ROLES):
        for name in ("deck_changed", "change_deck"):
            monkeypatch.setitem(registry, name, None)
            monkeypatch.delitem(registry, name)

    class DeckChanged(Event, leads=stays(BETWEEN_HANDS)):
        type = "deck_changed"
        title = Message("Deck changed")
        deck: str
        cards: int = 52

        def apply(self, state: State) -> State:
            if self.deck in state.recent:
                raise CommandRefused("That deck is on the table.")
            return replace(state, recent=(self.deck, *state.recent))

    class ChangeDeck(Command, roles=FLOOR):
        do: Literal["change_deck"] = "change_deck"
        deck: str

        def decide(self, context: Context) -> tuple[Event, ...]:
            return (DeckChanged(self.deck),)

    return DeckChanged, ChangeDeck


@pytest.mark.usefixtures("topic")
def test_a_new_command_is_parsed_and_decided_and_its_event_changes_the_state(deal: Deal) -> None:
    command = parse_command('{"do":"change_deck","deck":"red"}')
    (event,) = decide(deal.at(Phase.IDLE), command, HOUSE, HOUSE.rules)
    assert apply(deal.at(Phase.IDLE), event).recent == ("red",)
    with pytest.raises(CommandRefused, match=r"^That deck is on the table\.$"):
        apply(apply(deal.at(Phase.IDLE), event), event)


def test_a_new_event_is_written_and_read(topic: tuple[type[Any], type[Command]]) -> None:
    event = topic[0]("red", cards=54)
    assert payload(event) == '{"cards":54,"deck":"red"}'
    assert parse("deck_changed", '{"deck":"red","cards":54,"of_tomorrow":1}') == event
    assert parse("deck_changed", '{"deck":"red"}') == topic[0]("red")
    with pytest.raises(UnknownEvent, match="deck_changed"):
        parse("deck_changed", '{"deck":7}')


def test_a_new_event_is_refused_by_its_title_in_another_phase_and_during_a_record_fault(
    deal: Deal, topic: tuple[type[Any], type[Command]]
) -> None:
    with pytest.raises(CommandRefused, match=r"^Deck changed is not possible while the hand is in review\.$"):
        apply(deal.at(Phase.REVIEW), topic[0]("red"))
    doubtful = replace(deal.at(Phase.IDLE), record_fault=RecordDamage("short", 3, 4))
    with pytest.raises(CommandRefused, match="Nothing is played"):
        apply(doubtful, topic[0]("red"))


@pytest.mark.usefixtures("topic")
def test_a_new_command_is_open_to_its_own_roles_only(tmp_path: Any) -> None:
    class Record:
        state = State(people=(Person("Ada", Role.TECHNICIAN, "a-verifier"),), set_up=True)

        def write(self, events: Any, actor: str) -> int:
            raise AssertionError("nothing is written")

    assert COMMAND_ROLES["change_deck"] == {Role.FLOOR}
    with pytest.raises(CommandNotAllowed) as refused:
        AccessControl(PinStore(tmp_path)).authorize(
            parse_command('{"do":"change_deck","deck":"red"}'), Record()
        )
    assert refused.value.roles == {Role.FLOOR}


@pytest.mark.usefixtures("topic")
def test_a_new_command_is_in_the_schema_of_the_commands() -> None:
    assert "change_deck" in command_adapter().json_schema()["discriminator"]["mapping"]


def test_a_command_without_roles_is_nobodys() -> None:
    class NamelessCommand(Command):
        do: str = ""

    assert NamelessCommand.roles == frozenset()
    assert NamelessCommand not in COMMANDS.values()


def test_a_command_that_only_causes_an_event_gives_it_its_own_fields(deal: Deal) -> None:
    command = parse_command('{"do":"mark_paid","a":2,"b":1,"paid":false}')
    state = deal.at(Phase.SETTLED)
    assert decide(state, command, HOUSE, HOUSE.rules) == (PaymentMarked(2, 1, False),)


@pytest.mark.parametrize(
    "kind", [kind for kind in COMMANDS.values() if kind.causes], ids=lambda kind: kind.__name__
)
def test_a_command_has_every_field_of_the_event_that_it_only_causes(kind: type[Command]) -> None:
    assert kind.causes is not None
    assert {
        field.name for field in fields(kind.causes)
    } == kind.model_fields.keys() - Command.model_fields.keys()


def test_nothing_of_a_test_s_topic_stays_behind() -> None:
    assert not {"deck_changed", "change_deck"} & {*BY_TYPE, *COMMANDS, *COMMAND_ROLES}
    with pytest.raises(CommandRefused, match="no command this table knows"):
        parse_command('{"do":"change_deck","deck":"red"}')
