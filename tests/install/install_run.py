"""The box, from the first installation to the last: in a booted Debian of its own. `make test-install`.

One machine lives through all of it, so the tests stand in the order of its life and each goes on from the one before.
The puck reader is at the far end of a pty, the camera looks at pictures, there is no header: what a box without a
panel makes of that is part of it. The screen is a stand-in that tells what would be shown.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from dealer_ui.photo.codes import SECRET, Codes
from firmware.record.evidence.verify import verify
from firmware.record.journal import schema
from firmware.record.journal.journal import JournalReader
from firmware.table.phase import BETWEEN_HANDS, Phase
from tests.install.house import DEALS, configuration, draw
from tests.install.machine import (
    LONG,
    PAGE,
    Machine,
    another_release,
    base_tree,
    make_release,
    release_key,
    sign,
    why_not,
)

pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
    pytest.mark.timeout(2 * LONG),
]

REPOSITORY: Final = Path(__file__).parents[2]
KIOSK: Final = f"{PAGE}/?kiosk"
VIEW: Final = "srv/room/view.png"
PICTURE: Final = "srv/room/photograph.png"
UNITS: Final = "etc/systemd/system"
CONFIG: Final = "in_memory = true\n" + configuration("/srv/room/view.png", reading=60.0, reading_start=120.0)
"""The machine's disk is one in memory (`folder`)."""
FIRST, BETWEEN, SECOND, BROKEN = "1.0.0-first", "1.0.5-between", "1.1.0-second", "1.2.0-broken"
"""As their sources were made, one after the other. What was made between the first two is signed last."""
_LATER: Final = "ALTER TABLE journal ADD COLUMN shift TEXT NOT NULL DEFAULT '';"
_SCHEMA: Final = ("firmware/record/journal/schema.py", "APPLIED: Final = len(MIGRATIONS)\n")
_MORE: Final = f'MIGRATIONS = (*MIGRATIONS, "{_LATER}")\nAPPLIED: Final = len(MIGRATIONS)'
KNOWS: Final = (*_SCHEMA, f"{_MORE} - 1\n")
"""A release that knows a migration and does not apply it yet (`firmware.record.journal.schema`)."""
MIGRATES: Final = (*_SCHEMA, f"{_MORE}\n")
DIES: Final = (
    "firmware/cli/run.py",
    "        devices = open_devices(config)",
    '        from firmware.runtime.errors import AppError\n\n        raise AppError("a mistake")',
)
"""A release that migrates the record and then does not come up."""
GONE_SINCE: Final = "feltwatch-old.timer"
"""A unit that only the first release has, of a kind that no other is."""


@pytest.fixture(scope="module", autouse=True)
def knows_it_too() -> Iterator[None]:
    """What reads the box's record here is of a release that knows that migration, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, _LATER))
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk in memory: a machine writes 50,000 files."""
    folder = tmp_path_factory.mktemp("machine")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6G,mode=755", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture(scope="module")
def digests() -> dict[str, str]:
    """The SHA-256 of each release's archive."""
    return {}


@pytest.fixture(scope="module")
def box(folder: Path, digests: dict[str, str]) -> Iterator[Machine]:
    release = make_release(REPOSITORY, folder / "release")
    machine = Machine(folder / "root", base_tree(REPOSITORY / "build/install"))
    (ours,) = (release / "wheels").glob("feltwatch-*.whl")
    (pyserial,) = (release / "wheels").glob("pyserial-*.whl")
    machine.furnish(ours, pyserial)
    key = release_key(folder / "release")
    for name, later, edits in ((FIRST, 0, (KNOWS,)), (SECOND, 2, (KNOWS,)), (BROKEN, 3, (MIGRATES, DIES))):
        target = machine.root / "media" / name
        shutil.copytree(release, target, copy_function=os.link)
        if name == FIRST:
            (target / "system/units" / GONE_SINCE).write_text(
                "[Timer]\nOnBootSec=1y\nUnit=feltwatch-goback.service\n"
            )
        another_release(target, name, edits, later)
    made = int((release / "MADE").read_text())
    between = machine.root / "media" / BETWEEN
    between.mkdir()  # nobody takes it, so it is small
    (between / "RELEASE").write_text(f"{BETWEEN}\n")
    (between / "MADE").write_text(f"{made + 1}\n")
    for name in (SECOND, BROKEN, BETWEEN):
        target = machine.root / "media" / name
        digests[name] = sign(target, key, machine.root / "media" / f"{name}.signed").sha256
    machine.file("/etc/feltwatch/feltwatch.toml", CONFIG)
    lay(machine, {})
    machine.boot()
    yield machine
    machine.cut_power()


