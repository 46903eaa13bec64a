"""The pit's units, as far as they can be judged without booting them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from dealer_ui.remote.front import MODULE as STREAM_MODULE
from dealer_ui.web.tls import CERTIFICATE as TLS_CERTIFICATE
from dealer_ui.web.tls import KEY as TLS_KEY
from pit.authority import CERTIFICATE, DOOR_CERTIFICATE, DOOR_KEY
from pit.cli.copies import FOLDERS
from pit.cli.main import SOCKET
from pit.copies.backup import SLOT
from pit.door.front import NGINX
from pit.options import BACKUP_DISK, BACKUP_STATE, PIT_FOLDER
from tests.systemd.judge import exposure, faults, users_made
from tests.tools import SYSTEMD, needs

HERE: Final = Path(__file__).parents[2] / "systemd/pit"
UNITS: Final = sorted((HERE / "units").iterdir())
BASE: Final = "/opt/feltwatch-pit/current"


def lines(name: str) -> list[str]:
    return (HERE / "units" / f"{name}.service").read_text().splitlines()


EXPOSED: Final = {
    "feltwatch-pit": 0.4,
    "feltwatch-pit-migrate": 0.4,
    "feltwatch-pit-front": 1.2,
    "feltwatch-pit-floor": 0.4,
    "feltwatch-pit-floor-front": 1.2,
    "feltwatch-pit-wal": 0.4,
    "feltwatch-pit-backup": 0.8,
}


def test_every_service_of_the_pit_has_a_bound_on_what_it_could_do() -> None:
    assert {unit.stem for unit in UNITS if unit.suffix == ".service"} == set(EXPOSED)
    assert max(EXPOSED.values()) <= 1.5


@needs(SYSTEMD)
@pytest.mark.parametrize(("unit", "at_most"), EXPOSED.items())
def test_what_a_program_of_the_pit_could_do_if_it_were_taken_over_is_little(
    unit: str, at_most: float
) -> None:
    assert exposure(HERE / "units" / f"{unit}.service") <= at_most


@needs(SYSTEMD)
def test_the_service_manager_finds_nothing_wrong_with_the_units_of_the_pit(tmp_path: Path) -> None:
    program = tmp_path / "current/bin/feltwatch"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    units = tmp_path / "units"
    units.mkdir()
    for unit in UNITS:
        (units / unit.name).write_text(unit.read_text().replace(BASE, str(tmp_path / "current")))
    (units / "postgresql.service").write_text("[Service]\nType=oneshot\nExecStart=/bin/true\n")
    assert faults(units, "feltwatch-pit") == []


@needs(SYSTEMD)
def test_the_users_of_the_pit_can_be_made(tmp_path: Path) -> None:
    made = users_made(HERE / "feltwatch-pit.sysusers", tmp_path)
    users = set(re.findall(r"(?m)^u (\S+)", (HERE / "feltwatch-pit.sysusers").read_text()))
    assert made is None or users <= made
    services = [unit.stem for unit in UNITS if unit.suffix == ".service"]
    assert users == {line[5:] for unit in services for line in lines(unit) if line.startswith("User=")}


def test_the_service_has_no_network_and_a_role_that_owns_nothing() -> None:
    unit = lines("feltwatch-pit")
    assert f"ExecStart={BASE}/bin/feltwatch pit serve" in unit
    assert {"PrivateNetwork=yes", "RestrictAddressFamilies=AF_UNIX", "IPAddressDeny=any"} <= set(unit)
    assert f"StateDirectory={PIT_FOLDER.name}" in unit
    assert f"RuntimeDirectory={SOCKET.parent.name}" in unit
    assert "Requires=feltwatch-pit-migrate.service" in unit
    migrate = lines("feltwatch-pit-migrate")
    door = next(line[5:] for line in unit if line.startswith("User="))
    floor = next(line[5:] for line in lines("feltwatch-pit-floor") if line.startswith("User="))
    assert f"ExecStart={BASE}/bin/feltwatch pit migrate --door {door} --floor {floor}" in migrate
    assert "User=feltwatch-pit-owner" in migrate
    assert (
        f"for role in feltwatch-pit-owner {door} {floor} feltwatch-pit-backup; do"
        in (HERE / "install").read_text()
    )


def test_the_floors_pages_see_images_and_neither_the_authoritys_key_nor_the_doors_socket() -> None:
    unit, folder = lines("feltwatch-pit-floor"), Path(f"{PIT_FOLDER}-floor")
    page = "/run/feltwatch-pit-floor/floor.sock"
    program = f"{BASE}/bin/feltwatch pit serve-floor --folder {folder} --socket {page}"
    assert f"ExecStart={program}" in unit
    assert {"PrivateNetwork=yes", "RestrictAddressFamilies=AF_UNIX", "IPAddressDeny=any"} <= set(unit)
    assert [line for line in unit if line.startswith("LoadCredential=")] == [
        f"LoadCredential={TLS_CERTIFICATE}:/etc/feltwatch-pit/floor/{TLS_CERTIFICATE}"
    ], "and not the key"
    assert f"BindReadOnlyPaths={PIT_FOLDER}/images:{folder}/images" in unit
    (kept,) = [line.partition("=")[2].split() for line in unit if line.startswith("InaccessiblePaths=")]
    assert {f"-{SOCKET.parent}", f"-{PIT_FOLDER}/authority"} <= set(kept), (
        "it is in the group that may open them"
    )
    assert {f"StateDirectory={folder.name}", f"RuntimeDirectory={Path(page).parent.name}"} <= set(unit)
    assert "UMask=0027" in lines("feltwatch-pit"), "images are read by the group"
    assert "StateDirectoryMode=0700" in lines("feltwatch-pit")
    assert (
        f"d {PIT_FOLDER}/images 0750 feltwatch-pit feltwatch-pit -"
        in (HERE / "feltwatch-pit.tmpfiles").read_text()
    )


def test_people_come_in_by_another_port_than_tables_with_a_certificate_of_roots() -> None:
    front, install = lines("feltwatch-pit-floor-front"), (HERE / "install").read_text()
    program = f"{BASE}/bin/feltwatch review front --listen 0.0.0.0 --port 8444"
    assert f"ExecStart={program} --page /run/feltwatch-pit-floor/floor.sock" in front
    assert "SocketBindAllow=tcp:8444" in front
    assert "SocketBindAllow=tcp:8443" not in front
    secrets = "/etc/feltwatch-pit/floor"
    assert [line for line in front if line.startswith("LoadCredential=")] == [
        f"LoadCredential={name}:{secrets}/{name}" for name in (TLS_CERTIFICATE, TLS_KEY)
    ]
    assert f"install -d -m 0700 {secrets}" in install
    assert f"review certificate make --secrets {secrets} --name localhost" in install
    assert str(STREAM_MODULE) in install
    assert "TemporaryFileSystem=/var:ro /run:ro" in front


def test_nginx_before_the_door_gets_its_certificates_and_not_the_authoritys_key() -> None:
    front = lines("feltwatch-pit-front")
    assert [line for line in front if line.startswith("LoadCredential=")] == [
        f"LoadCredential={name}:{PIT_FOLDER}/authority/{name}"
        for name in (DOOR_CERTIFICATE, DOOR_KEY, CERTIFICATE)
    ]
    assert "TemporaryFileSystem=/var:ro /run:ro" in front
    assert [line for line in front if line.startswith(("BindPaths", "BindReadOnly", "SocketBind"))] == [
        "BindPaths=/run/feltwatch-pit-front",
        f"BindReadOnlyPaths={SOCKET.parent}",
        f"BindReadOnlyPaths=-{PIT_FOLDER}/repository",
        "SocketBindDeny=any",
        "SocketBindAllow=tcp:8443",
    ]
    assert str(NGINX) in (HERE / "install").read_text()


def test_the_second_disk_is_one_that_is_mounted_and_everything_of_the_pits_is_copied_to_it() -> None:
    for name in ("backup", "wal"):
        unit = lines(f"feltwatch-pit-{name}")
        assert {
            f"AssertPathIsMountPoint={BACKUP_DISK}",
            f"ReadWritePaths={BACKUP_DISK}",
            "PrivateNetwork=yes",
        } <= set(unit)
    backup = lines("feltwatch-pit-backup")
    assert f"ExecStart={BASE}/bin/feltwatch pit backup make" in backup
    assert f"ExecStart={BASE}/bin/feltwatch pit backup receive" in lines("feltwatch-pit-wal")
    assert f"StateDirectory={BACKUP_STATE.parent.name}" in backup
    seen = next(line for line in backup if line.startswith("BindReadOnlyPaths="))
    assert {f"-{path}" for path in FOLDERS if path.parts[1] == "var"} == set(seen.partition("=")[2].split())
    for script in ("install", "restore"):
        assert str(BACKUP_DISK) in (HERE / script).read_text()
    assert SLOT in (HERE / "uninstall").read_text()


@pytest.mark.parametrize("name", ["install", "uninstall", "restore"])
def test_the_scripts_are_understood_by_the_shell_and_place_files_that_there_are(name: str) -> None:
    script = HERE / name
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)
    named = re.findall(r"\$system/([\w.-]+)\"", script.read_text())
    assert [name for name in named if not (HERE / name).exists()] == []


def test_nothing_of_the_pit_is_placed_on_a_table() -> None:
    release = (HERE.parent / "release").read_text()
    assert '"$out/system/pit" "$out/system/image"' in release
    assert "pit" not in re.findall(r"cp -r (\S+)", (HERE.parent / "install").read_text())
