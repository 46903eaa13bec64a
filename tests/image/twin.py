"""Boots the card's image in QEMU and does to it what happens to a box: `make test-image`.

    python -m tests.image.twin [IMAGE] [--kills N] [--no-update] [--write docs/image-report.md]

One card lives through all of it, in the order of `main`: a first start to the page's answer, what systemd says of
itself, a hand, a release that does not start, power cuts at random moments. It takes long, because arm64 is emulated.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import click
import cv2
import numpy as np

from firmware.record.evidence.verify import verify
from tests.image.card import PATIENCE_S, ROOM, Card
from tests.image.report import Report
from tests.install.house import DEALS, configuration, draw
from tests.install.install_run import DIES
from tests.install.machine import another_release, sign

CUTS: Final = "power cuts at random moments behind the same one of a game, each record read off the card"
GO: Final = f"{ROOM}/go"
MAX_TOUCHES: Final = 5
"""Touches after which the power is cut, at most. A hand has four: archive the last, open, set, show; then it is
read."""
BROKEN: Final = "9.0.0-broken"
PLAYER: Final = ("/opt/feltwatch/current/bin/python", f"{ROOM}/player.py")
CONFIG: Final = configuration(f"{ROOM}/view.bmp", reading=300.0, reading_ceiling=3600.0, reading_start=300.0)
FACTS: Final = (
    ("the root", "findmnt --noheadings --output FSTYPE,OPTIONS / | tr -s ' ' | cut -c1-20"),
    ("the partitions", "lsblk --noheadings --bytes --output NAME,SIZE /dev/vda | tr -s ' \\n' ' '"),
    ("room, used", "df --output=target,size,used --block-size=MB /system /record | tail --lines=+2 | tr -s ' \\n' ' '"),
    ("open ports", "ss --tcp --udp --listening --numeric --no-header | awk '{print $1, $5}' | tr '\\n' ' '"),
    ("watchdog", "systemctl show --property=RuntimeWatchdogUSec --value; wdctl --noheadings --oneline 2>&1 | head -1"),
    ("failed units", "systemctl list-units --failed --no-legend --plain"),
    ("state", "systemctl is-system-running"),
    ("memory pages", "uname -r; getconf PAGESIZE"),
    ("start", "systemd-analyze time | head -1"),
)  # fmt: skip
PAGE_WITHIN_S: Final = 20.0
"""Seconds from its kernel's start, by its own clock, in which the page answers."""
CHAINS: Final = ("feltwatch-ui.service", "feltwatch-table.service", "feltwatch.target")
MUST_FAIL: Final = (
    "touch /usr/x",
    "mount -o remount,rw / && touch /usr/x",
    "su technician --command true </dev/null && su --login technician -c 'sudo -n true'",
    "systemctl is-enabled ssh.service",
    "command -v sshd",
)
MUST_HOLD: Final = (
    "test $(stat --format=%s /etc/machine-id) = 33",
    "mountpoint --quiet /record && mountpoint --quiet /var/lib/feltwatch && mountpoint --quiet /var/lib/feltwatch-key",
    "findmnt --noheadings --output SOURCE /var/lib/feltwatch | grep --quiet 'vda4'",
    "test $(df --output=size --block-size=MB /system | tail -1 | tr -dc 0-9) -gt 3900",
    "test -z \"$(awk -F: '$2 !~ /^[!*]/ {print $1}' /etc/shadow)\"",
    "! systemctl is-active systemd-timesyncd feltwatch-table feltwatch-ui card-record | grep -v --line-regexp active",
    "touch /etc/x && rm /etc/x",
    "test $(getconf PAGESIZE) = 16384",
)