def lay(box: Machine, hands: dict[str, dict[str, str]]) -> None:
    """Let the camera see these hands."""
    draw(hands, box.root / VIEW)


def install(box: Machine, release: str) -> tuple[int, str]:
    done = box.run("bash", f"/media/{release}/install")
    return done.returncode, done.stdout + done.stderr


def releases(box: Machine) -> dict[str, str]:
    links = {name: (box.root / "opt/feltwatch" / name) for name in ("current", "previous")}
    return {name: link.readlink().name for name, link in links.items() if link.is_symlink()}


def placed(box: Machine) -> set[str]:
    """Our units where the service manager looks for them."""
    return {path.name for path in (box.root / UNITS).glob("feltwatch*") if path.suffix != ".d"}


def units(box: Machine, release: str) -> set[str]:
    """The units that a release brings."""
    return {path.name for path in (box.root / "media" / release / "system/units").iterdir()}


def update(box: Machine, release: str, *more: str) -> tuple[int, str]:
    done = box.run("feltwatch", "update", f"/media/{release}.signed", *more)
    return done.returncode, done.stdout + done.stderr


def keep(box: Machine, release: str) -> None:
    """Keep a release as it was made: it takes the box half a minute of its processor to make it again."""
    shutil.copytree(
        box.root / "opt/feltwatch/releases" / release,
        box.root / "srv/kept" / release,
        symlinks=True,
        copy_function=os.link,
    )


def bring_back(box: Machine, release: str) -> None:
    """Put a release that was kept where an installer that was cut off late would have left it."""
    releases = box.root / "opt/feltwatch/releases"
    releases.mkdir(parents=True, exist_ok=True)
    (box.root / "srv/kept" / release).rename(releases / release)


def play(box: Machine) -> int:
    """Play a hand until it is settled, or the open one on, touching the page; return its number."""
    reader = JournalReader(box.data)
    box.wait(lambda: reader.recover()[0].puck.seat == 1, "the puck's seat is known")
    state = reader.recover()[0]
    if state.phase is Phase.SETTLED:
        assert box.ask({"do": "archive"})[0] == 200
        state = reader.recover()[0]
    began = state.hand if state.phase in BETWEEN_HANDS else state.hand - 1
    if state.phase in BETWEEN_HANDS:
        lay(box, {})
    deadline = time.monotonic() + LONG
    while state.phase is not Phase.SETTLED or state.hand == began:
        assert time.monotonic() < deadline, f"{state}\n{box.log()}"
        assert not state.questions, state.questions
        if state.phase is Phase.SETTING:
            lay(box, DEALS[state.hand % 2])
        if state.phase in (Phase.SHOWDOWN, Phase.READING):
            time.sleep(0.1)
        else:
            order: dict[str, str | int] = {"do": "next"}
            if not state.dealer:
                order = {"do": "log_on", "person": "Robin"}
            elif state.puck_awaited:
                order = {"do": "keep_button", "seat": 1}  # nobody moves the puck in this room
            status, said = box.ask(order)
            assert status == 200, said
        state = reader.recover()[0]
    return state.hand


def whole(box: Machine) -> tuple[int, int]:
    """Check the record from its first row to its last; return its rows and hands."""
    found = verify(box.data)
    assert found.ok, found.problems
    return found.entries, found.hands


def test_a_bad_place_to_install_to_is_said_and_nothing_is_touched(box: Machine) -> None:
    done = box.run("setpriv", "--reuid=65534", "--clear-groups", "bash", f"/media/{FIRST}/install")
    assert done.returncode == 2
    assert box.run("bash", f"/media/{FIRST}/system/install").returncode == 2, "next to no wheels"
    assert not (box.root / "opt/feltwatch").exists()


