"""The units, and what lies next to them, as far as they can be judged without booting them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from dealer_ui.photo.codes import SECRET as PHOTO_SECRET
from dealer_ui.remote.cli import PAGE as PAGE_OF_REVIEW
from dealer_ui.remote.cli import PORT as PORT_OF_REVIEW
from dealer_ui.remote.cli import SECRETS
from dealer_ui.server.app import Settings
from dealer_ui.server.cli import TRAINING_SOCKET, _config
from dealer_ui.server.kiosk import BROWSER, FAULTS, GONE_WITHIN_S, PAGE
from dealer_ui.server.kiosk import TRAINING as TRAINING_PAGE
from dealer_ui.server.kiosk_watch import PATIENCE_S
from dealer_ui.web.tls import KEY
from firmware.devices.puck.serial_port import STABLE_NAME
from firmware.record.dispute_file import EXPORTS
from firmware.record.stick_request import PROGRESS, REQUEST
from firmware.record_folder import DATA, SOCKET
from firmware.runtime.config import HOUSE_CONFIG, Config, load_config
from firmware.simulation.training import PORT, TABLE_PORT
from firmware.table.people import PINS_FOLDER
from firmware.uplink.cli import DROP_IN, STATE
from firmware.uplink.cli import FOLDER as UPLINK
from firmware.uplink.join_request import FOLDER as JOIN
from firmware.uplink.join_request import PROGRESS as JOIN_PROGRESS
from firmware.uplink.join_request import REQUEST as JOIN_REQUEST
from firmware.uplink.settings import FILE as ENROLLED
from tests.systemd.judge import exposure, faults, users_made
from tests.tools import SYSTEMD, needs

HERE: Final = Path(__file__).parents[2] / "systemd"
UNITS: Final = sorted((HERE / "units").iterdir())
BASE: Final = "/opt/feltwatch/current"


EXPOSED: Final = {
    "feltwatch-table": 0.6,
    "feltwatch-ui": 0.4,
    "feltwatch-training": 1.1,
    "feltwatch-uplink": 1.0,
    "feltwatch-join": 1.2,
    "feltwatch-review": 0.4,
    "feltwatch-review-page": 0.4,
    "feltwatch-photo": 0.4,
    "feltwatch-photo-page": 0.4,
    "feltwatch-fault@": 0.9,
    "feltwatch-poweroff": 0.9,
    "feltwatch-stick": 1.6,
    "feltwatch-clock@": 1.2,
    "feltwatch-kiosk": 2.7,
    "feltwatch-goback": 4.6,
    "feltwatch-update": 4.6,
}


def test_no_program_that_sees_a_secret_leaves_its_memory_in_a_file() -> None:
    sees_none = {"feltwatch-clock@", "feltwatch-fault@", "feltwatch-goback", "feltwatch-poweroff"}
    services = {unit.stem: unit.read_text() for unit in UNITS if unit.suffix == ".service"}
    assert {name for name, text in services.items() if "\nLimitCORE=0\n" not in text} == sees_none


def test_every_service_has_a_bound_on_what_it_could_do() -> None:
    assert {unit.stem for unit in UNITS if unit.suffix == ".service"} == set(EXPOSED)


@needs(SYSTEMD)
@pytest.mark.parametrize(("unit", "at_most"), EXPOSED.items())
def test_what_a_program_could_do_if_it_were_taken_over_is_little(unit: str, at_most: float) -> None:
    assert exposure(HERE / "units" / f"{unit}.service") <= at_most


@needs(SYSTEMD)
def test_the_service_manager_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    installed = tmp_path / "current"
    shutil.copytree(HERE, installed / "system")
    (installed / "bin").mkdir()
    for name in ("feltwatch", "python"):
        program = installed / "bin" / name
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    units = tmp_path / "units"
    units.mkdir()
    for unit in UNITS:
        (units / unit.name).write_text(unit.read_text().replace(BASE, str(installed)))
    assert faults(units, "feltwatch") == []


@needs(SYSTEMD)
def test_the_users_can_be_made(tmp_path: Path) -> None:
    made = users_made(HERE / "feltwatch.sysusers", tmp_path)
    assert (
        made is None
        or {
            "feltwatch-table",
            "feltwatch-ui",
            "feltwatch-kiosk",
            "feltwatch-review",
            "feltwatch-photo",
            "feltwatch-front",
            "feltwatch-uplink",
        }
        <= made
    )


def test_every_file_that_a_unit_or_the_installer_names_is_there() -> None:
    named = set()
    for unit in UNITS:
        named |= set(re.findall(rf"{BASE}/system/(\S+)", unit.read_text()))
    named |= set(re.findall(r"\$system[\"/]+([\w.-]+)", (HERE / "install").read_text()))
    assert {"fault/write", "feltwatch.toml", "70-feltwatch.rules"} <= named
    assert [name for name in named if not (HERE / name).exists()] == []


def test_what_runs_is_part_of_the_target_and_ends_with_it() -> None:
    """So installer and `uninstall` stop it, whatever a release brings."""
    runs_once = {
        f"feltwatch-{name}.service"
        for name in ("clock@", "fault@", "goback", "join", "poweroff", "stick", "update")
    }
    parts = {unit.name for unit in UNITS if "\nPartOf=feltwatch.target\n" in unit.read_text()}
    assert parts == {unit.name for unit in UNITS} - runs_once - {"feltwatch.target"}


def test_programs_of_ours_are_executable_and_understood_by_the_shell() -> None:
    for name in ("install", "uninstall", "release", "fault/write"):
        script = HERE / name
        assert os.access(script, os.X_OK), name
        shell = script.read_text().splitlines()[0].split()[-1].rpartition("/")[2]
        subprocess.run([shell, "-n", script], check=True)


def test_the_shipped_configuration_is_the_default_and_each_line_in_it_is_understood(tmp_path: Path) -> None:
    shipped = HERE / "feltwatch.toml"
    assert load_config(shipped) == Config()
    spelt_out = tmp_path / "feltwatch.toml"
    spelt_out.write_text(re.sub(r"(?m)^#(?=[a-z\[])", "", shipped.read_text()))
    config = load_config(spelt_out)
    assert [seat.player for seat in config.seats] == ["Ann", "Bao"]
    defaults = Config().model_dump(mode="json") | {"ui": _config(None).ui.model_dump(mode="json")}
    assert _config(spelt_out).ui == _config(None).ui
    of_the_page = {
        field: getattr(Settings, field) for field in ("answer_floor_s", "answer_ceiling_s", "export_s")
    }
    assert of_the_page == {field: defaults["ui"][field] for field in of_the_page}
    examples = {"seats", "gain", "focus", "dealer", "exposure_ms"}
    for key, value in config.model_dump(mode="json", exclude_unset=True).items():
        section = value if isinstance(value, dict) else {key: value}
        wanted = defaults[key] if isinstance(value, dict) else defaults
        told = {name: said for name, said in section.items() if name not in examples}
        assert told == {name: wanted[name] for name in told}, "what is commented out is the default"


def test_the_rules_give_the_devices_the_names_that_the_product_looks_for() -> None:
    rules = (HERE / "70-feltwatch.rules").read_text()
    for name in (STABLE_NAME, str(Config().camera.device)):
        assert f'SYMLINK+="{name.removeprefix("/dev/")}"' in rules
    for line in rules.splitlines():
        if "feltwatch-puck" in line and not line.startswith("#"):
            assert 'ENV{ID_MM_DEVICE_IGNORE}="1"' in line, "or ModemManager types at it"


def test_the_page_is_where_the_screen_looks_for_it() -> None:
    socket = (HERE / "units/feltwatch-ui.socket").read_text()
    assert "ListenStream=127.0.0.1:8013" in socket
    assert PAGE == "http://127.0.0.1:8013/?kiosk"
    policy = json.loads((HERE / "chromium-policy.json").read_text())
    assert policy["URLBlocklist"][0] == "*"
    pages = ["http://127.0.0.1:8013", TRAINING_PAGE]
    assert set(pages) <= set(policy["URLAllowlist"])
    assert f"file://{FAULTS}/" in policy["URLAllowlist"], "a path is a beginning: it takes no *"
    training = (HERE / "units/feltwatch-training.service").read_text()
    assert f"http://localhost:{PORT}" == TRAINING_PAGE
    assert f"--port {PORT} --table-port {TABLE_PORT} --data {TRAINING_SOCKET.parent}" in training
    assert f"RuntimeDirectory={TRAINING_SOCKET.parent.name}\n" in training


def test_a_keyboard_in_the_usb_port_finds_a_browser_without_tools() -> None:
    """What becomes of its keys: `tests/kiosk/test_keyboard.py`. What Chromium makes of its policy: UNTESTED here."""
    policy = json.loads((HERE / "chromium-policy.json").read_text())
    allowed = [urlsplit(page) for page in policy["URLAllowlist"]]
    assert {"*", "chrome://*", "view-source:*"} <= set(policy["URLBlocklist"]), "* leaves chrome:// open"
    assert policy["AllowFileSelectionDialogs"] is False, "else Ctrl-O shows the box's folders"
    assert {(one.scheme, one.hostname) for one in allowed} == {
        ("http", "127.0.0.1"),
        ("http", "localhost"),
        ("file", None),
    }
    assert [one.path for one in allowed if one.scheme == "file"] == ["/run/feltwatch-fault/"]
    assert policy["DeveloperToolsAvailability"] == 2, "never, and no page's source either"
    assert policy["DownloadRestrictions"] == 3, "none at all"
    assert BROWSER[:2] == ("chromium", "--kiosk")
    assert 'chromium-policy.json" /etc/chromium/policies/managed/' in (HERE / "install").read_text()


def test_the_review_for_other_machines_waits_for_a_technician_and_has_no_way_to_the_table() -> None:
    names = [path.name for path in UNITS]
    ours = {"feltwatch-review.service", "feltwatch-review.socket", "feltwatch-review-page.service"}
    assert {*ours, "feltwatch-review-page.socket"} <= set(names)
    for unit in UNITS:
        if not unit.name.startswith(("feltwatch-review", "feltwatch-photo")):  # they share the certificate
            assert "feltwatch-review" not in unit.read_text(), "nothing that boots asks for it"
    begun = re.findall(r"systemctl (?:enable|start) .*", (HERE / "install").read_text())
    assert [line for line in begun if "feltwatch.target" not in line] == []
    page = (HERE / "units/feltwatch-review-page.service").read_text().splitlines()
    assert f"ExecStart={BASE}/bin/feltwatch review serve --data /var/lib/feltwatch" in page
    assert "RestrictAddressFamilies=none" in page, "the table's socket is a Unix socket"
    assert "PrivateNetwork=yes" in page
    assert f"BindReadOnlyPaths=/var/lib/feltwatch {SECRETS}" in page
    assert f"d {SECRETS} 0700 feltwatch-review feltwatch -\n" in (HERE / "feltwatch.tmpfiles").read_text()
    assert f"ListenStream={PORT_OF_REVIEW}\n" in (HERE / "units/feltwatch-review.socket").read_text()


def test_the_page_for_photographs_waits_for_a_technician_and_has_neither_record_nor_table() -> None:
    for unit in UNITS:
        if not unit.name.startswith("feltwatch-photo"):
            assert "feltwatch-photo" not in unit.read_text(), "nothing that boots asks for it"
    page = (HERE / "units/feltwatch-photo-page.service").read_text().splitlines()
    assert f"ExecStart={BASE}/bin/feltwatch photo-page --secret {PHOTO_SECRET}" in page
    assert {"RestrictAddressFamilies=none", "PrivateNetwork=yes", "TemporaryFileSystem=/var:ro /run:ro"} <= {
        *page
    }
    assert [line for line in page if line.startswith("Bind")] == [f"BindPaths={PHOTO_SECRET.parent}"]
    assert {"Nice=19", "CPUSchedulingPolicy=idle", "CPUWeight=1"} <= {*page}
    assert Settings.photo == ""
    front = (HERE / "units/feltwatch-photo.service").read_text()
    assert "review front --photographs --page /run/feltwatch-photo.sock\n" in front
    assert (
        "ListenStream=/run/feltwatch-photo.sock\n" in (HERE / "units/feltwatch-photo-page.socket").read_text()
    )


def test_nginx_before_the_review_has_one_socket_to_reach_and_neither_record_nor_passphrases() -> None:
    front = (HERE / "units/feltwatch-review.service").read_text().splitlines()
    socket = (HERE / "units/feltwatch-review-page.socket").read_text()
    assert f"ExecStart={BASE}/bin/feltwatch review front" in front
    assert "User=feltwatch-front" in front
    assert [line for line in front if line.startswith("Group=")] == [], "no group that may read the record"
    assert "PrivateNetwork=yes" in front
    assert "TemporaryFileSystem=/var:ro /run:ro" in front
    assert [line for line in front if line.startswith("Bind")] == [
        "BindsTo=feltwatch-review-page.service",
        "BindPaths=/run/feltwatch-front",
        f"BindReadOnlyPaths={PAGE_OF_REVIEW}",
    ]
    assert f"LoadCredential={KEY}:{SECRETS}/{KEY}" in front
    assert f"ListenStream={PAGE_OF_REVIEW}\nSocketGroup=feltwatch-front\nSocketMode=0660\n" in socket


def test_the_uplink_waits_for_an_enrolment_and_reaches_the_pit_alone() -> None:
    unit = (HERE / "units/feltwatch-uplink.service").read_text().splitlines()
    assert f"ConditionPathExists={UPLINK}/{ENROLLED}" in unit
    assert f"ExecStart={BASE}/bin/feltwatch uplink --data /var/lib/feltwatch" in unit
    assert "RestrictAddressFamilies=AF_INET AF_INET6" in unit, "the table's socket is a Unix socket"
    assert "IPAddressDeny=any" in unit
    assert "SocketBindDeny=any" in unit
    assert not any(line.startswith(("IPAddressAllow", "SocketBindAllow")) for line in unit), (
        "the enrolment says who may be reached"
    )
    hidden = {path for line in unit if line.startswith("InaccessiblePaths=") for path in line[18:].split()}
    assert {f"-{DATA}/{PINS_FOLDER}", f"-{DATA}/{SOCKET}"} <= hidden
    assert [line for line in unit if line.startswith(("Bind", "ReadWrite", "State", "Temporary"))] == [
        "StateDirectory=feltwatch-witness feltwatch-inbox",
        "StateDirectoryMode=0750",
        "TemporaryFileSystem=/var:ro",
        f"BindReadOnlyPaths={DATA} {UPLINK}",
    ]
    assert f"RuntimeDirectory={STATE.name}" in unit
    assert {"Nice=19", "CPUWeight=1", "IOWeight=1"} <= set(unit)
    assert DROP_IN.parent.name == "feltwatch-uplink.service.d"
    assert f"d {UPLINK} 0750 feltwatch-uplink feltwatch -\n" in (HERE / "feltwatch.tmpfiles").read_text()
    assert 'u feltwatch-uplink -:feltwatch "' in (HERE / "feltwatch.sysusers").read_text()


def test_who_enrols_a_table_is_started_by_its_request_and_sees_nothing_of_the_record() -> None:
    unit = (HERE / "units/feltwatch-join.service").read_text().splitlines()
    assert f"ExecStart={BASE}/bin/feltwatch uplink join" in unit
    assert f"ExecStartPost=+{BASE}/bin/feltwatch uplink enrol {UPLINK}/new" in unit
    assert "RestrictAddressFamilies=AF_INET AF_INET6" in unit
    assert not any("/var/lib/feltwatch " in f"{line} " for line in unit)
    assert f"RuntimeDirectory={JOIN_PROGRESS.parent.name}" in unit
    assert f"PathChanged={JOIN / JOIN_REQUEST}\n" in (HERE / "units/feltwatch-join.path").read_text()


def test_who_writes_sticks_sees_dispute_files_alone_and_reaches_no_disk_of_the_boxs_own() -> None:
    unit = (HERE / "units/feltwatch-stick.service").read_text().splitlines()
    assert f"ExecStart={BASE}/bin/feltwatch stick" in unit
    assert [line for line in unit if line.startswith(("Bind", "DeviceAllow", "Temporary"))] == [
        "TemporaryFileSystem=/var:ro",
        f"BindReadOnlyPaths=-{DATA}/{EXPORTS}",
        "DeviceAllow=block-sd rw",
    ]
    assert "PrivateMounts=yes" in unit, "what it mounts nobody else sees"
    assert "CapabilityBoundingSet=CAP_SYS_ADMIN CAP_DAC_OVERRIDE" in unit
    assert f"ReadWritePaths=-{REQUEST.parent}" in unit
    assert f"RuntimeDirectory={PROGRESS.parent.name}" in unit
    assert f"PathExists={REQUEST}\n" in (HERE / "units/feltwatch-stick.path").read_text()


def test_debians_own_nginx_stays_off_unless_it_is_meant() -> None:
    """That it does, only a booted system shows: `make test-install`."""
    assert "\n[Unit]\nConditionPathExists=/etc/feltwatch/" in (HERE / "nginx-off.conf").read_text()
    placed = "/etc/systemd/system/nginx.service.d/feltwatch.conf"
    assert f'put "$system/nginx-off.conf" {placed}\n' in (HERE / "install").read_text()
    assert placed in (HERE / "uninstall").read_text()
    assert {"review: nginx-light", "review: libnginx-mod-stream"} <= set(
        (HERE / "debian-packages").read_text().split("\n")
    )


def test_the_record_is_never_aged_by_the_system() -> None:
    for line in (HERE / "feltwatch.tmpfiles").read_text().splitlines():
        if not line.startswith("#"):
            assert line.split()[-1] == "-"
            assert line.split()[0] == "d", "made, never emptied"


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that stand where the system's would."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_the_fault_page_tells_the_last_words_and_lets_none_of_them_be_markup(
    tmp_path: Path, stand_in: Path
) -> None:
    last = tmp_path / "last"
    last.write_text("Error: a <b>bad</b> cable & a plug\n@facts@ $(reboot) \\n %s\n")
    program(stand_in, "journalctl", f'case "$*" in *feltwatch-table.service*) cat {last} ;; esac')
    subprocess.run([HERE / "fault/write", "feltwatch-table", tmp_path], check=True)
    page = (tmp_path / "feltwatch-table.html").read_text()
    assert "Error: a &lt;b&gt;bad&lt;/b&gt; cable &amp; a plug\n@facts@ $(reboot) \\n %s\n" in page
    assert re.search(r"feltwatch-table · \S+ · 20\d\d-", page)
    assert page.count("@last@") == 0
    assert list(tmp_path.glob(".fault*")) == []


def test_a_hung_kiosk_is_started_again_and_ends_its_browser_itself() -> None:
    unit = (HERE / "units/feltwatch-kiosk.service").read_text().splitlines()
    assert f"ExecStart={BASE}/bin/feltwatch kiosk --config {HOUSE_CONFIG}" in unit
    assert {"Type=notify", "NotifyAccess=main", "WatchdogSec=20", "Restart=always", "KillMode=mixed"} <= set(
        unit
    )
    assert "RuntimeDirectory=feltwatch-kiosk" in unit, "the command takes its folder from that"
    (stop,) = [
        int(line.removeprefix("TimeoutStopSec=")) for line in unit if line.startswith("TimeoutStopSec")
    ]
    assert stop > 2 * GONE_WITHIN_S + PATIENCE_S