def pictures(folder: Path) -> Path:
    """Draw what the camera sees: an empty felt and the two deals. BMP: nothing to unpack for an emulated processor."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, hands in (("empty", {}), ("deal0", DEALS[0]), ("deal1", DEALS[1])):
        if not (folder / f"{name}.bmp").exists():
            draw(hands, folder / f"{name}.bmp")
    shutil.copy(folder / "empty.bmp", folder / "view.bmp")
    return folder


def stick_with(release: Path, folder: Path) -> Path:
    """Make a disk with a release on it that is signed and does not start."""
    stick = folder / "stick.ext4"
    if not stick.exists() or stick.stat().st_mtime < release.stat().st_mtime:
        target = folder / "stick" / BROKEN
        shutil.rmtree(target.parent, ignore_errors=True)
        target.parent.mkdir()
        subprocess.run(["tar", "-xzf", release, "-C", target.parent], check=True)
        next(target.parent.iterdir()).rename(target)
        key = Path(os.environ.get("FELTWATCH_RELEASE_KEY", Path.home() / ".config/feltwatch-release"))
        another_release(target, BROKEN, (DIES,), 1)
        carried = folder / "stick" / "signed"
        sign(target, key, carried, "aarch64")
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", carried, stick, "300M"], check=True)
        shutil.rmtree(target)
    return stick


def first_start(card: Card, report: Report) -> None:
    """From the plug to the page's answer, and what is so then."""
    with report.step("the first start, to the page's answer") as found:
        card.switch_on()
        card.wait_until_up()
        card.wait(card.is_up, "the page answers")
        found.append(f"/healthz: 200, {card.seconds_up():.0f} s by its own clock")
    with report.step("what systemd says once it has started"):
        card.wait(
            lambda: card.run("systemctl", "is-system-running").stdout.strip() != "starting", "it has started"
        )
        for name, command in FACTS:
            said = " ".join(card.run("sh", "-c", command).stdout.split())
            report.facts.append(f"| {name} | {said or 'none'} |")
            click.echo(report.facts[-1])
            assert name != "failed units" or not said, said
        for command in MUST_HOLD:
            done = card.run("sh", "-c", command)
            assert done.returncode == 0, f"{command}: {done}"
        for command in MUST_FAIL:
            done = card.run("sh", "-c", command)
            assert done.returncode != 0, f"{command}: {done}"
        page = str(card.ask("/")[1])
        assert "set-up" in page.lower(), page[:2000]
        for unit in CHAINS:
            chain = card.run("systemd-analyze", "critical-chain", "--no-pager", unit).stdout
            report.listings.append((f"systemd-analyze critical-chain {unit}", chain))
        blame = card.run("systemd-analyze", "blame", "--no-pager").stdout.splitlines()
        report.listings.append(("systemd-analyze blame: the longest", "\n".join(blame[:15])))
        judged = card.run("systemd-analyze", "security", "--no-pager").stdout.splitlines()
        ours = [line.rstrip() for line in judged if "feltwatch" in line or line.startswith("UNIT")]
        report.listings.append(("systemd-analyze security: ours", "\n".join(ours)))


def page_s(card: Card, report: Report) -> float:
    """Say when page and table were ready, by the card's own clock; return the page's seconds."""
    ready = {}
    for unit in CHAINS[:2]:
        asked = ("systemctl", "show", "--property=ActiveEnterTimestampMonotonic", "--value", unit)
        ready[unit] = int(card.run(*asked, check=True).stdout) / 1e6
    page, table = ready.values()
    report.facts.append(
        f"| the page serves, the table answers | {page:.1f} s, {table:.1f} s by its own clock |"
    )
    click.echo(report.facts[-1])
    report.keep()
    return page


def furnish(card: Card, report: Report) -> None:
    """Let it have a house's configuration and a dealer; a hand is played."""
    with report.step("a configuration and a dealer, as at a console; the table starts again") as found:
        status, _ = card.ask({"do": "end_set_up", "skipped": True})
        found.append(f"the set-up is ended: {status}")
        card.put("/etc/feltwatch/feltwatch.toml", CONFIG.encode())
        card.run("systemctl", "stop", "feltwatch-table.service", check=True)
        add = ("feltwatch", "people", "add", "Robin", "--role", "dealer")
        card.run("runuser", "-u", "feltwatch-table", "--", *add, check=True)
        card.run("systemctl", "restart", "feltwatch-table.service", "feltwatch-ui.service", check=True)
        card.wait(card.is_up, "the table answers")
    with report.step("a hand through the page, 26 cards read from a picture") as found:
        found.append(play(card, 1))