def test_it_is_installed_without_a_network_and_runs(box: Machine) -> None:
    assert box.unit("nginx.service", "ActiveState") == "active", "Debian begins it with its package"
    code, said = install(box, FIRST)
    assert code == 0, said + box.log()
    assert box.unit("nginx.service", "ActiveState") == "inactive"
    assert "Not installed, and wanted for a whole table: apt-get install cage chromium" in said
    assert "Trusted from now on, by /etc/feltwatch/root.json: " in said
    assert releases(box) == {"current": FIRST}
    assert placed(box) == units(box, FIRST) > {GONE_SINCE}
    assert (box.root / "etc/feltwatch/feltwatch.toml").read_text() == CONFIG, "what the house wrote stays"
    for unit, user in (("table", "feltwatch-table"), ("ui", "feltwatch-ui"), ("kiosk", "feltwatch-kiosk")):
        assert box.unit(f"feltwatch-{unit}.service", "ActiveState") == "active", box.log()
        pid = box.unit(f"feltwatch-{unit}.service", "MainPID")
        assert box.run("stat", "--format=%U", f"/proc/{pid}").stdout.strip() == user
    assert box.shown() == KIOSK


def test_its_devices_are_open_and_a_header_that_is_not_there_is_a_fault_on_the_page(box: Machine) -> None:
    def settled() -> bool:
        state = JournalReader(box.data).recover()[0]
        return set(state.faults) == {"buttons"} and state.puck.seat == 1

    box.wait(settled, "puck reader and camera are open")
    status, said = box.ask({"do": "end_set_up", "skipped": True})
    assert status == 200, said
    assert "The push-buttons do not answer" in box.ask("/")[1]
    assert "No GPIO header was found" in box.ask("/health")[1]


def test_a_hand_is_played_through_the_page(box: Machine) -> None:
    box.run("runuser", "-u", "feltwatch-table", "--", "feltwatch", "people", "list", check=True)
    box.run("systemctl", "stop", "feltwatch-table.service", check=True)
    box.run(
        "runuser",
        "-u",
        "feltwatch-table",
        "--",
        "feltwatch",
        "people",
        "add",
        "Robin",
        "--role",
        "dealer",
        check=True,
    )
    box.run("systemctl", "start", "feltwatch-table.service", check=True)
    box.wait(box.is_up, "the page finds the table again")
    assert play(box) == 1
    assert whole(box)[1] == 1


def test_the_page_can_reach_no_network_and_write_nothing(box: Machine) -> None:
    pid = box.unit("feltwatch-ui.service", "MainPID")
    inside = ("nsenter", f"--target={pid}", "--mount", "--net", "--")
    links = box.run(*inside, "cat", "/proc/net/dev", check=True).stdout
    assert [line.split(":")[0].strip() for line in links.splitlines()[2:]] == ["lo"]
    assert box.run(*inside, "touch", "/var/lib/feltwatch/x").returncode != 0
    assert box.run(*inside, "touch", "/etc/x").returncode != 0


REVIEW: Final = """
import http.client, http.cookies, ssl, sys, urllib.parse
trusts = ssl.create_default_context(cafile="/var/lib/feltwatch-review/tls.crt")
trusts.check_hostname = False
def ask(method, path, body=None, **headers):
    line = http.client.HTTPSConnection("127.0.0.1", 8443, context=trusts, timeout=180)
    line.request(method, path, body, {"Accept": "text/html", **headers})
    answer = line.getresponse()
    return answer.status, answer.read().decode(), answer.headers
form = urllib.parse.urlencode({"name": "Ines", "passphrase": "seven brown horses"})
status, _, headers = ask("POST", "/log-in", form, **{"Content-Type": "application/x-www-form-urlencoded"})
cookie = headers.get("Set-Cookie", "").split(";")[0]
print(ask("GET", "/review")[0], status, *(ask("GET", way, Cookie=cookie)[0] for way in sys.argv[1:]))
"""
"""Read past hands as another machine would, but for the network between."""


