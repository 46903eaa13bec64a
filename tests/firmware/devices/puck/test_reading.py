"""How sweeps of the antennas are judged, and when nothing is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.devices.errors import DeviceError, DeviceSettings
from firmware.devices.puck.reading import NO_DISK, Disks, PuckState, Sweep, Tracker, judge

DEALER, ACTION, SPARE, STRANGER = "04D1A2B3C4E580", "04AC71B2C3E580", "04D2000000E580", "0499887766E580"
DISKS = Disks(frozenset({DEALER, SPARE}), frozenset({ACTION}))
SEATS = frozenset({1, 2, 3, 4, 5})


def sweep(*tags: tuple[int, str], dead: frozenset[int] = frozenset()) -> Sweep:
    return Sweep(frozenset(tags), SEATS - dead)


def test_both_disks_at_one_seat_are_that_seat() -> None:
    reading = judge(sweep((3, DEALER), (3, ACTION)), DISKS, SEATS, at=7.0)
    assert (reading.state, reading.seat, reading.detail, reading.at) == (PuckState.SEAT, 3, "", 7.0)
    assert reading.readers_ok == SEATS


def test_the_dealer_disk_alone_is_a_seat_and_the_missing_disk_is_named() -> None:
    reading = judge(sweep((3, DEALER)), DISKS, SEATS, 0.0)
    assert (reading.state, reading.seat) == (PuckState.SEAT, 3)
    assert "action disk is not seen" in str(reading.detail)


def test_a_house_with_one_disk_is_not_told_that_the_other_is_missing() -> None:
    assert judge(sweep((3, DEALER)), Disks(frozenset({DEALER})), SEATS, 0.0).detail == ""


def test_no_disk_anywhere_is_none() -> None:
    assert judge(sweep(), DISKS, SEATS, 0.0).state is PuckState.NONE


def test_the_action_disk_alone_is_no_button() -> None:
    reading = judge(sweep((2, ACTION)), DISKS, SEATS, 0.0)
    assert (reading.state, reading.seat, reading.action_at) == (PuckState.NONE, None, (2,))
    assert "seat 2" in str(reading.detail)


def test_disks_apart_are_shown_and_nothing_is_picked() -> None:
    reading = judge(sweep((2, DEALER), (4, ACTION)), DISKS, SEATS, 0.0)
    assert (reading.state, reading.seat) == (PuckState.APART, None)
    assert (reading.dealer_at, reading.action_at) == ((2,), (4,))


@pytest.mark.parametrize(
    "tags", [((1, DEALER), (4, DEALER)), ((1, DEALER), (4, SPARE)), ((1, ACTION), (4, ACTION))]
)
def test_one_disk_at_two_seats_is_ambiguous(tags: tuple[tuple[int, str], ...]) -> None:
    reading = judge(sweep(*tags), DISKS, SEATS, 0.0)
    assert (reading.state, reading.seat) == (PuckState.AMBIGUOUS, None)
    assert "seats 1 and 4" in str(reading.detail)


def test_a_dead_reader_is_shown_as_unknown_where_it_may_hide_the_disk() -> None:
    reading = judge(sweep(dead=frozenset({3})), DISKS, SEATS, 0.0)
    assert (reading.state, reading.seat, reading.readers_ok) == (PuckState.UNKNOWN, None, SEATS - {3})
    assert "seat 3" in str(reading.detail)


def test_a_dead_reader_is_named_but_does_not_hide_a_disk_seen_elsewhere() -> None:
    reading = judge(sweep((1, DEALER), (1, ACTION), dead=frozenset({3})), DISKS, SEATS, 0.0)
    assert (reading.state, reading.seat) == (PuckState.SEAT, 1)
    assert "seat 3" in str(reading.detail)


def test_all_antennas_dead_is_a_fault() -> None:
    assert judge(sweep(dead=SEATS), DISKS, SEATS, 0.0).state is PuckState.FAULT


def test_a_seat_that_the_table_does_not_have_is_a_fault() -> None:
    reading = judge(Sweep(frozenset({(6, DEALER)}), SEATS | {6}), DISKS, SEATS, 0.0)
    assert (reading.state, reading.seat) == (PuckState.FAULT, None)


def test_an_unknown_tag_is_reported_and_not_used() -> None:
    alone = judge(sweep((2, STRANGER)), DISKS, SEATS, 0.0)
    assert (alone.state, alone.strangers) == (PuckState.NONE, ((2, STRANGER),))
    beside = judge(sweep((2, STRANGER), (5, DEALER), (5, ACTION)), DISKS, SEATS, 0.0)
    assert (beside.state, beside.seat) == (PuckState.SEAT, 5)
    assert STRANGER in str(beside.detail)


tags = st.frozensets(st.tuples(st.integers(1, 6), st.sampled_from([DEALER, ACTION, SPARE, STRANGER])))


@given(tags, st.frozensets(st.integers(1, 6)))
def test_a_seat_is_named_only_where_every_dealer_disk_lies(
    found: frozenset[tuple[int, str]], ok: frozenset[int]
) -> None:
    reading = judge(Sweep(found, ok), DISKS, SEATS, 0.0)
    dealer_seats = {seat for seat, tag in found if tag in DISKS.dealer}
    assert (reading.seat is not None) == (reading.state is PuckState.SEAT)
    if reading.seat is not None:
        assert dealer_seats == {reading.seat}
        assert {seat for seat, tag in found if tag == ACTION} <= {reading.seat}
    if reading.state is PuckState.NONE:
        assert not dealer_seats
        assert ok >= SEATS
    if reading.state is not PuckState.SEAT:
        assert reading.detail or reading.state is PuckState.NONE


def tracker() -> Tracker:
    return Tracker(DISKS, SEATS)


AT_2, AT_4 = sweep((2, DEALER), (2, ACTION)), sweep((4, DEALER), (4, ACTION))


def test_what_is_known_is_not_asked_for_again_however_long_the_box_has_run() -> None:
    t, day = tracker(), 86_400.0
    t.receive(AT_2, day)
    t.receive(AT_2, day + 0.1)
    assert [t.receive(AT_2, day + 0.2), t.receive(AT_2, day + 0.3)] == [False, False]


def test_one_sweep_alone_moves_nothing() -> None:
    t = tracker()
    assert t.receive(AT_2, 0.0) is True
    assert t.reading(0.0, "why").state is PuckState.UNKNOWN
    assert t.receive(AT_2, 0.1) is False
    assert t.reading(0.1, "why").seat == 2
    assert t.receive(AT_4, 0.2) is True
    assert t.reading(0.2, "why").seat == 2
    t.receive(AT_2, 0.3)
    t.receive(AT_4, 0.4)
    assert t.reading(0.4, "why").seat == 2
    t.receive(AT_4, 0.5)
    assert t.reading(0.5, "why").seat == 4


def test_stale_is_unknown_and_one_late_sweep_does_not_bring_it_back() -> None:
    t = tracker()
    t.receive(AT_2, 0.0)
    t.receive(AT_2, 0.5)
    assert t.reading(2.0, "why").seat == 2
    stale = t.reading(2.01, "silence")
    assert (stale.state, stale.seat, stale.detail, stale.readers_ok) == (
        PuckState.UNKNOWN,
        None,
        "silence",
        frozenset(),
    )
    t.receive(AT_2, 3.0)
    assert t.reading(3.0, "why").state is PuckState.UNKNOWN
    t.receive(AT_2, 3.5)
    assert t.reading(3.5, "why").seat == 2


def test_a_contested_reading_goes_stale() -> None:
    t = tracker()
    for at in (0.0, 0.5):
        t.receive(AT_2, at)
    for turn in range(4):
        t.receive(AT_4 if turn % 2 else sweep(), 0.9 + turn * 0.5)
    assert t.reading(2.4, "why").state is PuckState.UNKNOWN


def test_a_forgotten_reading_is_unknown_at_once() -> None:
    t = tracker()
    t.receive(AT_2, 0.0)
    t.receive(AT_2, 0.5)
    t.forget()
    assert t.reading(0.5, "gone").detail == "gone"


@pytest.mark.parametrize("dealer", [{"xyz"}, {"04"}, {"04A"}, {ACTION}])
def test_disks_described_wrongly_are_refused_with_a_sentence(dealer: set[str]) -> None:
    with pytest.raises(DeviceSettings, match=r"\.$") as caught:
        Disks(frozenset(dealer), frozenset({ACTION}))
    assert isinstance(caught.value, DeviceError)
    assert isinstance(caught.value, ValueError)


def test_without_a_dealer_disk_a_tag_is_told_and_no_seat_until_the_tag_is_named() -> None:
    at_2 = sweep((2, DEALER))
    t = Tracker(Disks(), SEATS)
    t.receive(at_2, 0.0)
    t.receive(at_2, 0.1)
    unnamed = t.reading(0.2, "")
    assert (unnamed.state, unnamed.seat, unnamed.strangers) == (PuckState.FAULT, None, ((2, DEALER),))
    assert unnamed.detail == NO_DISK
    t.use(Disks(frozenset({DEALER})))
    named = t.reading(0.2, "")
    assert (named.state, named.seat, named.ours) == (PuckState.SEAT, 2, ((2, DEALER),))


def test_tag_ids_may_be_written_with_colons_and_small_letters() -> None:
    assert Disks(frozenset({"04:d1:a2:b3:c4:e5:80"})).dealer == {DEALER}


@pytest.mark.parametrize("seats", [(), (0, 1)])
def test_a_reader_without_seats_is_refused(seats: tuple[int, ...]) -> None:
    with pytest.raises(DeviceSettings):
        Tracker(DISKS, seats)
