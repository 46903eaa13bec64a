"""What is said apart from the language it is said in."""

from __future__ import annotations

import pickle

import pytest

from firmware.messages import Message, MessageError, all_of, join_words, one_of
from firmware.rules.errors import HandError, ProfileError
from firmware.table.checks import need_antenna
from firmware.table.errors import CommandNotAllowed, CommandRefused, JournalBusy
from firmware.uplink.errors import ForkError


def test_a_sentence_without_arguments_is_said_as_it_stands() -> None:
    assert str(Message("A disk 100% full.")) == "A disk 100% full."


def test_sentences_lie_within_sentences() -> None:
    said = Message("Not yet: %(open)s.", open=join_words([Message("an unsure card"), "this", 3]))
    assert str(said) == "Not yet: an unsure card, this, 3."
    assert str(all_of(["Ada", "Ben"])) == "Ada and Ben"
    assert one_of(["floor"]) == "floor"


def test_an_error_keeps_its_template_and_its_arguments_apart() -> None:
    with pytest.raises(CommandRefused) as refused:
        need_antenna(9)
    assert str(refused.value) == "There is no seat 9; seats are 1 to 5."
    said = refused.value.sentence
    assert said.refusal() == {
        "ok": False,
        "error": "There is no seat 9; seats are 1 to 5.",
        "message": "There is no seat %(seat)s; seats are %(first)s to %(last)s.",
        "args": {"seat": "9", "first": 1, "last": 5},
    }


def test_who_may_is_no_part_of_the_sentence() -> None:
    error = CommandNotAllowed("Enter %(name)s's PIN.", name="Moreno", roles=frozenset({"floor"}), wait_s=2.5)
    assert str(error) == "Enter Moreno's PIN."
    assert (error.roles, error.wait_s, error.sentence.args) == (frozenset({"floor"}), 2.5, {"name": "Moreno"})


def test_an_error_of_the_system_too_takes_a_template() -> None:
    assert str(JournalBusy("%(file)s is in use.", file="journal.sqlite")) == "journal.sqlite is in use."


@pytest.mark.parametrize(
    "error",
    [
        HandError("seats[1].front", "A front row has 3 cards."),
        ProfileError("A unit of 0 pays nothing.", key="unit", line=3),
        ForkError(7, "another hash"),
        CommandNotAllowed("Enter %(name)s's PIN.", name="Moreno", wait_s=2.5),
        JournalBusy("A disk 100% full."),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_arrives_whole_from_another_process(error: MessageError) -> None:
    """A pool whose worker's error cannot be unpickled is broken, and says nothing of the error."""
    arrived = pickle.loads(pickle.dumps(error))
    assert (type(arrived), str(arrived), vars(arrived)) == (type(error), str(error), vars(error))