def test_past_hands_are_shown_to_other_machines_once_the_house_opens_them(box: Machine) -> None:
    assert box.unit("feltwatch-review.socket", "ActiveState") == "inactive"
    add = "echo seven brown horses | feltwatch review add Ines && systemctl enable --now feltwatch-review.socket"
    told = box.run("bash", "-c", add, check=True).stdout
    assert "SHA-256 " in told
    ways = ("/review", "/review/1", "/report", "/view.json", "/events")
    said = box.run("python3", "-c", REVIEW, *ways, check=True).stdout
    assert said.split() == ["302", "303", "200", "404", "200", "404", "404"], "hand 1 lies on the table still"
    assert box.ask({"do": "archive"})[0] == 200
    said = box.run("python3", "-c", REVIEW, *ways, check=True).stdout
    assert said.split() == ["302", "303", "200", "200", "200", "404", "404"], box.log()
    page = inside(box, "feltwatch-review-page.service", "feltwatch-review")
    assert box.run(*page, "ls", "/var/lib/feltwatch/journal.sqlite").returncode == 0
    for hidden in ("/var/lib/feltwatch-key", "/var/lib/feltwatch/pins/x"):
        assert box.run(*page, "ls", hidden).returncode != 0
    for kept in ("/var/lib/feltwatch/x", "/var/lib/feltwatch-review/x"):
        assert box.run(*page, "touch", kept).returncode != 0
    families = box.unit("feltwatch-review-page.service", "RestrictAddressFamilies")
    assert families == "", "none (~ would be any): the table's socket is a Unix socket"
    page_then = box.unit("feltwatch-review-page.service", "MainPID")
    box.run("bash", "-c", f"kill -KILL {box.unit('feltwatch-review.service', 'MainPID')}", check=True)
    box.wait(lambda: box.run("python3", "-c", REVIEW, "/review").returncode == 0, "nginx is started again")
    assert box.unit("feltwatch-review-page.service", "MainPID") == page_then, (
        "anyone who has logged in stays so"
    )
    key = box.run("stat", "--format=%U %a", "/var/lib/feltwatch-review/tls.key", check=True).stdout
    assert key.split() == ["root", "600"], "the page has no use for it"
    front = inside(box, "feltwatch-review.service", "feltwatch-front")
    assert box.run(*front, "ls", "/run/feltwatch-review.sock").returncode == 0
    for hidden in ("/var/lib/feltwatch", "/var/lib/feltwatch-review", "/run/dbus"):
        assert box.run(*front, "ls", hidden).returncode != 0
    opened = ("feltwatch-review.socket", "feltwatch-review.service")
    box.run("systemctl", "disable", "--now", *opened, check=True)
    assert box.run("python3", "-c", REVIEW).returncode != 0
    behind = ("feltwatch-review-page.socket", "feltwatch-review-page.service")
    box.wait(
        lambda: all(box.unit(one, "ActiveState") == "inactive" for one in behind), "its page is closed, too"
    )


PHOTO: Final = """
import http.client, ssl, sys, urllib.parse
trusts = ssl.create_default_context(cafile="/var/lib/feltwatch-review/tls.crt")
trusts.check_hostname = False
def ask(method, path, body=None, **headers):
    line = http.client.HTTPSConnection("127.0.0.1", 8444, context=trusts, timeout=600)
    line.request(method, path, body, {"Accept": "text/html", **headers})
    answer = line.getresponse()
    return answer.status, answer.read(), answer.headers
said = [ask("GET", "/log-in")[0], ask("POST", "/picture", b"")[0]]
if sys.argv[1:]:
    form = urllib.parse.urlencode({"code": sys.argv[1]})
    status, _, headers = ask("POST", "/log-in", form, **{"Content-Type": "application/x-www-form-urlencoded"})
    cookie = headers.get("Set-Cookie", "").split(";")[0]
    sent = ask("POST", "/picture", open(sys.argv[2], "rb").read(), Cookie=cookie)
    said += [status, sent[0], ask("GET", "/photo.json", Cookie=cookie)[1].count(b'"candidates"')]
print(*said)
"""
"""Send a photograph as a phone would, but for the network between."""


