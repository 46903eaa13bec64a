"""A record lies in plain files on a file system that a power cut spares, or no table starts on it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from firmware.cli.doctor import examine
from firmware.cli.run import run
from firmware.record.evidence.verify import verify
from firmware.record.journal.captures import FOLDER
from firmware.record.journal.ground import find_memory
from firmware.record.journal.journal import FILE, Journal
from firmware.runtime.config import load_config
from firmware.table import JournalError
from firmware.table import events as ev
from firmware.table.people import PINS_FOLDER

TABLE = """25 1 254:0 / / rw,relatime - ext4 /dev/root rw
30 25 0:30 / /run rw,nosuid - tmpfs tmpfs rw,size=9k
31 25 0:31 / /media/root-rw rw - tmpfs tmpfs rw
32 25 0:32 / /live rw - overlay overlayroot rw,lowerdir=/ro,upperdir={upper},workdir=/w
33 25 179:2 / /live/disk rw - ext4 /dev/sda1 rw
"""


@pytest.mark.parametrize("name", [FILE, FOLDER])
def test_a_link_in_the_place_of_a_part_is_refused_by_writer_and_readers_and_named_by_doctor(
    tmp_path: Path, name: str
) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "ssd"
    elsewhere.mkdir()
    with Journal(data) as journal:
        journal.append([ev.TableStarted()], "table")
    (data / FOLDER).mkdir(exist_ok=True)
    (data / name).rename(elsewhere / name)
    (data / name).symlink_to(elsewhere / name)
    with pytest.raises(JournalError, match="is a link, and no part of a record may be one"):
        Journal(data)
    with pytest.raises(JournalError, match="is a link"):
        verify(data)
    (said,) = [check for check in examine(data) if check.name == "chain"]
    assert said.verdict == "bad"
    assert "is a link" in str(said.says)


def test_a_journal_with_a_second_name_is_refused(tmp_path: Path) -> None:
    Journal(tmp_path / "data").close()
    os.link(tmp_path / "data" / FILE, tmp_path / "other.sqlite")
    with pytest.raises(JournalError, match="second name"):
        Journal(tmp_path / "data")


@pytest.mark.parametrize(
    ("folder", "upper", "cmdline", "kind"),
    [
        ("/run/feltwatch", "/up", "", "tmpfs"),
        ("/var/lib", "/up", "boot=overlay", ""),
        ("/live/data", "/media/root-rw/over", "", "overlay"),
        ("/live/data", "/not/seen", "quiet boot=overlay", "tmpfs"),
        ("/live/data", "/not/seen", "quiet", ""),
        ("/live/disk/data", "/not/seen", "boot=overlay", ""),
    ],
)
def test_memory_is_told_from_a_disk_by_the_mounts(
    tmp_path: Path, folder: str, upper: str, cmdline: str, kind: str
) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    if kind == "overlay":  # its upper layer is seen
        upper, kind = str(tmp_path), "tmpfs"
        mounts = TABLE.format(upper=upper) + f"40 25 0:40 / {tmp_path} rw - tmpfs tmpfs rw\n"
    else:
        mounts = TABLE.format(upper=upper)
    (tmp_path / "proc/self/mountinfo").write_text(mounts)
    (tmp_path / "proc/cmdline").write_text(cmdline)
    found = find_memory(Path(folder), tmp_path)
    assert (f"lies in memory ({kind})" in str(found)) if kind else found is None


@pytest.mark.skipif(not os.path.ismount("/dev/shm"), reason="no RAM file system here")
def test_no_table_starts_on_a_ram_file_system_by_silence_and_doctor_names_it(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    data = Path("/dev/shm") / f"feltwatch-{os.getpid()}"
    with pytest.raises(JournalError, match="lies in memory"):
        run(load_config(data=data, key=tmp_path_factory.mktemp("key")))
    assert not (data / FILE).exists()
    assert not (data / PINS_FOLDER).exists()
    try:
        with Journal(data) as journal:
            journal.append([ev.TableStarted()], "table")
        assert "lies in memory" in str(next(check for check in examine(data) if check.name == "chain").says)
    finally:
        shutil.rmtree(data)