def play(card: Card, hands: int) -> str:
    """Play hands to their settlement; return what the player said last."""
    card.follow(*PLAYER, str(hands), ROOM)
    card.wait(lambda: any("ended" in line for line in card.listen(2)), "the hands are settled")
    assert card.lines[-1] == "ended 0", "\n".join(card.lines[-20:]) + card.log()
    return card.lines[-2]


def confirmed(card: Card) -> list[tuple[int, str]]:
    """Return the rows that the page had confirmed."""
    card.listen(0.02)
    rows = [json.loads(line) for line in card.lines if line.startswith('{"confirmed"')]
    return [(row["confirmed"][0], row["confirmed"][1]) for row in rows]


def let_play(card: Card, touches: int) -> None:
    """Let the player begin; return as soon as the page has confirmed so many touches."""
    card.put(GO, b"")
    end = time.monotonic() + PATIENCE_S
    while len(confirmed(card)) < touches:
        assert time.monotonic() < end, f"in vain: {touches} confirmed touches\n{card.log()}"


def cut(card: Card, report: Report, kills: int, chance: random.Random, minutes: float) -> None:
    """Cut the power at random moments of a game that runs, and look at the card as another computer would."""
    lost, rows, done, began = [], 0, 0, time.monotonic()
    with report.step(CUTS) as found:
        card.follow(*PLAYER, "0", ROOM, GO)
        card.wait(lambda: bool(card.listen(0.5)), "the player is ready")
        card.keep_state("playing")
        while done < kills and time.monotonic() < began + 60 * minutes:
            card.cut_power()
            card.switch_on(state="playing")
            let_play(card, chance.randint(1, MAX_TOUCHES))
            card.listen(chance.uniform(0, chance.choice((0.01, 0.3, 5))))
            card.cut_power()
            card.listen(0.5)
            told = confirmed(card)
            data = card.record(card.folder / "record")
            seen = verify(data)
            with sqlite3.connect(f"file:{data}/journal.sqlite?mode=ro", uri=True) as db:
                there = dict(db.execute("SELECT seq, hash FROM journal"))
            missing = [row for row in told if there.get(row[0]) != row[1]]
            lost += missing
            rows += len(told)
            done += 1
            click.echo(
                f"cut {done}: {len(told)} confirmed, {len(missing)} lost, {seen.entries} rows, {seen.ok}"
            )
            assert seen.ok, seen.problems
        found.append(
            f"{done} cuts, {rows} confirmed touches, {len(lost)} lost; every record whole by its chain"
        )
        assert not lost, lost


def start_again(card: Card, report: Report) -> None:
    """After a power cut: to the page's answer, and a hand."""
    with report.step("the start after the last cut, to the page's answer, and a hand") as found:
        card.switch_on()
        card.wait_until_up()
        card.wait(card.is_up, "the page answers")
        found += [f"{card.seconds_up():.0f} s by its own clock to the answer", play(card, 1)]


def update(card: Card, report: Report, packed: Path) -> None:
    """A signed release that the pit sent and that does not start is gone back from by itself.

    The table's user asks for it, and root's own unit installs it: what the console's `feltwatch update` runs, too.
    """
    before = card.run("readlink", "/opt/feltwatch/current").stdout
    with packed.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    with report.step(
        "a signed release from the pit that does not start, by feltwatch-update.service"
    ) as found:
        card.run("mkdir", "-p", "/run/stick", check=True)
        card.run("mount", "-o", "ro", "/dev/vdb", "/run/stick", check=True)
        card.run("cp", "-r", "/run/stick/maker", "/run/stick/targets", "/var/lib/feltwatch-inbox", check=True)
        request = json.dumps({"number": 7, "sha256": digest})
        asks = f"touch update-now && echo '{request}' >.ask && mv .ask update.json"
        as_table = ("runuser", "-u", "feltwatch-table", "--", "sh", "-c")
        card.run(*as_table, f"cd /run/feltwatch && {asks}", check=True)
        result = ("cat", "/run/feltwatch-update/result.json")
        card.wait(lambda: card.run(*result).returncode == 0, "it says how it ended")
        said = card.run(*result).stdout
        assert f"Release {BROKEN} was rolled back" in said, said + card.log()
        assert card.run("readlink", "/opt/feltwatch/current").stdout == before
        card.wait(card.is_up, "the release before answers")
        found.append("rolled back by itself; the release before answers")
    with report.step("a hand after it") as found:
        found.append(play(card, 1))