def test_a_phone_may_send_a_photograph_once_the_house_opens_that_page(box: Machine) -> None:
    assert box.unit("feltwatch-photo.socket", "ActiveState") == "inactive"
    # It runs below everything else, which may be for ever next to other tests.
    quick = box.root / UNITS / "feltwatch-photo-page.service.d/quick.conf"
    quick.parent.mkdir()
    quick.write_text("[Service]\nNice=0\nCPUSchedulingPolicy=other\nCPUWeight=100\n")
    box.run("systemctl", "daemon-reload", check=True)
    box.run("systemctl", "enable", "--now", "feltwatch-photo.socket", check=True)
    said = box.run("python3", "-c", PHOTO, check=True).stdout
    assert said.split() == ["200", "401"], box.log()
    # as the page on the touchscreen reads it
    secret = ("runuser", "-u", "feltwatch-ui", "--", "base64", str(SECRET))
    codes = Codes(base64.b64decode(box.run(*secret, check=True).stdout))
    draw(DEALS[0], box.root / PICTURE)
    said = box.run("python3", "-c", PHOTO, codes.shown().code, f"/{PICTURE}", check=True).stdout
    assert said.split() == ["200", "401", "303", "200", "26"], said + box.log()
    page = inside(box, "feltwatch-photo-page.service", "feltwatch-photo")
    for hidden in ("/var/lib/feltwatch", "/var/lib/feltwatch-review", "/run/feltwatch", "/run/dbus"):
        assert box.run(*page, "ls", hidden).returncode != 0
    front = inside(box, "feltwatch-photo.service", "feltwatch-front")
    assert box.run(*front, "ls", "/run/feltwatch-photo.sock").returncode == 0
    for hidden in ("/var/lib/feltwatch", "/run/feltwatch-photo", "/run/dbus"):
        assert box.run(*front, "ls", hidden).returncode != 0
    box.run("systemctl", "disable", "--now", "feltwatch-photo.socket", "feltwatch-photo.service", check=True)
    assert box.run("python3", "-c", PHOTO).returncode != 0
    behind = ("feltwatch-photo-page.socket", "feltwatch-photo-page.service")
    box.wait(
        lambda: all(box.unit(one, "ActiveState") == "inactive" for one in behind), "its page is closed, too"
    )
    quick.unlink()
    quick.parent.rmdir()
    box.run("systemctl", "daemon-reload", check=True)


def test_debians_own_nginx_opens_no_port(box: Machine) -> None:
    box.run("systemctl", "start", "nginx.service")
    assert box.unit("nginx.service", "ActiveState") == "inactive"
    listening = "cat /proc/net/tcp /proc/net/tcp6 | awk '$4 == \"0A\" {print $2}'"
    assert box.run("bash", "-c", listening, check=True).stdout.split() == ["0100007F:1F4D"], (
        "the page's, 8013"
    )


def inside(box: Machine, unit: str, user: str) -> tuple[str, ...]:
    """Return what a command is preceded by to be run in a service's world, which has no network but its own."""
    pid = box.unit(unit, "MainPID")
    assert box.run("stat", "--format=%U", f"/proc/{pid}").stdout.strip() == user
    within = ("nsenter", f"--target={pid}", "--mount", "--net", "--")
    links = box.run(*within, "cat", "/proc/self/net/dev", check=True).stdout
    assert [line.split(":")[0].strip() for line in links.splitlines()[2:]] == ["lo"]
    return within


def test_installing_it_again_changes_nothing(box: Machine) -> None:
    before = whole(box)
    for _ in range(3):  # with those before, as many starts as five minutes allow
        box.run("systemctl", "restart", "feltwatch-table.service", check=True)
    code, said = install(box, FIRST)
    assert code == 0, said
    assert "is there already" in said
    assert releases(box) == {"current": FIRST}
    assert whole(box)[1] == before[1]


def test_a_release_that_the_maker_did_not_sign_is_refused_and_nothing_changes(box: Machine) -> None:
    code, said = install(box, SECOND)
    assert (code, "This machine takes signed releases only: sudo feltwatch update" in said) == (2, True), said
    archive = box.root / "media" / f"{SECOND}.signed/targets/{SECOND}.tar.gz"
    with archive.open("r+b") as file:
        kept = file.read(1)
        file.seek(0)
        file.write(b"?")
    code, said = update(box, SECOND)
    with archive.open("r+b") as file:
        file.write(kept)
    assert (code, f"{SECOND}.tar.gz is missing, or not what the maker signed" in said) == (2, True), said
    assert releases(box) == {"current": FIRST}
    assert list((box.root / "opt/feltwatch").glob(".*")) == []
    assert box.is_up()


def as_table(box: Machine, line: str) -> str:
    """Run a line of shell as the table's user; return what it prints."""
    return box.run("runuser", "-u", "feltwatch-table", "--", "sh", "-c", line).stdout


