"""The pit's compose.yaml: what it runs, opens, keeps and hides, judged without an engine; built where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path, PurePosixPath
from typing import Any, Final

import pytest
import yaml

from pit.cli.main import SOCKET
from pit.options import PIT_FOLDER
from tests.docs.lines import parsed
from tests.tools import CONTAINERS, needs

REPOSITORY: Final = Path(__file__).parents[2]
HERE: Final = REPOSITORY / "systemd/pit/container"
COMPOSE: Final[dict[str, Any]] = yaml.safe_load((HERE / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: Final[dict[str, dict[str, Any]]] = COMPOSE["services"]
OURS: Final = {name: one for name, one in SERVICES.items() if "build" in one}
CONTAINERFILE: Final = (HERE / "Containerfile").read_text(encoding="utf-8")
FLOOR: Final = f"{PIT_FOLDER}-floor"
FRONTS: Final = {"front": 8443, "floor-front": 8444}
WRITES: Final = {
    "database": {"/var/lib/postgresql/data", "/var/run/postgresql"},
    "migrate": set[str](),
    "certificate": {"/etc/feltwatch-pit/floor"},
    "door": {str(PIT_FOLDER), f"{PIT_FOLDER}/images", str(SOCKET.parent)},
    "front": {"/run/feltwatch-pit-front"},
    "floor": {FLOOR, "/run/feltwatch-pit-floor"},
    "floor-front": {"/run/feltwatch-pit-floor-front"},
}
"""The folders that each service writes into, besides /tmp."""
BUILDERS: Final = (("podman", "info"), ("docker", "info"), ("buildah", "info"))


def writable(name: str) -> set[str]:
    """The folders that this service may write into, and that are not lost with the container or are meant to be."""
    one = SERVICES[name]
    mounted = {volume.split(":")[1] for volume in one.get("volumes", []) if not volume.endswith(":ro")}
    return mounted | {place.partition(":")[0] for place in one["tmpfs"]}


@pytest.mark.parametrize("name", OURS)
def test_every_command_line_is_one_that_the_program_takes(name: str) -> None:
    words = tuple(OURS[name]["command"])
    assert words[0] == "feltwatch"
    assert parsed(words) == []


def test_nothing_is_open_but_the_tables_and_the_peoples_port_and_by_default_on_this_machine_alone() -> None:
    opened = {name: one["ports"] for name, one in SERVICES.items() if "ports" in one}
    assert opened == {
        name: [f"${{FELTWATCH_ADDRESS:-127.0.0.1}}:{port}:{port}"] for name, port in FRONTS.items()
    }
    for name, one in SERVICES.items():
        assert (one.get("network_mode") == "none") == (name not in FRONTS), name
    assert "listen_addresses=" in SERVICES["database"]["command"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_not_root_writes_nowhere_else_and_has_no_rights_of_its_own(name: str) -> None:
    one = SERVICES[name]
    user, _, group = one["user"].partition(":")
    assert int(user) > 0 < int(group)
    assert (one["read_only"], one["cap_drop"]) == (True, ["ALL"])
    assert one["security_opt"] == ["no-new-privileges:true"]
    assert {"privileged", "cap_add", "devices", "pid", "ipc"} & set(one) == set()
    assert not any("docker.sock" in volume for volume in one.get("volumes", []))


def test_every_image_is_pinned_to_a_release() -> None:
    assert {one["image"] for one in OURS.values()} == {"feltwatch-pit:local"}
    named = [one["image"] for name, one in SERVICES.items() if name not in OURS]
    named += re.findall(r"(?m)^FROM (\S+)", CONTAINERFILE)
    assert len(named) == 2
    assert all(re.fullmatch(r"[a-z]+:[0-9][\w.-]*", image) for image in named), named


@pytest.mark.parametrize("name", SERVICES)
def test_every_folder_that_it_writes_into_is_a_volume_or_in_memory(name: str) -> None:
    assert WRITES[name] <= writable(name)
    assert {volume.split(":")[0] for volume in SERVICES[name].get("volumes", [])} - {"./roles"} <= set(
        COMPOSE["volumes"]
    )


def test_every_volume_of_ours_has_the_owner_that_writes_into_it() -> None:
    made = {
        place: owner
        for owner, places in re.findall(r"install -d -m 0\d+ -o (\d+) -g \d+ ([^\\&\n]+)", CONTAINERFILE)
        for place in places.split()
    }
    for name in ("certificate", "door", "floor"):
        for place in WRITES[name]:
            assert made[place] == SERVICES[name]["user"].partition(":")[0], place
    assert re.search(r"(?m)^USER (\d+)", CONTAINERFILE)


def test_the_socket_of_pages_and_door_is_where_the_one_before_it_looks() -> None:
    line = {name: SERVICES[name]["command"] for name in ("floor", "floor-front")}
    page = line["floor"][line["floor"].index("--socket") + 1]
    assert line["floor-front"][line["floor-front"].index("--page") + 1] == page
    for name in ("floor", "floor-front"):
        assert f"floor-socket:{PurePosixPath(page).parent}" in [
            volume.removesuffix(":ro") for volume in SERVICES[name]["volumes"]
        ]
    for name in ("door", "front"):
        assert f"door-socket:{SOCKET.parent}" in [
            volume.removesuffix(":ro") for volume in SERVICES[name]["volumes"]
        ]


def test_no_secret_stands_in_the_file_and_each_service_gets_its_own_alone() -> None:
    for one in SERVICES.values():
        for name, value in one.get("environment", {}).items():
            assert "PASSWORD" not in name or (name.endswith("_FILE") and value.startswith("/run/secrets/"))
            assert "password=" not in str(value)
    assert all(set(one) == {"file"} for one in COMPOSE["secrets"].values())
    ignored = (REPOSITORY / ".gitignore").read_text().splitlines()
    assert "/systemd/pit/container/secrets/" in ignored
    given = {name: [one["source"] for one in SERVICES[name].get("secrets", [])] for name in OURS}
    assert {name: secrets for name, secrets in given.items() if secrets} == {
        "migrate": ["feltwatch-pit-owner"],
        "door": ["feltwatch-pit"],
        "floor": ["feltwatch-pit-floor"],
    }


def test_every_service_that_stays_says_whether_it_is_well() -> None:
    once = {"migrate", "certificate"}
    assert {name for name, one in SERVICES.items() if "healthcheck" not in one} == once
    for name, one in SERVICES.items():
        for other, how in one.get("depends_on", {}).items():
            wanted = "service_completed_successfully" if other in once else "service_healthy"
            assert how == {"condition": wanted}, (name, other)


def test_the_roles_script_is_understood_and_names_the_roles_of_the_installer() -> None:
    script = HERE / "roles"
    subprocess.run(["bash", "-n", script], check=True)
    (line,) = re.findall(r"(?m)^for role in (.+); do$", script.read_text())
    assert line in (REPOSITORY / "systemd/pit/install").read_text()


@needs(CONTAINERS)
def test_the_image_is_built_where_a_builder_is(tmp_path: Path) -> None:
    """The build of a whole release: it fetches Debian's packages."""
    works = (
        one[0]
        for one in BUILDERS
        if shutil.which(one[0]) and subprocess.run(one, capture_output=True, check=False).returncode == 0
    )
    builder = next(works, None)
    if builder is None:
        pytest.skip("no docker, podman or buildah that reaches an engine: the image was not built")
    archives = sorted((REPOSITORY / "dist").glob("feltwatch-*-x86_64.tar.gz"))
    if not archives:
        pytest.skip("no release to build the image of: make release")
    subprocess.run(["tar", "--extract", "--file", archives[-1], "--directory", tmp_path], check=True)
    (release,) = tmp_path.iterdir()
    build = [builder, "build", "--file", str(release / "pit/container/Containerfile"), str(release)]
    subprocess.run(build, check=True)
