"""The card's image, as far as it can be judged without making one: `make image`, `make test-image`."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from firmware.runtime.config import load_config
from tests import tools
from tests.image.check import MUST_START, of_root
from tests.image.parts import copyright_files, debian_parts, licence_list, licences_of, main, sources
from tests.image.twin import CONFIG

SYSTEMD: Final = Path(__file__).parents[2] / "systemd"
HERE: Final = SYSTEMD / "image"
ROOT: Final = HERE / "root"
SCRIPTS: Final = (
    *(HERE / name for name in ("make", "inside")),
    *sorted((ROOT / "usr/lib/card").iterdir()),
    ROOT / "etc/initramfs-tools/hooks/card",
    ROOT / "etc/initramfs-tools/scripts/local-bottom/card",
)
UNITS: Final = sorted((ROOT / "usr/lib/systemd/system").iterdir())
MACHINE_READABLE: Final = "Format: x\n\nFiles: *\nLicense: GPL-2+\n words\n\nFiles: y\nLicense: MIT\n"
PACKAGES: Final = "libc6\t2.36-9\tarm64\tglibc\t2.36-9\nlibc-bin\t2.36-9\tarm64\tglibc\t2.36-9\n"


def mounts() -> dict[str, list[str]]:
    lines = (ROOT / "etc/fstab").read_text().splitlines()
    return {line.split()[1]: line.split() for line in lines if line and not line.startswith("#")}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: "/".join(path.parts[-2:]))
def test_a_script_of_the_card_is_a_program_that_its_shell_can_read(script: Path) -> None:
    assert os.access(script, os.X_OK)
    shell = "bash" if "bash" in script.read_text().splitlines()[0] else "sh"
    subprocess.run([shell, "-n", script], check=True)


def test_the_root_cannot_be_written_and_the_record_has_a_partition_of_its_own() -> None:
    at = mounts()
    assert "/" not in at, "the kernel's own command line mounts it"
    assert "rootfstype=squashfs ro " in (HERE / "boot/cmdline.txt").read_text()
    record = at["/record"]
    assert record[0].endswith("-04")
    assert {"nofail", "x-systemd.growfs", "x-systemd.requires=card-record.service"} <= set(
        record[3].split(",")
    )
    assert {line[0][-2:] for line in at.values() if line[0].startswith("PARTUUID")} == {"01", "03", "04"}


def test_whatever_the_tables_users_keep_lies_with_the_record() -> None:
    """The folders in /var/lib that the services and the installer make."""
    texts = [path.read_text() for path in (SYSTEMD / "units").iterdir()]
    kept = set(re.findall(r"/var/lib/(feltwatch[a-z-]*)", "".join(texts)))
    for text in texts:
        for line in re.findall(r"(?m)^StateDirectory=(.*)$", text):
            kept |= set(line.split())
    kept |= set(re.findall(r"/var/lib/(feltwatch[a-z-]*)", (SYSTEMD / "feltwatch.tmpfiles").read_text()))
    assert {f"/var/lib/{name}" for name in kept} == {at for at in mounts() if at.startswith("/var/lib/")}
    made = set(re.findall(r'"\$folders"/([a-z-]+)', (ROOT / "usr/lib/card/record").read_text()))
    assert made == kept
    (there,) = re.findall(r"/var/lib/feltwatch\{(\S*)\}", (HERE / "inside").read_text())
    assert {f"feltwatch{one}" for one in there.split(",")} == kept, "where they are mounted"


def test_the_installer_takes_no_unit_of_the_card_for_one_of_a_release() -> None:
    assert UNITS
    assert all(unit.name.startswith("card-") for unit in UNITS)


@tools.needs(tools.SYSTEMD)
def test_the_service_manager_finds_nothing_wrong_with_the_units_of_the_card(tmp_path: Path) -> None:
    for unit in UNITS:
        (tmp_path / unit.name).write_text(unit.read_text().replace("/usr/lib/card", f"{ROOT}/usr/lib/card"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / unit.name) for unit in UNITS)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:", "LC_ALL": "C.UTF-8"},
    )
    ours = [line for line in (done.stdout + done.stderr).splitlines() if "card-" in line]
    assert ours == []


def test_neither_a_remote_log_in_nor_a_password_is_on_the_card() -> None:
    packages = (HERE / "packages").read_text() + (SYSTEMD / "debian-packages").read_text()
    assert "ssh" not in packages
    assert "--password" not in (HERE / "inside").read_text()


def documents(folder: Path) -> Path:
    """An archive of /usr/share/doc: one package's file, and one that is a link to it."""
    doc = folder / "doc"
    (doc / "libc6").mkdir(parents=True)
    (doc / "libc6/copyright").write_text("See /usr/share/common-licenses/LGPL-2.1.\n")
    (doc / "libc-bin").symlink_to("libc6")
    (doc / "bash").mkdir()
    (doc / "bash/copyright").symlink_to("../libc6/copyright")
    subprocess.run(["tar", "-czf", folder / "licences.tar.gz", "-C", doc, "."], check=True)
    return folder / "licences.tar.gz"