def test_a_release_from_the_pit_is_installed_by_its_unit_and_stops_nothing_while_a_hand_lies(
    box: Machine, digests: dict[str, str]
) -> None:
    digest, inbox = digests[SECOND], "/var/lib/feltwatch-inbox"
    box.run("mkdir", "--parents", inbox, check=True)
    box.run("bash", "-c", f"cp -r /media/{SECOND}.signed/* {inbox}", check=True)
    box.run("bash", "-c", f"mv {inbox}/targets/{SECOND}.tar.gz {inbox}/targets/{digest}", check=True)
    box.run("chown", "-R", "feltwatch-uplink:feltwatch", inbox, check=True)
    table = box.unit("feltwatch-table.service", "MainPID")
    request = json.dumps({"number": 7, "sha256": digest})
    as_table(
        box, f"echo '{request}' >/run/feltwatch/.ask && mv /run/feltwatch/.ask /run/feltwatch/update.json"
    )

    made = box.root / "opt/feltwatch/releases" / SECOND / "bin/feltwatch"
    box.wait(made.exists, "it is made beside the one that runs")
    assert box.unit("feltwatch-update.service", "ActiveState") == "activating", box.log()
    assert releases(box) == {"current": FIRST}
    assert box.unit("feltwatch-table.service", "MainPID") == table, "the table deals on"

    as_table(box, "touch /run/feltwatch/update-now")
    told = "/run/feltwatch-update/result.json"
    box.wait(lambda: as_table(box, f"cat {told} 2>/dev/null") != "", "the table's user hears how it ended")
    result = json.loads(as_table(box, f"cat {told}"))
    assert (result["number"], result["state"], result["why"]) == (7, "in_force", None), box.log()
    as_table(box, "rm /run/feltwatch/update-now")
    assert releases(box) == {"current": SECOND, "previous": FIRST}
    assert placed(box) == units(box, SECOND) == units(box, FIRST) - {GONE_SINCE}
    assert list((box.root / "opt/feltwatch").glob(".*")) == [], "what was unpacked is away"
    assert box.unit("feltwatch-update.path", "ActiveState") == "active", "the next request is heard, too"


def test_an_upgrade_goes_on_with_the_record(box: Machine) -> None:
    box.wait(box.is_up, "the table answers")
    assert play(box) == 2
    assert whole(box)[1] == 2


def test_an_upgrade_that_a_power_cut_interrupts_is_gone_back_from_at_the_next_start(box: Machine) -> None:
    box.start("feltwatch", "update", f"/media/{BROKEN}.signed")
    box.wait(lambda: releases(box)["current"] == BROKEN, "the upgrade switched over")
    box.cut_power()
    assert releases(box)["current"] == BROKEN
    keep(box, BROKEN)
    box.boot()
    box.wait(lambda: releases(box)["current"] == SECOND and box.is_up(), "it went back")
    left = box.root / "opt/feltwatch/releases"
    box.wait(lambda: sorted(p.name for p in left.iterdir()) == [FIRST, SECOND], "it tidied up, its last step")
    assert releases(box) == {"current": SECOND, "previous": FIRST}
    assert not (box.root / "opt/feltwatch/trial").is_symlink()
    whole(box)


def test_a_release_that_does_not_report_ready_is_rolled_back_and_its_migrated_record_gone_on_with(
    box: Machine,
) -> None:
    # A page that takes its time to stop keeps the table up meanwhile: what ran before must not pass for what is new.
    lingers = "/etc/systemd/system/feltwatch-ui.service.d/lingers.conf"
    box.file(lingers, "[Service]\nExecStop=sleep 3\n")
    bring_back(box, BROKEN)
    code, said = update(box, BROKEN)
    shutil.rmtree((box.root / lingers.lstrip("/")).parent)
    assert code == 1, said
    assert f"Release {BROKEN} was rolled back; {SECOND} is running, as before." in said, said + box.log()
    assert "Error: A mistake." in said, "its last words are told"
    assert releases(box) == {"current": SECOND, "previous": FIRST}
    assert sorted(path.name for path in (box.root / "opt/feltwatch/releases").iterdir()) == [FIRST, SECOND]
    assert box.is_up()
    assert play(box) == 3
    assert whole(box)[1] == 3


def test_a_person_goes_back_to_the_release_before(box: Machine) -> None:
    done = box.run("bash", "/opt/feltwatch/current/system/install", "--rollback")
    assert done.returncode == 0, done.stdout + done.stderr + box.log()
    assert releases(box) == {"current": FIRST, "previous": SECOND}
    assert placed(box) == units(box, FIRST), "each release places its own"
    assert box.is_up()
    whole(box)


def test_after_going_back_nothing_older_than_what_ran_is_taken_although_it_is_signed(
    box: Machine, digests: dict[str, str]
) -> None:
    code, said = update(box, BETWEEN, "--release", digests[BETWEEN])
    assert (code, f"Release {BETWEEN} of " in said, "is older than one that ran here" in said) == (
        2,
        True,
        True,
    ), said
    code, said = update(box, SECOND)
    assert (code, "It is older than what the maker signed and was seen here before" in said) == (2, True), (
        said
    )
    assert releases(box) == {"current": FIRST, "previous": SECOND}


