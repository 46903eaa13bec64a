"""What was sent to tables stands on the pit's pages, for those who may send; they withdraw it."""

from __future__ import annotations

import pytest

from firmware.messages import Message
from firmware.update.house import HouseFile
from firmware.uplink.inbox.requests import FileRequest
from pit.authority import Authority
from pit.files.offers import HouseRepository, offer
from pit.files.requests import ask, keep_progress
from pit.pages.people import PitRole
from tests.pit.files.conftest import PROFILE, ended_by
from tests.pit.files.rig import state_of
from tests.pit.pages.conftest import House

HAND = Message("A hand lies on the table.")
KEEPERS = {PitRole.TECHNICIAN, PitRole.OWNER}


def sent(house: House) -> HouseFile:
    """Send a profile to table 1; it waits there."""
    folder = house.felts[0].folder.parent
    path = folder / "friday.toml"
    path.write_text(PROFILE)
    one = offer(house.database, HouseRepository(folder, Authority(folder / "authority")), path, "Ines")
    with house.database.transaction() as connection:
        number = ask(connection, 1, one.sha256, "Ines")
        keep_progress(connection, 1, "", [FileRequest(number, one.sha256, "waiting", HAND)])
    return one


@pytest.mark.parametrize("role", list(PitRole))
def test_what_was_sent_is_shown_to_those_who_may_send(house: House, role: PitRole) -> None:
    sent(house)
    client = house.logged_in(role)
    for page in ("/tables", "/tables/1"):
        text = client.get(page).text
        assert ("friday-game" in text) == (role in KEEPERS), page
        assert ("A hand lies on the table." in text) == (role in KEEPERS)
    assert "friday-game" not in client.get("/tables/2").text


@pytest.mark.parametrize("role", list(PitRole))
def test_only_those_who_may_send_withdraw_and_it_is_recorded(house: House, role: PitRole) -> None:
    one = sent(house)
    client = house.logged_in(role)
    form = {"token": house.token(), "at": "table"}
    at = f"/tables/1/files/{one.sha256}"
    answer = client.post(at, data=form, headers={"Origin": "http://localhost"})
    with house.database.transaction() as connection:
        now = state_of(connection, 1, one.sha256)
        assert now is not None
        by = ended_by(connection, now)
    if role not in KEEPERS:
        assert (answer.status_code, now.state) == (403, "waiting")
        return
    assert (answer.status_code, answer.headers["Location"]) == (303, "/tables/1#files")
    assert (now.state, by) == ("withdrawn", role.value.capitalize())
    assert (role.value.capitalize(), "files.withdraw", None, None) in house.acts()
    assert client.post(at, data=form, headers={"Origin": "http://localhost"}).status_code == 409
    assert client.post(at, data={}, headers={"Origin": "http://localhost"}).status_code == 403
    bad = client.post("/tables/1/files/x", data=form, headers={"Origin": "http://localhost"})
    assert bad.status_code == 404