def test_a_package_has_the_licences_that_its_copyright_file_names() -> None:
    assert licences_of(MACHINE_READABLE) == ["GPL-2+", "MIT"]
    assert licences_of("in `/usr/share/common-licenses/GPL-2'. The rest is in the public\ndomain.") == [
        "GPL-2",
        "public-domain",
    ]
    assert licences_of("All of it is ours.") == []
    assert licence_list(PACKAGES, {"libc6": ["GPL-2+"]}).splitlines()[-2:] == [
        "libc6\tGPL-2+",
        "libc-bin\tsee its text in licences.tar.gz",
    ]


def test_a_copyright_file_is_found_where_its_package_links_to_anothers(tmp_path: Path) -> None:
    text = "See /usr/share/common-licenses/LGPL-2.1.\n"
    assert copyright_files(documents(tmp_path)) == {"libc6": text, "libc-bin": text, "bash": text}


def test_the_list_of_parts_has_the_releases_and_debians_and_is_the_same_each_time(tmp_path: Path) -> None:
    (tmp_path / "packages.tsv").write_text(PACKAGES)
    release = {"specVersion": "1.6", "serialNumber": "another each time", "components": [{"name": "numpy"}]}
    (tmp_path / "release.json").write_text(json.dumps(release))
    asked = [
        str(tmp_path / "packages.tsv"),
        "--texts",
        str(documents(tmp_path)),
        "--release-parts",
        str(tmp_path / "release.json"),
        "--to",
        str(tmp_path),
    ]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    made = json.loads((tmp_path / "sbom.json").read_text())
    assert [part["name"] for part in made["components"]] == ["numpy", "libc6", "libc-bin"]
    assert "serialNumber" not in made
    assert made["components"][1]["licenses"] == [{"license": {"name": "LGPL-2.1"}}]
    (tmp_path / "packages.tsv").write_text(PACKAGES + "dash\t1\tarm64\tdash\t1\n")
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 1
    assert done.output == "Error: Without a copyright file: dash.\n"


def test_a_source_is_listed_once_with_all_that_was_built_from_it() -> None:
    assert sources(PACKAGES).splitlines()[-1] == "glibc=2.36-9\tlibc6 libc-bin"
    assert debian_parts(PACKAGES, {})[0]["purl"] == "pkg:deb/debian/libc6@2.36-9?arch=arm64"


def test_the_installer_makes_no_card_of_a_machine_that_runs() -> None:
    text = (SYSTEMD / "install").read_text()
    image = text.split("    --image)")[1].split(";;")[0]
    assert "[ ! -d /run/systemd/system ] || bad_input" in image
    assert "start" not in re.sub(r'"[^"]*"', "", image), "nothing is started there"


def test_the_configuration_that_the_twin_plays_with_is_one(tmp_path: Path) -> None:
    (tmp_path / "feltwatch.toml").write_text(CONFIG)
    assert len(load_config(tmp_path / "feltwatch.toml").seats) == 2


def test_a_root_with_a_password_a_key_or_a_log_is_noticed(tmp_path: Path) -> None:
    for name in MUST_START:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to("/somewhere")
    (tmp_path / "etc/shadow").write_text("root:*:::::::\ntechnician:!:::::::\n")
    (tmp_path / "etc/machine-id").touch()
    assert list(of_root(tmp_path)) == []
    (tmp_path / "etc/shadow").write_text("root::::::::\ntechnician:$6$x:::::::\n")
    (tmp_path / "etc/machine-id").write_text("1\n")
    (tmp_path / "etc/tls.pem").write_text("-----BEGIN PRIVATE KEY-----\n" + "A" * 60)
    (tmp_path / "var/log").mkdir(parents=True)
    (tmp_path / "var/log/syslog").touch()
    (tmp_path / MUST_START[0]).unlink()
    assert len(list(of_root(tmp_path))) == 6