def test_work_loops_that_hang_are_started_anew_by_the_watchdog(box: Machine) -> None:
    units = ("feltwatch-table.service", "feltwatch-ui.service")
    before = {unit: box.unit(unit, "MainPID") for unit in units}
    for pid in before.values():
        box.run("bash", "-c", f"kill -STOP {pid}", check=True)
    hung = time.monotonic()

    def again() -> bool:
        return all(box.unit(u, "MainPID") not in ("0", before[u]) for u in units) and box.is_up()

    box.wait(again, "both were started again")
    assert time.monotonic() - hung > 5, "a slow moment is no hang"
    log = box.run("journalctl", "--no-pager", "--unit=feltwatch-table.service").stdout
    assert "Watchdog timeout" in log
    whole(box)


def test_a_table_that_keeps_failing_shows_the_fault_page_until_it_is_started(box: Machine) -> None:
    table = "feltwatch-table.service"
    box.run("systemctl", "reset-failed", table)

    def failed() -> bool:
        if box.unit(table, "ActiveState") == "failed":
            return True
        box.run("systemctl", "kill", "--signal=KILL", table)
        return False

    box.wait(failed, "it stays down")
    fault = "/run/feltwatch-fault/feltwatch-table.html"
    box.wait(lambda: box.shown() == f"file://{fault}", "the screen shows the fault page")
    page = box.run("cat", fault, check=True).stdout
    assert "Feltwatch does not start" in page
    assert f"feltwatch-table · {FIRST}" in page
    assert "@" not in page.split("</style>")[1]
    status, health = box.ask("/healthz")
    assert (status, health["table"], health["record"]) == (503, False, True), (
        "the record is still shown elsewhere"
    )

    box.run("systemctl", "reset-failed", table, check=True)
    box.run("systemctl", "start", "feltwatch.target", check=True)
    box.wait(lambda: box.shown() == KIOSK, "the screen shows the page again")
    box.wait(box.is_up, "the table answers")
    whole(box)


def test_a_fault_page_whose_unit_is_stopped_while_it_begins_is_taken_away(box: Machine) -> None:
    unit, fault = "feltwatch-fault@feltwatch-other.service", "/run/feltwatch-fault/feltwatch-other.html"
    slow = "/etc/systemd/system/feltwatch-fault@.service.d/slow.conf"
    write = "/opt/feltwatch/current/system/fault/write %i"
    box.file(slow, f"[Service]\nExecStart=\nExecStart={write}\nExecStart=sleep infinity\n")
    box.run("systemctl", "daemon-reload", check=True)
    box.run("systemctl", "start", "--no-block", unit, check=True)
    box.wait(lambda: box.run("test", "-e", fault).returncode == 0, "the fault page is written")
    box.run("systemctl", "stop", unit, check=True)
    assert box.run("test", "-e", fault).returncode == 1
    shutil.rmtree((box.root / slow.lstrip("/")).parent)
    box.run("systemctl", "daemon-reload", check=True)
    box.wait(lambda: box.shown() == KIOSK, "the screen shows the page again")


def test_a_power_cut_in_the_middle_of_a_hand_loses_nothing(box: Machine) -> None:
    for order in ({"do": "archive"}, {"do": "keep_button", "seat": 1}, {"do": "next"}):
        status, said = box.ask(order)
        assert status == 200, said
    before = JournalReader(box.data).recover()[0]
    assert before.phase is Phase.DEALING
    box.cut_power()
    box.boot()
    box.wait(box.is_up, "it boots into the game")
    state = JournalReader(box.data).recover()[0]
    assert (state.hand, state.phase) == (before.hand, before.phase)
    assert play(box) == before.hand
    whole(box)


def test_a_table_that_asks_for_it_switches_the_box_off_in_good_order(box: Machine) -> None:
    box.run("runuser", "-u", "feltwatch-table", "--", "touch", "/run/feltwatch/poweroff", check=True)
    box.wait_until_off()
    assert not (box.data / "table.sock").exists(), "the table was stopped, not killed"
    box.boot()
    box.wait(box.is_up, "it is up again, and the request is forgotten")
    whole(box)


