"""What the dealer is asked, and that the answers offered are the right ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from dealer_ui.view.build import view
from dealer_ui.view.screen import Need
from firmware.table import Phase
from firmware.table import events as ev
from tests.dealer_ui.conftest import Lay
from tests.dealer_ui.felt import HANDS, SIX_PAIRS_DEALT, Felt


def asked(felt: Felt) -> tuple[Need, ...]:
    return view(felt.seq, felt.state, felt.rules).needs


def review(felt: Felt, **reading: object) -> None:
    felt.to_setting()
    felt.to_reading()
    felt.read(**reading)  # type: ignore[arg-type]


def test_an_unsure_card_comes_with_its_candidates_and_the_pad(felt: Felt) -> None:
    review(felt, unsure={(3, "middle", 1): ("Td", "Th", "Jd", "8d")})
    (need,) = asked(felt)
    assert (need.kind, need.place, need.row, need.index) == ("card", "C", "middle", 1)
    assert "2nd card from the left" in need.sentence
    assert [code for code, _ in need.candidates] == ["Td", "Th", "Jd"], "three are enough to choose from"
    assert need.rule == felt.rules.irregularities.unread_card
    assert need.pads[0].count == 1
    felt.do(**need.candidates[0][1].command)
    assert felt.state.phase is Phase.SETTLED


def test_an_unsure_card_without_candidates_asks_for_the_pad(felt: Felt) -> None:
    review(felt, unsure={(3, "middle", 1): ()})
    (need,) = asked(felt)
    assert need.candidates == ()
    assert need.pads[0].label == "Choose the card…"


def test_an_unsure_card_says_what_spoils_its_picture_and_not_what_spoils_anothers(felt: Felt) -> None:
    dark = {"ok": False, "figure": 28.0, "limit": 70.0, "text": "The picture is too dark: turn the lamps up."}
    glare = {**dark, "text": "Glare."}
    review(
        felt,
        unsure={(1, "front", 0): ("Qh",), (3, "middle", 1): ()},
        verdicts={"sharpness": {**dark, "ok": True}, "light": dark | {"where": "C middle"}, "glare": glare},
    )
    assert [need.sentence.partition("sees it. ")[2] for need in asked(felt)] == [
        "Glare.",
        "The picture is too dark: turn the lamps up.",
    ]


def test_an_unsure_card_shows_what_the_camera_saw(felt: Felt) -> None:
    row = felt.captures.save("000001/row.jpg", b"a picture of the row")
    frame = felt.captures.save("000001/frame.jpg", b"a picture of the table")
    corners = ((100.0, 100.0), (160.0, 100.0), (160.0, 190.0), (100.0, 190.0))
    review(felt, unsure={(1, "front", 0): ("Qh",)}, picture=row, frame=frame, corners=corners)
    enlarged, whole = asked(felt)[0].pictures
    assert whole.capture == row.name
    assert enlarged.capture == frame.name
    assert enlarged.crop is not None
    assert enlarged.mark == ""
    assert enlarged.crop.turn_deg == 0
    assert enlarged.crop.x <= 100 <= 160 <= enlarged.crop.x + enlarged.crop.width
    assert enlarged.crop.y <= 100 <= 190 <= enlarged.crop.y + enlarged.crop.height


def test_a_card_that_lies_upside_down_for_the_camera_is_shown_upright(felt: Felt) -> None:
    frame = felt.captures.save("000001/frame.jpg", b"a picture of the table")
    corners = ((160.0, 190.0), (100.0, 190.0), (100.0, 100.0), (160.0, 100.0))
    review(felt, unsure={(1, "front", 0): ("Qh",)}, frame=frame, corners=corners)
    crop = asked(felt)[0].pictures[0].crop
    assert crop is not None
    assert abs(crop.turn_deg) == 180


def test_a_row_with_a_wrong_count_can_be_keyed_whole(felt: Felt) -> None:
    felt.hands[4] = ("Js 3h 2s", "Th Tc 5h 5d 4c", "Qs Qc 7d 7s")
    review(felt)
    (need,) = asked(felt)
    assert need.kind == "count"
    assert need.title == "Seat 4 · back: 4 cards of 5"
    assert need.rule == felt.rules.irregularities.wrong_number_of_cards
    (pad,) = need.pads
    assert pad.count == 5
    felt.do(**pad.command, cards="Qs Qc 7d 7s Kc")
    assert felt.state.phase is Phase.SETTLED


def test_a_ghost_beside_a_whole_row_is_waved_off_with_one_touch(felt: Felt) -> None:
    felt.hands[4] = ("Js 3h 2s", "Th Tc 5h 5d 4c", "Qs Qc 2c 7d 7s Kc")
    review(felt, unsure={(4, "back", 2): ("2c",)})
    (need,) = asked(felt)
    assert need.title == "Seat 4 · back: 6 cards of 5"
    again, right = need.actions
    assert again.command["do"] == "look_again"
    assert right.command["cards"] == "Qs Qc 7d 7s Kc"
    felt.do(**right.command)
    assert felt.state.phase is Phase.SETTLED


def test_a_row_that_lacks_a_card_is_never_filled_by_one_touch(felt: Felt) -> None:
    felt.hands[4] = ("Js 3h 2s", "Th Tc 5h 5d 4c", "Qs Qc 7d 7s")
    review(felt)
    assert [action.command["do"] for action in asked(felt)[0].actions] == ["look_again"]


def test_a_dead_camera_asks_for_every_row_with_its_reason(felt: Felt) -> None:
    felt.to_setting()
    felt.to_reading()
    felt.say(ev.ReadingFailed("The camera gave no picture."))
    found = asked(felt)
    assert len(found) == 12
    assert found[0].sentence.startswith("The camera gave no picture.")


def test_a_card_seen_twice_is_one_question_with_both_spots(felt: Felt) -> None:
    felt.hands[4] = ("Js 3h 2s", "Th Tc 5h 5d 4c", "Qs Qc 7d 7s Ah")
    review(felt)
    (need,) = asked(felt)
    assert need.kind == "duplicate"
    assert need.title == "Ace of hearts: read twice"
    assert [pad.command["seat"] for pad in need.pads] == [1, 4]
    felt.do(**need.pads[1].command, card="Kc")
    assert felt.state.phase is Phase.SETTLED


def test_a_missing_button_is_asked_first_with_a_pad_of_seats(felt: Felt) -> None:
    felt.to_setting(button=None)
    need = asked(felt)[0]
    assert need.kind == "button"
    assert [choice.command["seat"] for choice in need.choices] == [1, 2, 3, 4, 5]
    assert "not playing" in need.choices[4].label
    felt.do(**need.choices[2].command)
    assert felt.state.button == 3
    assert asked(felt) == ()


@pytest.mark.parametrize("said", ["none", "unknown", "ambiguous", "apart", "fault"])
def test_the_question_for_the_button_says_why_the_puck_does_not_tell(felt: Felt, said: ev.PuckState) -> None:
    felt.deal()
    felt.say(ev.PuckSeen(said))
    felt.do("next")
    assert "puck" in asked(felt)[0].sentence or "disk" in asked(felt)[0].sentence


def test_the_readers_own_words_are_used_where_it_has_some(felt: Felt) -> None:
    felt.deal()
    felt.say(ev.PuckSeen("apart", None, "DEALER lies at seat 1, ACTION at seat 3."))
    felt.do("next")
    assert asked(felt)[0].sentence.startswith("DEALER lies at seat 1, ACTION at seat 3.")


@pytest.fixture
def six_pairs(lay: Lay) -> Felt:
    """Seat 1 holds six pairs."""
    felt = lay()
    felt.hands = dict(SIX_PAIRS_DEALT)
    felt.to_setting()
    return felt


def test_a_declared_natural_is_shown_with_its_verdict_and_confirmed_by_one_touch(six_pairs: Felt) -> None:
    felt = six_pairs
    felt.do("declare", seat=1)
    felt.to_reading()
    felt.read()
    (need,) = asked(felt)
    assert need.title == "Seat 1 · Six pairs"
    assert ("Worth", "3 points") in need.facts
    accept = need.actions[-1]
    assert (accept.lamp, accept.hold) == ("green", False)
    felt.do(**accept.command)
    assert felt.state.phase is Phase.SETTLED


def test_a_declaration_that_the_cards_do_not_bear_out_asks_for_press_and_hold(six_pairs: Felt) -> None:
    felt = six_pairs
    felt.do("declare", seat=2)
    felt.to_reading()
    felt.read()
    (need,) = asked(felt)
    assert need.title == "Seat 2 · no natural"
    assert need.actions[-1].hold
    assert "plays as it is set" in need.rule


def test_naturals_come_one_after_another_in_settling_order(six_pairs: Felt) -> None:
    felt = six_pairs
    felt.do("declare", seat=1)
    felt.do("declare", seat=3)
    felt.to_reading()
    felt.read()
    (need,) = asked(felt)
    assert need.place == "C", "the puck is at seat 2, so seat 3 settles before seat 1"
    assert ("After this", "1 more natural") in need.facts
    felt.do(**need.actions[-1].command)
    assert asked(felt)[0].place == "A"


def test_cards_are_asked_before_naturals(six_pairs: Felt) -> None:
    felt = six_pairs
    felt.do("declare", seat=1)
    felt.to_reading()
    felt.read({(4, "back", 0): ("Qs", "Ks")})
    assert [need.kind for need in asked(felt)] == ["card"]


def test_a_missing_button_leaves_the_seats_to_declare_until_the_cards_are_read(felt: Felt) -> None:
    felt.to_setting(button=None)
    screen = view(felt.seq, felt.state, felt.rules)
    assert screen.mode == "felt"
    assert screen.needs[0].kind == "button"
    assert all(seat.actions for seat in screen.seats)
    felt.to_reading()
    felt.read()
    assert view(felt.seq, felt.state, felt.rules).mode == "need"


def test_an_irregularity_shows_the_picture_with_the_place_marked_and_the_rule(felt: Felt) -> None:
    frame = felt.captures.save("000001/frame.jpg", b"a picture of the table")
    corners = ((100.0, 100.0), (160.0, 100.0), (160.0, 190.0), (100.0, 190.0))
    felt.rules = felt.rules.with_options({"deal.kind": "face_up"})
    felt.deal()
    felt.do("next")
    felt.say(ev.CardPlaced(3, "back", ev.CardReading("3d", 0.99, True)))
    seen = ev.CardReading("3h", 0.98, True, (), corners)
    felt.say(ev.IrregularitySeen(1, "card_changed", 3, "back", 0, "3d", seen=seen, frame=frame))
    (need,) = asked(felt)
    assert need.rule == felt.rules.irregularities.card_moved
    (picture,) = need.pictures
    assert picture.mark == "100,100 160,100 160,190 100,190"
    assert picture.crop is not None
    assert picture.crop.width >= 3 * 90, "what lies around it is seen too"
    assert picture.crop.y < 100 < 190 < picture.crop.y + picture.crop.height, "and all of the card itself"


def test_every_state_of_the_page_is_rendered(felt: Felt, client: FlaskClient) -> None:
    steps: list[Callable[[], object]] = [
        felt.deal,
        felt.go_on,
        lambda: felt.do("declare", seat=1),
        felt.go_on,
        felt.look,
        lambda: felt.read({(1, "back", 0): ("2h", "3h"), (4, "front", 1): ()}),
        lambda: felt.do("key_row", seat=1, row="back", cards=HANDS[1][2]),
        lambda: felt.do("set_card", seat=4, row="front", index=1, card="3h"),
        lambda: felt.do("confirm"),
        felt.pay,
        lambda: felt.do("archive"),
    ]
    for step in steps:
        step()
        with felt.answering():
            page = client.get("/")
        assert page.status_code == 200
        assert len(page.data) < 100_000
