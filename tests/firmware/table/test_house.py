"""What holds at the table from hand to hand: settings, seats, names and chips, as events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from firmware.record.journal.journal import Journal, JournalReader
from firmware.record.reopening import end_of_hand
from firmware.rules import load_profile, profile_names, profile_toml
from firmware.table import CommandRefused, Phase, State, TableError, apply, fold
from firmware.table import events as ev
from firmware.table.command import COMMAND_ROLES, parse_command
from firmware.table.decide import decide, step
from firmware.table.entry import content_hash
from firmware.table.events import canonical, parse
from firmware.table.house import House, house_now
from firmware.table.people import Role
from firmware.table.settings import FIELDS, HouseSeat, HouseSettings
from firmware.table.topics.house import SetHouse, profile_text
from firmware.table.topics.opening import open_hand

if TYPE_CHECKING:
    from tests.firmware.conftest import Deal

RULES = load_profile("washington-1-unit")
FACE_UP = load_profile("california-face-up")
"""Asks for a buy-in of 30 times the limit; a unit of 100 cents makes that $30."""


def house_of(rules: Any = RULES, stack: int | None = 10_000, count: int = 2) -> House:
    seats = tuple(ev.SeatOpened(n, f"p{n}", "ABCD"[n - 1], stack) for n in range(1, count + 1))
    text_hash = content_hash(profile_toml(rules).encode())
    return House(rules, rules.name, text_hash, 100, seats, table="1", language="en", written=rules)


class Table:
    """A table without devices: commands become events, and what was kept can be read."""

    def __init__(self, house: House, *events: ev.Event) -> None:
        self.configured = house
        self.kept = {house.profile_hash: profile_toml(house.written or house.rules).encode()}
        self.state: State = fold([*events, ev.TableStarted(house=house.settings)])

    @property
    def house(self) -> House:
        return house_now(self.configured, self.state.house, self.kept.get)

    def do(self, do: str, **fields: Any) -> State:
        command = parse_command(canonical({"do": do, **fields}))
        if isinstance(command, SetHouse) and (text := profile_text(command)):
            self.kept[content_hash(text.encode())] = text.encode()
        events = decide(self.state, command, self.house, self.house.rules)
        self.state, _ = step(self.state, events, self.house.rules)
        return self.state


@pytest.fixture
def table() -> Table:
    return Table(house_of())


@pytest.fixture
def face_up() -> Table:
    return Table(house_of(FACE_UP))


def players(state: State) -> list[str]:
    return [seat.player for seat in state.house.seats]


# ---- configured and said ----


def test_a_fresh_table_holds_what_is_configured(table: Table) -> None:
    assert table.state.house == house_of().settings
    assert table.house == house_of()
    assert open_hand(table.state, table.house).house == table.state.house


def test_what_is_said_at_the_table_holds_over_a_configuration_that_changes_later(table: Table) -> None:
    table.do("set_house", unit=250, table=" 12 ", reason="another limit")
    later = replace(house_of(), unit=500, table="99", language="es")
    state = apply(table.state, ev.TableStarted(house=later.settings))
    assert (state.house.unit, state.house.table, state.house.language) == (250, "12", "es")
    assert state.house.said == ("table", "unit")


def test_every_setting_can_be_said_and_every_field_belongs_to_one() -> None:
    names = {name for names in FIELDS.values() for name in names}
    assert names | {"said"} == {f.name for f in HouseSettings.__dataclass_fields__.values()}


def test_the_next_hand_opens_with_what_was_set_and_carries_it(table: Table) -> None:
    table.do("set_house", profile="california-face-up", unit=250, reason="the face-up game")
    assert table.house.rules == FACE_UP
    hand = open_hand(table.state, table.house)
    assert (hand.profile, hand.unit) == (FACE_UP.name, 250)
    assert table.kept[hand.profile_hash] == profile_toml(FACE_UP).encode()
    assert fold([hand]).house == table.state.house, "recovery begins at the opened hand"


def test_a_journal_of_an_earlier_release_folds_as_before(deal: Deal) -> None:
    seats = '[{"seat":1,"player":"a","place":"A"},{"seat":2,"player":"b","place":"B"}]'
    text = f'{{"hand":1,"profile":"p","profile_hash":"h","unit":5,"seats":{seats}}}'
    assert (
        fold([parse("table_started", '{"software":"0.1"}'), parse("hand_opened", text)]).house
        == HouseSettings()
    )
    assert house_now(house_of(), HouseSettings(), lambda _: None) == house_of()


def test_options_alone_change_the_profile_that_is_played(table: Table) -> None:
    table.do("set_house", options={"foul.points": 6}, reason="the house's own")
    assert table.house.rules.foul.points == 6
    table.do("set_house", options={}, reason="as it is written")
    assert table.house.rules == RULES


def test_a_houses_own_profile_is_set_as_text_and_kept_whole(table: Table) -> None:
    text = '[profile]\nname = "ours"\nextends = "washington-1-unit"\n[foul]\npoints = 9\n'
    table.do("set_house", profile_text=text, reason="our rules")
    assert (table.house.profile, table.house.rules.foul.points) == ("ours", 9)
    assert b"extends" not in table.kept[table.house.profile_hash]


@pytest.mark.parametrize("name", profile_names())
def test_every_packaged_profile_can_be_set(table: Table, name: str) -> None:
    table.do("set_house", profile=name, reason="another game")
    assert table.house.rules == load_profile(name)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "Nothing is set"),
        ({"profile": "nope"}, 'no profile "nope"'),
        ({"profile": "../etc/house.toml"}, "whole text"),
        ({"profile_text": '[profile]\nname = "x"\nextends = "/etc/house.toml"'}, "whole text"),
        ({"profile_text": "["}, "not TOML"),
        ({"profile_text": '[profile]\nname = "x"'}, "missing"),
        ({"profile": "traditional", "profile_text": "x"}, "not both"),
        ({"options": {"foul.pints": 6}}, "did you mean foul.points"),
        ({"options": {"foul.points": "six"}}, "whole number"),
        ({"profile": "clean-sweep-online", "unit": 10**9}, None),
        ({"seats": [{"seat": 6, "player": "x"}]}, "no seat 6"),
        ({"seats": [{"seat": 1, "player": "x"}, {"seat": 1, "player": "y"}]}, "Two players are at seat 1"),
        (
            {"seats": [{"seat": 1, "player": "x", "place": "A"}, {"seat": 2, "player": "y", "place": "A"}]},
            "place A",
        ),
        ({"seats": [{"seat": 1, "player": "p1", "stack": 1}]}, "has a stack already"),
        ({"seats": [{"seat": 1, "player": " "}]}, "1 to 40 letters"),
        ({"unit": 0}, "greater than or equal"),
        ({"language": "../x"}, "match pattern"),
        ({"table": "x" * 21}, "at most 20"),
        ({"table": "0"}, "1 to 9999"),
        ({"table": "99999999999999"}, "1 to 9999"),
        ({"table": "9999"}, None),
        ({"table": "Main 3"}, None),
    ],
)
def test_a_setting_that_will_not_do_is_refused_and_nothing_changes(
    table: Table, fields: dict[str, Any], why: str | None
) -> None:
    before = table.state
    if why is None:
        table.do("set_house", reason="x", **fields)
        return
    with pytest.raises(CommandRefused, match=why):
        table.do("set_house", reason="x", **fields)
    assert table.state == before


def test_a_unit_above_what_the_profile_allows_is_refused(table: Table) -> None:
    most = next(load_profile(n) for n in profile_names() if load_profile(n).limits.max_unit)
    with pytest.raises(CommandRefused, match="allows at most"):
        table.do("set_house", profile=most.name, unit=most.limits.max_unit + 1, reason="x")
    table.do("set_house", profile="california-face-up", unit=most.limits.max_unit + 1, reason="x")
    with pytest.raises(CommandRefused, match="allows at most"):
        table.do("set_house", profile=most.name, reason="x")


def test_a_setting_needs_a_reason(table: Table) -> None:
    with pytest.raises(CommandRefused, match="Say why"):
        table.do("set_house", unit=5, reason=" ")


def test_a_profile_that_is_missing_from_the_record_opens_no_hand(table: Table) -> None:
    table.do("set_house", profile="traditional", reason="x")
    del table.kept[table.state.house.profile_hash]
    with pytest.raises(TableError, match="missing"):
        _ = table.house
    table.kept[table.state.house.profile_hash] = b"\xff"
    with pytest.raises(TableError, match="cannot be used"):
        _ = table.house


def test_all_seats_are_set_at_once_and_who_is_gone_takes_their_chips(table: Table) -> None:
    seats = [{"seat": 2, "player": "p2", "place": "B"}, {"seat": 4, "player": "Ann", "stack": 5_000}]
    state = table.do("set_house", seats=seats, reason="a new game")
    assert players(state) == ["p2", "Ann"]
    table.do("next")
    assert table.state.stacks == {"p2": 10_000, "Ann": 5_000}


# ---- seats ----


def test_a_player_takes_a_free_seat_with_its_own_place_and_buys_in(table: Table) -> None:
    table.do("seat_player", seat=4, player="  Ann  Lee ", stack=20_000)
    assert table.state.house.seats[-1] == HouseSeat(4, "Ann Lee", "C", 20_000)
    hand = open_hand(table.state, table.house)
    assert [(seat.seat, seat.player, seat.stack) for seat in hand.seats][-1] == (4, "Ann Lee", 20_000)


def test_a_player_who_sits_changes_seats_with_their_chips(table: Table) -> None:
    table.do("count_stack", player="p1", stack=7_777, reason="counted")
    table.do("seat_player", seat=3, player="p1")
    assert [(seat.seat, seat.player, seat.place) for seat in table.state.house.seats] == [
        (2, "p2", "B"),
        (3, "p1", "C"),
    ]
    assert open_hand(table.state, table.house).stacks["p1"] == 7_777


@pytest.mark.parametrize("order", [(4, 5), (5, 4)])
def test_who_sits_down_has_the_place_before_their_seat_on_the_cloth_in_whatever_order_they_come(
    table: Table, order: tuple[int, ...]
) -> None:
    for seat in order:
        table.do("seat_player", seat=seat, player=f"p{seat}", stack=10_000)
    assert {seat.seat: seat.place for seat in table.state.house.seats} == {1: "A", 2: "B", 4: "C", 5: "D"}


def test_five_players_share_four_places(table: Table) -> None:
    for seat in (3, 4, 5):
        table.do("seat_player", seat=seat, player=f"p{seat}", stack=10_000)
    assert table.state.house.seats[-1].place == ""
    assert len({seat.place for seat in open_hand(table.state, table.house).seats}) == 4


def test_who_leaves_takes_everything_and_the_hand_goes_on_without_them(table: Table) -> None:
    table.do("seat_player", seat=3, player="p3", stack=10_000)
    table.do("sit_out", player="p1")
    state = table.do("leave_seat", player="p1")
    assert players(state) == ["p2", "p3"]
    assert "p1" not in state.sits_out
    assert open_hand(table.state, table.house).stacks == {"p2": 10_000, "p3": 10_000}
    with pytest.raises(CommandRefused, match="no player"):
        table.do("leave_seat", player="p1")


def test_a_table_that_everybody_has_left_says_that_it_needs_players(table: Table) -> None:
    table.do("leave_seat", player="p1")
    table.do("leave_seat", player="p2")
    with pytest.raises(CommandRefused, match="Nobody sits"):
        table.do("next")


@pytest.mark.parametrize(
    ("do", "fields", "why"),
    [
        ("seat_player", {"seat": 2, "player": "Ann"}, "p2 sits at seat 2"),
        ("seat_player", {"seat": 0, "player": "Ann"}, "no seat 0"),
        ("seat_player", {"seat": -3, "player": "Ann"}, "no seat -3"),
        ("seat_player", {"seat": 3, "player": "Ann", "place": "B"}, "share place B"),
        ("seat_player", {"seat": 3, "player": "p1", "stack": 5}, "has a stack already"),
        ("seat_player", {"seat": 3, "player": "\n"}, "1 to 40 letters"),
        ("rename_player", {"player": "p1", "name": "p2"}, "a p2 at this table already"),
        ("rename_player", {"player": "nobody", "name": "Ann"}, "no player"),
        ("buy_in", {"player": "p1", "amount": 100}, "add to them"),
        ("buy_in", {"player": "nobody", "amount": 100}, "no player"),
        ("add_on", {"player": "p1", "amount": 0}, "greater than"),
    ],
)
def test_what_cannot_be_done_with_seats_is_said(
    table: Table, do: str, fields: dict[str, Any], why: str
) -> None:
    before = table.state
    with pytest.raises(CommandRefused, match=why):
        table.do(do, **fields)
    assert table.state == before


ALIKE = ["P1", "pl", "\u04401", "\uff50\uff11", "p\u200b1"]


@pytest.mark.parametrize("name", ALIKE)
def test_nobody_sits_down_under_a_name_that_looks_like_another_players(table: Table, name: str) -> None:
    for do, fields in (
        ("seat_player", {"seat": 3, "player": name}),
        ("rename_player", {"player": "p2", "name": name}),
        ("set_house", {"reason": "x", "seats": [{"seat": 1, "player": "p1"}, {"seat": 2, "player": name}]}),
        ("set_house", {"reason": "x", "seats": [{"seat": 1, "player": "Ann"}, {"seat": 2, "player": "ann"}]}),
    ):
        with pytest.raises(CommandRefused, match=r"looks like|can be seen"):
            table.do(do, **fields)
    assert players(table.state) == ["p1", "p2"]


def test_players_who_look_alike_since_an_earlier_release_stay_move_and_get_other_names(table: Table) -> None:
    table.state = fold([ev.PlayerRenamed("p2", "P1"), ev.PlayerRenamed("P1", "\u3164")], table.state)
    table.state = fold([ev.PlayerSeated(3, "P1", "C", 500)], table.state)
    assert table.do("seat_player", seat=4, player="P1", place="D").house.seats_of("P1")[0].seat == 4
    seats = [{"seat": one.seat, "player": one.player, "place": one.place} for one in table.state.house.seats]
    assert players(table.do("set_house", reason="same", seats=seats)) == ["p1", "\u3164", "P1"]
    assert "Bob" in players(table.do("rename_player", player="\u3164", name="Bob"))


def test_a_player_may_be_written_otherwise(table: Table) -> None:
    assert players(table.do("rename_player", player="p1", name="P1")) == ["P1", "p2"]


def test_two_seats_of_one_new_player_are_no_look_alikes(table: Table) -> None:
    seats = [{"seat": 1, "player": "Ann"}, {"seat": 2, "player": "Bob"}, {"seat": 3, "player": "Ann"}]
    assert players(table.do("set_house", reason="new", seats=seats)) == ["Ann", "Bob", "Ann"]


@pytest.mark.parametrize("number", ["\u3164", "7\u202e", "\u2800", "-"])
def test_a_tables_number_can_be_read(table: Table, number: str) -> None:
    with pytest.raises(CommandRefused, match="A name has"):
        table.do("set_house", reason="x", table=number)


@pytest.mark.parametrize(
    "about", ['name = "\u3164"', 'name = "own"\ntitle = "\u202eown"', 'name = "own"\ntitle = "-"']
)
def test_a_profile_that_shows_as_nothing_is_refused(table: Table, about: str) -> None:
    with pytest.raises(CommandRefused, match="A name has"):
        table.do("set_house", reason="x", profile_text=f'[profile]\n{about}\nextends = "washington-1-unit"\n')


def test_another_name_keeps_all_that_is_theirs(table: Table) -> None:
    state = replace(
        table.state,
        stacks={"p1": 5_000, "p2": 6_000},
        fantasyland={"p1": 15},
        sits_out=frozenset({"p1"}),
        passes=frozenset({"p1"}),
        paybacks=(ev.Payback(1, "p1", "p2", 100),),
    )
    after = apply(state, ev.PlayerRenamed("p1", "Ann"))
    assert players(after) == ["Ann", "p2"]
    assert after.stacks == {"Ann": 5_000, "p2": 6_000}
    assert after.fantasyland == {"Ann": 15}
    assert (after.sits_out, after.passes) == (frozenset({"Ann"}),) * 2
    assert after.paybacks[0].payer == "Ann"


# ---- chips ----


def test_the_table_holds_the_houses_limits(face_up: Table) -> None:
    with pytest.raises(CommandRefused, match=r"bring at least \$30"):
        face_up.do("seat_player", seat=3, player="Ann", stack=2_999)
    face_up.do("seat_player", seat=3, player="Ann", stack=3_000)
    face_up.do("add_on", player="Ann", amount=500)
    assert face_up.state.stacks["Ann"] == 3_500


def test_nobody_adds_beyond_the_houses_most(table: Table) -> None:
    table.do("set_house", options={"limits.max_stack": 150}, reason="the house's most")
    with pytest.raises(CommandRefused, match=r"add at most \$50"):
        table.do("add_on", player="p1", amount=5_001)
    table.do("add_on", player="p1", amount=5_000)
    assert table.state.stacks["p1"] == 15_000
    with pytest.raises(CommandRefused, match=r"more than the table's \$150"):
        table.do("seat_player", seat=3, player="Ann", stack=15_001)


def test_who_lost_everything_and_who_was_not_counted_may_buy_in(table: Table) -> None:
    table.do("count_stack", player="p1", stack=0, reason="lost it")
    assert table.do("buy_in", player="p1", amount=4_000).stacks["p1"] == 4_000
    table.do("seat_player", seat=3, player="Ann")
    with pytest.raises(CommandRefused, match="buy in"):
        table.do("add_on", player="Ann", amount=100)
    assert table.do("buy_in", player="Ann", amount=4_000).stacks["Ann"] == 4_000


@pytest.mark.parametrize(
    "event", [ev.AddedOn("p1", 100, 100), ev.PlayerLeft("p1", 1), ev.AddedOn("p1", -1, 9_999)]
)
def test_an_event_whose_sum_is_wrong_is_refused(table: Table, event: ev.Event) -> None:
    with pytest.raises(CommandRefused, match=r"add up|another stack"):
        apply(table.state, event)


@pytest.mark.parametrize(
    "do", ["set_house", "seat_player", "leave_seat", "rename_player", "buy_in", "add_on"]
)
def test_who_may_change_the_table(do: str) -> None:
    assert COMMAND_ROLES[do] == (
        {Role.FLOOR, Role.TECHNICIAN} if do == "set_house" else {Role.DEALER, Role.FLOOR}
    )


# ---- past hands ----


@pytest.fixture
def played(deal: Deal, tmp_path: Path) -> Iterator[tuple[Journal, JournalReader, Table]]:
    """Hand 1 settled and archived, hand 2 void after its cards were read; both of p1 and p2."""
    table = Table(house_of())
    journal = Journal(tmp_path)
    journal.append([ev.TableStarted(house=house_of().settings)], "test")
    for hand in (1, 2):
        events = [
            replace(deal.opened(hand), profile=RULES.name, house=table.state.house),
            *deal.until(Phase.REVIEW, ((1, "middle", 2),) if hand == 2 else ())[1:],
        ]
        table.state, followed = step(table.state, events, RULES)
        journal.append(events, "test", followed)
        end: ev.Event = ev.HandArchived() if hand == 1 else ev.HandVoided("a fight")
        table.state = apply(table.state, end)
        journal.append([end], "test")
    yield journal, JournalReader(tmp_path), table
    journal.close()


def reopen(table: Table, reader: JournalReader, hand: int) -> State:
    command = parse_command(canonical({"do": "reopen", "past": hand, "reason": "disputed"}))
    events = decide(table.state, command, table.house, RULES, lambda n: end_of_hand(reader, n))
    table.state, _ = step(table.state, events, RULES)
    return table.state


def test_a_void_hand_is_reopened_to_be_settled_after_all(
    played: tuple[Journal, JournalReader, Table], deal: Deal
) -> None:
    _, reader, table = played
    before = table.state
    state = reopen(table, reader, 2)
    assert (state.phase, state.settlement) == (Phase.REVIEW, None)
    assert [question.what for question in state.questions] == ["count"], "the card that was never named"
    table.do("key_row", seat=1, row="middle", cards=deal.rows[1]["middle"])
    assert table.state.phase is Phase.SETTLED
    after = table.do("next")
    assert (after.phase, after.hand, after.void_reason) == (Phase.ARCHIVED, 2, "")
    assert [(b.payer, b.winner, b.amount) for b in after.paybacks] == [("p2", "p1", 300)]
    assert after.stacks == before.stacks, "no chip has moved yet"
    assert table.do("mark_paid_back", number=1).stacks == {
        "p1": (before.stacks["p1"] or 0) + 300,
        "p2": (before.stacks["p2"] or 0) - 300,
    }


def test_what_was_doubtful_when_a_hand_was_voided_is_asked_when_it_is_reopened(
    played: tuple[Journal, JournalReader, Table], deal: Deal
) -> None:
    """Thirteen sure cards, and a back in a row that had its five: nobody has said what that row is."""
    journal, reader, table = played
    *before, taken = deal.until(Phase.REVIEW)
    assert isinstance(taken, ev.ReadingTaken)
    strange = replace(taken, things=(ev.Thing("back", 1, "middle"),))
    events = [replace(deal.opened(3), profile=RULES.name, house=table.state.house), *before[1:], strange]
    table.state, followed = step(table.state, events, RULES)
    assert [question.what for question in table.state.questions] == ["count"]
    events += [*followed, ev.HandVoided("a back in the middle")]
    table.state = apply(table.state, events[-1])
    journal.append(events, "test")
    state = reopen(table, reader, 3)
    assert (state.phase, [(q.what, q.row) for q in state.questions]) == (
        Phase.REVIEW,
        [("count", "middle")],
    )


def test_a_void_hand_that_is_void_again_changes_nothing(played: tuple[Journal, JournalReader, Table]) -> None:
    _, reader, table = played
    before = table.state
    reopen(table, reader, 2)
    after = table.do("void", reason="rightly so")
    assert after == before


def test_a_misdeal_is_not_reopened(played: tuple[Journal, JournalReader, Table], deal: Deal) -> None:
    journal, reader, table = played
    events = [deal.opened(3), ev.HandMisdealt("exposed")]
    table.state = fold(events, table.state)
    journal.append(events, "test")
    with pytest.raises(CommandRefused, match="nothing to correct"):
        reopen(table, reader, 3)


def test_what_a_reopened_hand_moves_follows_a_player_to_another_name(
    played: tuple[Journal, JournalReader, Table],
) -> None:
    journal, reader, table = played
    for event in (ev.PlayerRenamed("p1", "Ann"), ev.PlayerLeft("p2", table.state.stacks["p2"])):
        journal.append([event], "test")
        table.state = apply(table.state, event)
    journal.append([ev.PlayerSeated(2, "p2", "B", 500), ev.PlayerRenamed("p2", "Bob")], "test")
    table.state = fold([ev.PlayerSeated(2, "p2", "B", 500), ev.PlayerRenamed("p2", "Bob")], table.state)
    assert reopen(table, reader, 1).names == {"p1": "Ann"}, "the p2 of then has left; Bob is another"
    table.do("void", reason="marked cards")
    (back,) = table.state.paybacks
    assert (back.payer, back.winner) == ("Ann", "p2")
    table.do("mark_paid_back", number=1)
    assert table.state.stacks["Bob"] == 500


def test_settings_survive_a_kill_and_a_hand_that_was_reopened(
    played: tuple[Journal, JournalReader, Table],
) -> None:
    journal, reader, table = played
    for do, fields in (
        ("set_house", {"unit": 250, "reason": "x"}),
        ("seat_player", {"seat": 3, "player": "Ann", "stack": 900}),
    ):
        command = parse_command(canonical({"do": do, **fields}))
        events = decide(table.state, command, table.house, RULES)
        table.state = fold(events, table.state)
        journal.append(events, "test")
    assert reader.recover()[0] == table.state
    reopen(table, reader, 1)
    assert table.do("next").house.unit == 250
    hand = open_hand(table.state, table.house)
    journal.append([hand], "test")
    assert reader.recover()[0].house == table.state.house


def test_who_is_to_be_new_at_the_table_is_refused_where_they_sit_already(table: Table) -> None:
    before = table.state
    with pytest.raises(CommandRefused, match="p1 sits at seat 1 already"):
        table.do("seat_player", seat=5, player="p1", comes=True)
    assert table.state == before
    assert table.do("seat_player", seat=5, player="p1").house.seats_of("p1")[0].seat == 5
    assert table.do("seat_player", seat=1, player="p9", comes=True).house.seats_of("p9")[0].seat == 1