def test_a_dispute_file_goes_through_the_sandbox_of_the_unit_that_writes_sticks(box: Machine) -> None:
    """A folder stands where a stick would be: nothing is mounted here."""
    told, there = "/run/feltwatch-stick/progress.json", "/run/feltwatch-stick/there"
    other = f"{UNITS}/feltwatch-stick.service.d/there.conf"
    (box.root / other).parent.mkdir()
    (box.root / other).write_text(
        f"[Service]\nExecStart=\nExecStart=/opt/feltwatch/current/bin/feltwatch stick --onto {there}\n"
    )
    box.run("mkdir", "--parents", there, check=True)
    box.run("systemctl", "daemon-reload", check=True)

    def ask(name: str) -> None:
        request = json.dumps({"id": name, "hand": 1, "table": "12"})
        written = f"echo '{request}' >/run/feltwatch/.ask && mv /run/feltwatch/.ask /run/feltwatch/stick.json"
        exports = "/var/lib/feltwatch/exports"
        made = f"mkdir -p {exports} && echo proof >{exports}/hand-000001.zip"
        box.run("runuser", "-u", "feltwatch-table", "--", "sh", "-c", f"{made} && {written}", check=True)

    def said(name: str, *steps: str) -> bool:
        heard = box.run("runuser", "-u", "feltwatch-ui", "--", "cat", told).stdout
        progress = json.loads(heard or "{}")
        return progress.get("id") == name and progress["step"] in steps

    ask("one")
    box.wait(lambda: said("one", "done"), "the file is there, and the page's user hears of it")
    assert box.run("cat", f"{there}/feltwatch-12-hand-1.zip", check=True).stdout == "proof\n"
    assert box.run("ls", "/run/feltwatch/stick.json").returncode != 0, "the request is taken away"
    (box.root / other).unlink()
    (box.root / other).parent.rmdir()
    box.run("systemctl", "daemon-reload", check=True)
    ask("two")
    box.wait(lambda: said("two", "waiting"), "it looks for a stick, and finds none")
    box.run("systemctl", "stop", "feltwatch-stick.service", check=True)
    box.run("rm", "-r", there, check=True)
    whole(box)


def test_the_table_sets_the_time_zone_through_a_small_root_unit_and_nobody_else_does(box: Machine) -> None:
    """Nothing here may set the machine's time: it is this one's, too."""
    asking = (
        "import socket; s = socket.socket(socket.AF_UNIX); s.connect('/run/feltwatch-clock.sock'); "
        """s.sendall(b'{"date": "", "time": "", "zone": "Asia/Macau"}\\n'); print(s.makefile().readline())"""
    )

    def ask(user: str) -> str:
        return box.run("runuser", "-u", user, "--", "python3", "-c", asking).stdout

    zone = box.root / "etc/localtime"
    assert ask("feltwatch-ui") == ""
    assert not zone.readlink().match("*/Asia/Macau")
    answer = ask("feltwatch-table")
    assert '{"ok": true}' in answer, answer + box.log()
    assert zone.readlink().match("*/Asia/Macau")
    whole(box)


def test_it_is_taken_off_and_the_record_stays(box: Machine) -> None:
    before = whole(box)
    beside = [unit for unit in placed(box) if "[Install]" in (box.root / UNITS / unit).read_text()]
    assert "feltwatch-training.service" in beside
    box.run("systemctl", "enable", *beside, check=True)
    keep(box, SECOND)
    done = box.run("bash", f"/media/{FIRST}/uninstall")
    assert done.returncode == 0, done.stdout + done.stderr
    assert whole(box)[1] == before[1]
    assert (box.root / "etc/feltwatch/feltwatch.toml").read_text() == CONFIG
    left = {path.relative_to(box.root).as_posix() for path in (box.root / "etc").rglob("*feltwatch*")}
    assert left == {
        "etc/feltwatch",
        "etc/feltwatch/feltwatch.toml",
        f"{UNITS}/feltwatch-kiosk.service.d",  # the house's own
    }
    left_over = box.run("systemctl", "list-units", "--all", "--no-legend", "feltwatch*").stdout.splitlines()
    # The service manager may take a while to forget a name of which there is no file and no process any more.
    assert [line for line in left_over if "not-found inactive dead" not in line] == []
    assert not (box.root / "opt/feltwatch").exists()
    assert box.ask("/")[0] == 0

    bring_back(box, SECOND)
    code, said = install(box, SECOND)
    assert code == 0, said + box.log()
    assert box.is_up()
    assert whole(box)[1] == before[1]
