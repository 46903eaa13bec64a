"""What the proof log finds rings on the floor page, in the metrics and in the alerts, until a person has seen to it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest

from dealer_ui.text.i18n import COOKIE as LANGUAGE
from dealer_ui.text.i18n import LANGUAGES
from firmware.record.evidence.anchors import sign_head
from firmware.record.evidence.signing import DeviceKey, fingerprint
from firmware.table import events as ev
from pit.log.keeper import Keeper
from pit.log.keys import accept_words
from pit.pages.floor import Floor
from pit.pages.people import PitRole
from pit.pages.tile import Band, Tile, Tone
from pit.store.database import Database
from tests.pit.log.conftest import set_back
from tests.pit.pages.conftest import House


@dataclass
class SigningHouse:
    """The house with a log, and table 1 that signs."""

    house: House
    keeper: Keeper
    key: DeviceKey

    def sign(self, key: DeviceKey | None = None) -> None:
        """Sign the head of table 1, as at a hand's end; it is sent, and the log looks at it."""
        felt, own = self.house.felts[0], key or self.key
        felt.say(ev.KeyAnnounced(own.public.hex()))
        seq, digest = felt.journal.head
        felt.say(sign_head(own, seq=seq, digest=digest, hands=1, wall_ms=1_790_000_000_000, table="1"))
        self.house.tables[0].send()
        self.keeper.turn()

    def tile(self) -> Tile:
        """The tile of table 1."""
        floor: Floor = self.house.app.extensions["feltwatch-pit"].live.now()
        return next(one.tile for one in floor.tiles if one.name == "Table 1")

    def metric(self, name: str) -> float:
        text = self.house.logged_in(PitRole.OWNER).get("/metrics").text
        return float(text.partition(f"\n{name} ")[2].partition("\n")[0])


@pytest.fixture
def signing(house: House, database: Database, tmp_path: Path) -> SigningHouse:
    return SigningHouse(house, Keeper(database, tmp_path / "own"), DeviceKey.open(tmp_path / "key"))


def test_a_table_is_red_until_somebody_has_compared_the_words_of_its_key(
    signing: SigningHouse, tmp_path: Path
) -> None:
    assert signing.tile().tone is not Tone.ALARM
    signing.sign()
    made = signing.tile()
    words = fingerprint(signing.key.public)
    assert (made.band, made.tone) == (Band.NOW, Tone.ALARM)
    assert "nobody has accepted" in str(made)
    assert words in signing.house.logged_in(PitRole.FLOOR).get("/").text
    assert signing.metric("feltwatch_pit_unaccepted_keys") == 1
    accept_words(signing.house.database, "Table 1", words)
    assert "nobody has accepted" not in str(signing.tile())
    assert signing.metric("feltwatch_pit_unaccepted_keys") == 0
    signing.sign(DeviceKey.open(tmp_path / "another card"))
    assert "nobody has accepted" in str(signing.tile())
    assert signing.metric("feltwatch_pit_unaccepted_keys") == 1


def test_a_signature_that_does_not_hold_is_red_for_ever(signing: SigningHouse) -> None:
    signing.sign()
    accept_words(signing.house.database, "Table 1", fingerprint(signing.key.public))
    felt = signing.house.felts[0]
    seq, digest = felt.journal.head
    good = sign_head(signing.key, seq=seq, digest=digest, hands=1, wall_ms=1_790_000_000_000, table="1")
    felt.say(ev.HeadSigned(**{**vars(good), "hands": 2}))
    signing.house.tables[0].send()
    signing.keeper.turn()
    assert "A signature in its record does not hold" in str(signing.tile())


def test_a_new_epoch_is_an_alarm_above_the_tiles_until_somebody_has_looked_into_it(
    signing: SigningHouse, owned: str, database: Database, tmp_path: Path
) -> None:
    house = signing.house
    signing.sign()
    accept_words(house.database, "Table 1", fingerprint(signing.key.public))
    signing.keeper.turn()
    signing.sign()
    floor = house.logged_in(PitRole.FLOOR)
    assert "new epoch" not in floor.get("/").text
    assert signing.metric("feltwatch_pit_log_epoch_unseen") == 0
    set_back(owned, 1)
    Keeper(database, tmp_path / "own").turn()

    live = house.app.extensions["feltwatch-pit"].live
    live._hour_at = float("-inf")  # ten seconds have passed
    said = {}
    for language in LANGUAGES:
        floor.set_cookie(LANGUAGE, language)
        said[language] = (
            unescape(floor.get("/").text).partition('class="trouble epoch">')[2].partition("<")[0]
        )
    assert "A new epoch of the pit's proof log began" in said["en"]
    assert len(set(said.values())) == len(LANGUAGES)
    message, _ = house.app.extensions["feltwatch-pit"].messages.text(live.now())
    assert "new epoch" in json.loads(message)["parts"]["sums"]
    assert signing.metric("feltwatch_pit_log_epoch_unseen") == 1

    form = {"token": house.token(), "epoch": "2"}
    assert floor.post("/proof/seen", data=form).status_code == 403
    auditor = house.logged_in(PitRole.AUDITOR)
    assert "I looked into it" in auditor.get("/proof").text
    assert auditor.post("/proof/seen", data=form | {"epoch": "1"}).status_code == 303
    assert "I looked into it" in auditor.get("/proof").text, "another epoch than the one that was shown"
    assert auditor.post("/proof/seen", data=form).status_code == 303
    assert "I looked into it" not in auditor.get("/proof").text
    live._hour_at = float("-inf")
    floor.set_cookie(LANGUAGE, "en")
    assert "new epoch" not in floor.get("/").text
    assert signing.metric("feltwatch_pit_log_epoch_unseen") == 0
    assert [what for _, what, *_ in house.acts() if what == "proof.seen"] == ["proof.seen"]
