"""The chips' drivers, register by register and bit by bit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.puck_reader import iso14443
from firmware.puck_reader.pn532 import Pn532, frame, mirror_bits, unframe
from firmware.puck_reader.puckd import Reader, ReaderFault
from firmware.puck_reader.rc522 import Rc522
from tests.examples import examples
from tests.firmware.puck_reader.chips import Bus, Chip, Pn532Chip, Rc522Chip, Tag

DEALER, ACTION = bytes.fromhex("04D1A2B3C4E580"), bytes.fromhex("04AC71B2C3E580")


def reader_of(chip: Chip, bus: Bus | None = None) -> Reader:
    bus = bus or Bus(chip)
    driver = Rc522 if isinstance(chip, Rc522Chip) else Pn532
    return driver(bus, chip.select, chip.reset, bus.sleep_ms)


def ids(*tags: bytes) -> set[str]:
    return {tag.hex().upper() for tag in tags}


@pytest.mark.parametrize(("data", "crc"), [("0000", "A01E"), ("1234", "26CF"), ("5000", "57CD")])
def test_the_checksum_of_type_a_has_the_standards_values(data: str, crc: str) -> None:
    assert iso14443.crc_a(bytes.fromhex(data)) == bytes.fromhex(crc)


@pytest.mark.parametrize("make", [Rc522Chip, Pn532Chip])
class TestBothDrivers:
    @pytest.mark.parametrize(
        "tags",
        [(), (DEALER,), (DEALER, ACTION), (bytes.fromhex("DEADBEEF"),), (bytes(range(10, 20)), DEALER)],
    )
    def test_all_tags_in_the_field_are_found_and_the_field_goes_off(
        self, make: type[Chip], tags: tuple[bytes, ...]
    ) -> None:
        chip = make(*map(Tag, tags))
        bus = Bus(chip)
        reader = reader_of(chip, bus)
        for _ in range(3):
            assert reader.scan() == ids(*tags)
            assert not chip.has_field()
        assert bus.fields_seen

    def test_several_chips_share_a_bus_and_one_field_is_on_at_a_time(self, make: type[Chip]) -> None:
        chips = [make(Tag(DEALER)), make(), make(Tag(ACTION))]
        bus = Bus(*chips)
        readers = [reader_of(chip, bus) for chip in chips]
        for _ in range(3):
            assert [reader.scan() for reader in readers] == [ids(DEALER), set(), ids(ACTION)]


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (Rc522Chip, "absent"),
        (Rc522Chip, "no field"),
        (Rc522Chip, "hung"),
        (Pn532Chip, "absent"),
        (Pn532Chip, "silent"),
        (Pn532Chip, "refuses"),
    ],
)
def test_a_faulty_chip_is_a_fault_with_the_field_off_and_works_again_when_mended(
    make: type[Chip], fault: str
) -> None:
    chip = make(Tag(DEALER))
    reader = reader_of(chip)
    assert reader.scan() == ids(DEALER)
    chip.fault = fault
    for _ in range(2):
        with pytest.raises(ReaderFault):
            reader.scan()
        assert not chip.has_field()
    chip.fault = ""
    assert reader.scan() == ids(DEALER)


tag_ids = st.lists(
    st.one_of(
        st.binary(min_size=4, max_size=4).filter(lambda uid: uid[0] != 0x88),
        st.binary(min_size=6, max_size=6).map(lambda rest: b"\x04" + rest).filter(lambda uid: uid[3] != 0x88),
    ),
    unique=True,
    max_size=4,
)


@examples(300)
@given(tag_ids, st.sampled_from(["frame", "id"]))
def test_an_rc522_tells_colliding_tags_apart_however_it_counts_collisions(
    tags: list[bytes], counts: str
) -> None:
    reader = reader_of(Rc522Chip(*map(Tag, tags), later_collisions_from=counts))
    assert reader.scan() == ids(*tags)


def test_an_rc522_scan_is_quick_enough_for_five_seats_in_a_sweep() -> None:
    chip = Rc522Chip(Tag(DEALER), Tag(ACTION))
    bus = Bus(chip)
    reader_of(chip, bus).scan()
    assert bus.slept_ms <= 12


def test_noise_in_an_rc522s_field_is_no_tag_and_no_fault() -> None:
    chip = Rc522Chip(Tag(DEALER))
    chip.fault = "noise"
    assert reader_of(chip).scan() == set()


def test_a_pn532_that_answers_nonsense_is_a_fault() -> None:
    chip = Pn532Chip(Tag(DEALER))
    chip.fault = "noise"
    with pytest.raises(ReaderFault, match="wrongly"):
        reader_of(chip).scan()


def test_a_pn532_is_configured_once_and_anew_after_a_fault() -> None:
    chip = Pn532Chip()
    reader = reader_of(chip)
    reader.scan()
    reader.scan()
    assert chip.configured == [b"\x14\x01\x17\x00", b"\x32\x05\xff\x01\x01"]
    chip.fault = "silent"
    with pytest.raises(ReaderFault):
        reader.scan()
    chip.fault = ""
    reader.scan()
    assert chip.all_configured == 2 * [b"\x14\x01\x17\x00", b"\x32\x05\xff\x01\x01"]


def test_pn532_frames_have_the_recorded_bytes() -> None:
    assert frame(b"\x4a\x02\x00") == bytes.fromhex("00 00 FF 04 FC D4 4A 02 00 E0 00")
    assert unframe(bytes.fromhex("00 00 FF 03 FD D5 4B 00 E0 00")) == b"\x4b\x00"
    assert mirror_bits(b"\x01\x80\x02") == b"\x80\x01\x40"


@given(st.binary(max_size=60))
def test_any_bytes_from_a_pn532_are_unframed_or_refused(line: bytes) -> None:
    body = unframe(line)
    assert body is None or len(body) >= 1