def start_with_smaller_pages(image: Path, folder: Path, report: Report) -> None:
    """Start the same card with its other kernel: what lies on it is read with pages of 4 KB, too."""
    card = Card(image, folder, pictures(folder / "pictures"), pages="4k")
    try:
        with report.step(
            "the same card with its other kernel, pages of 4 KB, to the page's answer, and a hand"
        ) as found:
            card.switch_on()
            card.wait_until_up()
            card.wait(card.is_up, "the page answers")
            assert card.run("getconf", "PAGESIZE").stdout.strip() == "4096"
            found += [f"{card.seconds_up():.0f} s by its own clock to the answer", play(card, 1)]
    finally:
        card.cut_power()


def look(image: Path, folder: Path, report: Report, keep: Path) -> None:
    """Start another card with a screen: the set-up comes by itself. What was on the screen is kept as `keep`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "card.qcow2").unlink(missing_ok=True)
    card = Card(image, folder, pictures(folder / "pictures"))
    try:
        with report.step("another card's first start, with a screen, to the set-up on it") as found:
            card.switch_on(screen=True)
            card.wait_until_up()
            card.wait(lambda: shows_a_page(card), "there is a page on the screen")
            shutil.copy(card.screen(), keep)
            found.append(f"{card.seconds_up():.0f} s by its own clock: cage, Chromium, the set-up")
    finally:
        card.cut_power()


def shows_a_page(card: Card) -> bool:
    """Return whether the screen has the set-up's colours, twice alike: a page, not a console nor a page half drawn."""
    first = cv2.imread(str(card.screen()))
    card.listen(20)
    second = cv2.imread(str(card.screen()))
    if first is None or second is None:
        return False
    return np.array_equal(first, second) and len(np.unique(second.reshape(-1, 3), axis=0)) > 100


@click.command()
@click.argument("image", type=click.Path(path_type=Path, exists=True), required=False)
@click.option("--kills", default=20, show_default=True, help="How many power cuts.")
@click.option("--minutes", default=120.0, show_default=True, help="After which no further power cut begins.")
@click.option("--update/--no-update", "updates", default=True, help="Try a release that does not start.")
@click.option("--other-pages/--no-other-pages", default=True, help="Start it with pages of 4 KB, too.")
@click.option(
    "--screen", type=click.Path(path_type=Path), help="Start a card with a screen, and keep its picture here."
)
@click.option("--seed", default=27, show_default=True, help="For the moments of the power cuts.")
@click.option("--write", type=click.Path(path_type=Path), help="Write the report to this file.")
def main(
    image: Path | None,
    kills: int,
    minutes: float,
    updates: bool,
    other_pages: bool,
    screen: Path | None,
    seed: int,
    write: Path | None,
) -> None:
    """Boot the card's IMAGE (otherwise the one in dist) and do to it what happens to a box."""
    found = sorted(Path("dist").glob("feltwatch-card-*/targets/*.img"))
    if image is None and not found:
        sys.exit("There is no image in dist: make image")
    image = image or found[-1]
    folder = Path("build/image/twin")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "card.qcow2").unlink(missing_ok=True)
    (release,) = Path("dist").glob("feltwatch-*-aarch64.tar.gz")
    card = Card(
        image, folder, pictures(folder / "pictures"), stick_with(release, folder) if updates else None
    )
    report = Report(write)
    try:
        first_start(card, report)
        page = page_s(card, report)
        furnish(card, report)
        if updates:
            update(card, report, folder / "stick" / "signed/targets" / f"{BROKEN}.tar.gz")
        if kills:
            cut(card, report, kills, random.Random(seed), minutes)
            start_again(card, report)
        with report.step("switched off in good order"):
            card.run("systemctl", "--no-block", "poweroff")
            card.wait_until_off()
        if other_pages:
            start_with_smaller_pages(image, folder, report)
        if screen:
            look(image, folder / "screen", report, screen)
        assert page <= PAGE_WITHIN_S, f"the page serves after {page:.1f} s, later than {PAGE_WITHIN_S:.0f} s"
    finally:
        card.cut_power()
        report.keep()


if __name__ == "__main__":
    main()
