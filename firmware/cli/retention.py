"""`feltwatch keep`, `backup`, `restore`: retention of images, and backups of the record."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import click

from firmware.cli.options import ask_table, by_option, data_option, key_option, need_record
from firmware.command_options import ANY_PATH, progress_bar
from firmware.runtime.config import HOUSE_CONFIG
from firmware.terminal import say, say_json

if TYPE_CHECKING:
    from firmware.record.evidence.differences import Difference
    from firmware.record.retention import Deletion, Rule

SHOWN: Final = 20
"""Number of hands printed as text; JSON has all of them."""


@click.command("keep")
@data_option
@click.option(
    "--config",
    "config_file",
    type=ANY_PATH,
    help=f"The TOML file that has the house's rule.  [default: {HOUSE_CONFIG}, where there is one]",
)
@click.option(
    "--days", type=click.IntRange(1), help="Keep images for so many days, instead of by the house's rule."
)
@click.option(
    "--megabytes",
    type=click.IntRange(1),
    help="Keep so many megabytes of images, instead of by the house's rule.",
)
@click.option("--do", "really", is_flag=True, help="Delete them; without it they are only listed.")
@by_option
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def keep(
    data: Path,
    config_file: Path | None,
    days: int | None,
    megabytes: int | None,
    really: bool,
    by: str | None,
    is_json: bool,
) -> None:
    """List the images that the house's rule deletes, and delete them with --do.

    Rows of the record are never deleted. The images of a disputed hand and of the last ten hands stay. The hash of
    each deleted image stays in the record. The running table does this by itself once a day, between hands.
    """
    from firmware.record.retention import Rule
    from firmware.runtime.config import load_config

    if config_file is None and HOUSE_CONFIG.exists():
        config_file = HOUSE_CONFIG
    kept = load_config(config_file, data=data).keeping
    rule = Rule(days, megabytes) if days or megabytes else Rule(kept.days, kept.megabytes)
    if not rule.is_set:
        _print_deletions([], "would go", is_json, _no_rule(config_file))
        return
    need_record(data)
    drops = _plan(data, rule)
    outcome = "would go"
    if really:
        order = {"do": "drop_images", "days": rule.days, "megabytes": rule.megabytes}
        answer = ask_table({name: value for name, value in order.items() if value}, by, data)
        outcome = "go one by one, between hands" if answer else "are gone"
        if answer is None:
            drops = _drop_here(data, drops)
    _print_deletions(drops, outcome, is_json)


def _plan(data: Path, rule: Rule) -> list[Deletion]:
    from firmware.record.archive import Archive
    from firmware.record.retention import plan
    from firmware.runtime.timestamps import box_clock

    return list(plan(Archive(data), rule, box_clock()().wall_ms))


def _drop_here(data: Path, drops: list[Deletion]) -> list[Deletion]:
    """Delete images in the record of a stopped table, and return what was deleted."""
    from firmware.record.archive import Archive
    from firmware.record.journal.captures import CaptureStore
    from firmware.record.journal.journal import Journal
    from firmware.record.retention import leftovers, remove
    from firmware.runtime.timestamps import box_clock
    from firmware.table import CommandRefused, apply

    store = CaptureStore(data)
    gone = []
    with Journal(data, box_clock()) as journal:
        state = journal.recover()
        for drop in drops:
            try:
                state = apply(state, drop.tombstone)
            except CommandRefused:
                continue  # disputed since the list was made
            journal.append([drop.tombstone], "console")
            remove(store, drop.images)
            gone.append(drop)
    archive = Archive(data)
    archive.refresh()
    for images in leftovers(archive, store):
        remove(store, images)
    return gone


def _no_rule(config_file: Path | None) -> str:
    found = (
        f"{config_file} has no days or megabytes under [keeping]"
        if config_file
        else f"There is no {HOUSE_CONFIG}"
    )
    return (
        f"No image goes: no rule is set, so all images stay. {found}. With a rule, this command lists the images "
        "that are older or take more room. Try one: feltwatch keep --days 400"
    )


def _print_deletions(
    drops: list[Deletion], outcome: str, is_json: bool, none: str = "No image goes by that rule."
) -> None:
    size = sum(drop.size for drop in drops)
    if is_json:
        hands = [
            {"hand": d.hand, "images": len(d.images), "bytes": d.size, "reason": str(d.reason)} for d in drops
        ]
        say_json({"done": outcome == "are gone", "bytes": size, "hands": hands})
        return
    for drop in drops[:SHOWN]:
        say(f"hand {drop.hand}: {len(drop.images)} images, {drop.size / 1e6:.1f} MB: {drop.reason}")
    if len(drops) > SHOWN:
        say(f"and {len(drops) - SHOWN} more hands")
    if not drops:
        say(none)
        return
    hint = " Do it with --do." if outcome == "would go" else ""
    say(f"{size / 1e6:,.1f} MB of {len(drops):,} hands {outcome}.{hint}")


@click.command("backup")
@click.argument("folder", type=ANY_PATH)
@data_option
def backup(folder: Path, data: Path) -> None:
    """Copy the record to a new FOLDER and verify the copy. The table may go on meanwhile.

    The backup holds the journal and the images. It does not hold the device's key or the PINs: anybody with the
    backup would have them.
    """
    from firmware.record.backup import back_up

    need_record(data)
    with progress_bar("verifying the copy") as on_progress:
        found = back_up(data, folder, on_progress=on_progress)
    if not found.holds:
        say(found.verdict)
    say(f"{folder}: {found.entries:,} rows of {found.hands:,} hands, {found.images:,} images")
    if not found.holds:
        first = (*found.problems, *found.unproven)[0]
        where = f"Row {first.seq}: " if first.seq is not None else ""
        raise click.ClickException(f"{found.verdict} The copy is like the record. {where}{first.what}")


@click.command("restore")
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--from-pit",
    "enrolment",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="ENROLMENT",
    help="Fetch what this table has sent to the pit, with the enrolment in this folder.",
)
@click.option(
    "--salvage",
    "saved",
    type=ANY_PATH,
    metavar="NEW",
    help="Save what can be saved of a damaged FOLDER to the new folder NEW, and replace nothing.",
)
@data_option
@key_option
@click.option("--yes", is_flag=True, help="Do not ask again, once it is said what differs.")
@click.option(
    "--unproven", is_flag=True, help="Restore also what is not signed, or contradicts what this box signed."
)
def restore(
    folder: Path | None,
    enrolment: Path | None,
    saved: Path | None,
    data: Path,
    key_folder: Path,
    yes: bool,
    unproven: bool,
) -> None:
    """Replace the record by the backup in FOLDER, or by what the pit has. The table must be stopped.

    The backup is copied and verified before anything is replaced, and compared with the present record and with what
    this box signed last: what differs is said first. A backup that is not signed, or that contradicts what this box
    signed, is restored with --unproven only. What it replaces is kept in the data folder. If the command is
    interrupted, give it again: it goes on. The record says that it was restored. PINs stay those of the box: a person
    whose PIN was set after the backup needs a new one (feltwatch people pin NAME). The pit has no images but those
    that it asked for, so a record from there is without. A picture that is missing or damaged in the backup is named,
    also in the record.

    A backup whose rows are damaged is refused. --salvage saves its rows up to the damage as a record that can be
    restored, the rows after it as lines of JSON, and the pictures, and lists what is lost. The exit status is 1 if
    anything is.
    """
    if saved is not None and folder is not None:
        _salvage(folder, saved)
        return
    if (folder is None) == (enrolment is None):
        raise click.UsageError("Name the folder of a backup, or --from-pit and the folder of the enrolment.")
    if folder is not None:
        _put_back(folder, data, key_folder, yes, unproven)
        return
    from firmware.uplink.client import Client
    from firmware.uplink.errors import UplinkError
    from firmware.uplink.fetch import fetch
    from firmware.uplink.settings import load

    assert enrolment is not None
    with TemporaryDirectory(prefix="feltwatch-pit-") as fetched:
        settings = load(enrolment)
        if settings is None:
            raise UplinkError("There is no enrolment in %(path)s.", path=str(enrolment))
        with progress_bar("fetching from the pit") as on_progress, closing(Client(settings)) as client:
            fetch(client, Path(fetched), on_progress)
        _put_back(Path(fetched), data, key_folder, yes, unproven)


def _salvage(folder: Path, to: Path) -> None:
    from firmware.record.journal.journal import FILE
    from firmware.record.salvage import LATER, LOST, salvage

    if to.exists() or not (folder / FILE).exists():
        raise click.UsageError(f"{to} is there already, or there is no {FILE} in {folder}.")
    found = salvage(folder, to)
    say(f"{to}: a record of {found.rows:,} rows, {found.later:,} later rows in {LATER}; nothing was replaced")
    for first, last in found.lost_rows[:SHOWN]:
        say(f"LOST: rows {first} to {last}")
    if found.hands:
        say(f"LOST, or parts of them: hands {', '.join(map(str, found.hands[:SHOWN]))}")
    for image in found.images[:SHOWN]:
        say(f"LOST: {image}")
    say(f"All that is lost: {to / LOST}. Whether rows are missing after the last one, only a slip can tell.")
    if found.lost_rows or found.images:
        raise SystemExit(1)


def _put_back(folder: Path, data: Path, key_folder: Path, yes: bool, unproven: bool) -> None:
    from firmware.record.restore import restore as put_back
    from firmware.runtime.timestamps import box_clock
    from firmware.table.errors import JournalDamaged

    def agreed(found: tuple[Difference, ...]) -> None:
        for one in found:
            say(f"{'UNPROVEN' if one.is_unproven else 'differs'}: {one.what}")
        if not unproven and any(one.is_unproven for one in found):
            raise click.ClickException(
                "Nothing was replaced. To restore it all the same, give --unproven; the record will show it."
            )
        if not yes:
            click.confirm("Replace the record by this backup?", abort=True)

    try:
        with progress_bar("verifying the backup") as on_progress:
            replaced, lost = put_back(
                folder, data, box_clock(), key_folder=key_folder, agree=agreed, on_progress=on_progress
            )
    except JournalDamaged:
        say(
            f"What can be saved of it goes to a new folder: feltwatch restore {folder} --salvage NEW",
            err=True,
        )
        raise
    say(f"The record in {data} is that of {folder}.")
    if replaced is not None:
        say(f"What was there is in {replaced}; remove it when you are sure.")
    for one in lost[:SHOWN]:
        say(f"LOST: {len(one.missing) + len(one.changed)} images of hand {one.hand}, as a row of it says")
    if len(lost) > SHOWN:
        say(f"and images of {len(lost) - SHOWN} more hands")
