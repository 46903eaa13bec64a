"""`feltwatch hands`: the archive on the command line: list, show, export, verify, recall."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from firmware.cli.options import (
    ask_table,
    by_option,
    data_option,
    key_option,
    need_new,
    need_open,
    need_record,
    no_record,
    say_times_to_come,
    time_ms,
    write_whole_file,
)
from firmware.command_options import ANY_PATH, data_option_unopened, progress_bar
from firmware.terminal import say, say_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from firmware.record.archive import Archive
    from firmware.record.evidence.verify import Problem, Verification

WITH: Final = ("correction", "foul", "natural", "dispute", "not_reviewed")
MAX_PROBLEMS: Final = 20
"""Maximum number of problems printed as text; JSON has all of them."""
_json = click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")


class _Hands(click.Group):
    """A group in which a refusal, such as that of a hand that does not exist, is wrong usage."""

    def invoke(self, ctx: click.Context) -> Any:
        from firmware.table.errors import CommandRefused

        try:
            return super().invoke(ctx)
        except CommandRefused as error:
            raise click.UsageError(str(error)) from error


@click.group("hands", cls=_Hands)
def command() -> None:
    """List, show, export and verify the hands on record.

    The exit status is 2 for bad input, such as a hand that does not exist. It is 1 for a record or a file that failed
    a check.
    """


@command.command("list")
@data_option
@click.option(
    "--from", "since", callback=time_ms, metavar="TIME", help="Only hands opened at this time or later."
)
@click.option("--to", "until", callback=time_ms, metavar="TIME", help="Only hands opened before this time.")
@click.option("--seat", type=click.IntRange(1, 5), help="Only hands in which this seat played.")
@click.option("--player", help="Only hands in which this player played.")
@click.option("--profile", help="Only hands played by these rules.")
@click.option("--dealer", help="Only hands dealt by this dealer.")
@click.option(
    "--with",
    "marks",
    type=click.Choice(WITH),
    multiple=True,
    help="Only hands with this; may be given more than once.",
)
@click.option("--before", type=click.IntRange(1), help="Only hands before this one, to go on with a list.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, help="List at most so many hands.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON line for each hand.")
def list_hands(data: Path, since: int | None, until: int | None, is_json: bool, **options: Any) -> None:
    """List hands, the newest first."""
    from firmware.cli.hands_text import line_json, line_text
    from firmware.record.archive import HandFilter

    archive = _open_archive(data)
    _refresh(archive)
    marks = frozenset(options.pop("marks"))
    before, limit = options.pop("before"), options.pop("limit")
    lines = archive.hands(HandFilter(since, until, marks=marks, **options), before, limit)
    if not lines and not is_json:
        say("No such hands.", err=True)
    on_table = _reopened_now(archive)
    for line in lines:
        say_json(line_json(line)) if is_json else say(line_text(line, is_on_table=line.hand == on_table))
    say_times_to_come(max((line.ended_ms or line.opened_ms for line in lines), default=None))
    if len(lines) == limit and not is_json:
        say(f"More: --before {lines[-1].hand}", err=True)


def _open_archive(data: Path) -> Archive:
    from firmware.record.archive import Archive

    need_record(data)
    return Archive(data)


def _reopened_now(archive: Archive) -> int | None:
    """Return the hand that was reopened and lies on the table; None without one, or if the record was changed."""
    from firmware.table.errors import JournalError

    try:
        state, _ = archive.reader.recover()
    except JournalError:  # the hand's own line says so
        return None
    return state.hand if state.reopened else None


def _refresh(archive: Archive) -> None:
    with progress_bar("looking through the record") as on_progress:
        archive.refresh(on_progress)


@command.command("show")
@click.argument("number", type=click.IntRange(1))
@data_option
@_json
def show(number: int, data: Path, is_json: bool) -> None:
    """Show hand NUMBER: its rows in the record, its images, and every settlement that was shown."""
    from firmware.cli.hands_text import hand_json, hand_text

    archive = _open_archive(data)
    hand = archive.hand(number)
    images = archive.images(hand)
    lines = [json.dumps(hand_json(hand, images), ensure_ascii=False)] if is_json else hand_text(hand, images)
    for line in lines:
        say(line)


@command.command("recall")
@click.argument("number", type=click.IntRange(1), required=False)
@data_option
@_json
def recall(number: int | None, data: Path, is_json: bool) -> None:
    """Show the settlement of hand NUMBER again; without NUMBER, of the hand that was settled last."""
    from firmware.cli.hands_text import settlement_lines, when
    from firmware.table.events import HandSettled

    archive = _open_archive(data)
    _refresh(archive)
    if number is None:
        number = next((line.hand for line in archive.hands(limit=50) if line.outcome == "settled"), None)
    if number is None:
        raise click.UsageError("No hand of this record was settled yet.")
    hand = archive.hand(number)
    if not hand.settlements:
        raise click.UsageError(f"Hand {number} was not settled.")
    row = hand.settlements[-1]
    event = row.event
    assert isinstance(event, HandSettled)
    if is_json:
        facts = {"recalled": True, "hand": number, "row": row.seq, "wall_ms": row.wall_ms}
        say_json(facts | {"settlement": event.settlement})
        return
    say(f"RECALLED: hand {number}, settled {when(row.wall_ms)[:19]}. This is not the hand on the table.")
    for line in settlement_lines(event.settlement, hand.opened.house.currency):
        say(line)


@command.command("export")
@click.argument("number", type=click.IntRange(1))
@data_option
@click.option("--out", type=ANY_PATH, help="The file to write.  [default: hand-NUMBER.zip, here]")
@by_option
@key_option
def export(number: int, data: Path, out: Path | None, by: str | None, key_folder: Path) -> None:
    """Write the dispute file of hand NUMBER: a signed ZIP that anybody can check without this software.

    The running table makes and signs it; --by names the person who asks. While the table is stopped, a user who may
    read the device's key can make one. Then only the file's own signature proves the end of the record.
    """
    from firmware.record.dispute_file import EXPORTS
    from firmware.record.evidence.dispute_verifier import check

    out = out or Path(f"hand-{number:06}.zip")
    need_new(out)
    answer = ask_table({"do": "export_hand", "past": number}, by, data)
    if answer is None:
        _export_here(number, data, out, key_folder)
    else:
        with (
            write_whole_file(out) as part,
            (data / EXPORTS / answer["file"]).open("rb") as original,
            part.open("wb") as copy,
        ):
            shutil.copyfileobj(original, copy)
            copy.flush()
            os.fsync(copy.fileno())
    say(f"{out}: check it with: feltwatch hands verify {out}")
    if wrong := check(str(out)).wrong:
        raise click.ClickException(f"The record fails the check, and so does the file: {wrong[0]}")


def _export_here(number: int, data: Path, out: Path, key_folder: Path) -> None:
    from firmware.cli.dispute_pdf_hook import dispute_pdf
    from firmware.record.dispute_file import write_dispute_file
    from firmware.record.evidence.signing import FILE, DeviceKey, KeyUnusable

    archive = _open_archive(data)
    archive.hand(number)
    try:
        is_missing = not (key_folder / FILE).exists()
    except OSError:
        is_missing = False  # perhaps it is there: `DeviceKey.open` says why it cannot be read
    if is_missing:
        raise KeyUnusable(
            "There is no device key in %(path)s: the table makes one when it first runs.",
            path=str(key_folder),
        )
    key = DeviceKey.open(key_folder)
    write_dispute_file(archive, number, key, out, lambda hand: dispute_pdf(data, hand))


@command.command("verify")
@click.argument("file", type=ANY_PATH, required=False)
@click.option("--all", "everything", is_flag=True, help="Check the whole record: every row and every image.")
@data_option_unopened
@click.option(
    "--anchor",
    "anchors",
    multiple=True,
    metavar="TEXT|FILE",
    help="The text of a slip, or a file with it; may be given more than once.",
)
@click.option(
    "--key", default="", show_default=False, help="The key that must have signed FILE, in words or hex."
)
@click.option(
    "--log",
    default="",
    show_default=False,
    help="The key of the pit's log that FILE's hand must be proven in, in words or hex.",
)
@click.option("--no-images", is_flag=True, help="With --all: check rows only.")
@click.option("--replay", is_flag=True, help="With --all: also settle every hand again, row by row. Slow.")
@key_option
@_json
def verify(
    file: Path | None,
    everything: bool,
    data: Path,
    anchors: tuple[str, ...],
    key: str,
    log: str,
    no_images: bool,
    replay: bool,
    key_folder: Path,
    is_json: bool,
) -> None:
    """Check a dispute FILE, or --all of the record, and name the first place that is wrong.

    Rows, images and content are compared with their hashes, each row with the one before it, and each signed head
    with its key. After each hand that ended there must be a signed head; otherwise the record is NOT signed. A record
    whose end was cut off passes all of this. Only a slip that was printed before shows it: give its text with --anchor.
    A dispute file of a table that sends to a pit also proves that the pit's log has the hand: give the log's key with
    --log, as a slip shows it.
    """
    if (file is None) == (not everything):
        raise click.UsageError("Name a dispute file, or say --all for the record.")
    if log and file is None:
        raise click.UsageError("--log is for a dispute file. For a pit's whole log: feltwatch pit verify")
    texts = [_anchor_text(anchor) for anchor in anchors]
    if file is not None:
        holds = _verify_file(file, texts, key, log, is_json)
    else:
        need_open(data)
        holds = _verify_record(data, texts, not no_images, replay, is_json, key_folder)
    sys.exit(0 if holds else 1)


def _anchor_text(given: str) -> str:
    path = Path(given)
    try:
        return path.read_text(encoding="ascii") if not given.startswith("FW1") and path.is_file() else given
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"The anchor {given} cannot be read as text.") from error


def _verify_file(file: Path, anchors: list[str], key: str, log: str, is_json: bool) -> bool:
    from firmware.record.evidence.dispute_verifier import check

    report = check(str(file), tuple(anchors), key, log)
    if is_json:
        facts = {"holds": report.holds, "beside": report.beside, "wrong": report.wrong}
        say_json({"ok": report.ok, "signed": report.is_signed} | facts)
        return report.ok
    for line in report.lines():
        say(line)
    return report.ok


def _verify_record(
    data: Path, texts: list[str], images: bool, replay: bool, is_json: bool, key_folder: Path
) -> bool:
    from firmware.record.evidence.anchors import Anchor
    from firmware.record.evidence.verify import verify as verify_record

    slips = [Anchor.parse(text) for text in texts]
    with progress_bar("rows") as on_progress:
        found = verify_record(
            data, anchors=slips, images=images, replayed=replay, settled=replay, on_progress=on_progress
        )
    if is_json:
        say_json(_found_to_json(found))
        return found.holds
    if not found.entries and not found.problems and not slips:
        raise no_record(data)
    say(found.verdict)
    _say_problems("WRONG", found.problems)
    _say_problems("NOT SIGNED", found.unproven)
    _say_problems("FAULT ON RECORD", found.faults)
    gone = f"{found.dropped:,} dropped by the house's rule, {found.lost:,} lost with a restore"
    read = f"{found.images:,} images ({gone})" if images else "no images"
    say(
        f"{found.entries:,} rows of {found.hands:,} hands, {read}, {found.anchors:,} signed heads; "
        f"the last row's hash is {found.head or 'none'}"
    )
    for line in _signers(found, key_folder):
        say(line)
    if not replay:
        say("The hands were not settled again. Only --replay checks that each hand settles to its figures.")
    if not slips:
        say("Nothing was compared with a slip. Only --anchor checks that the record's end is whole.")
    say(found.verdict)
    return found.holds


def _say_problems(label: str, problems: Sequence[Problem]) -> None:
    for problem in problems[:MAX_PROBLEMS]:
        where = f"row {problem.seq}: " if problem.seq else ""
        say(f"{label}: {where}{problem.what}")
    if len(problems) > MAX_PROBLEMS:
        say(f"and {len(problems) - MAX_PROBLEMS} more; --json lists them all")


def _signers(found: Verification, key_folder: Path) -> Iterator[str]:
    """Yield which keys signed heads of the record, and whether they are this box's own."""
    from firmware.record.evidence.signing import DeviceKey, KeyUnusable

    try:
        own = DeviceKey.existing(key_folder)
        unknown = f"there is no device key in {key_folder}"
    except KeyUnusable as error:
        own, unknown = None, str(error)
    for signer in found.signers:
        if own is None:
            whose = "whether it is this box's key cannot be seen here"
        elif own.public.hex() == signer.key:
            whose = "this box's own key"
        else:
            whose = "NOT this box's key"
        yield f"signed by {signer.words}, {whose}: {signer.heads:,} heads, the last in row {signer.last}"
    for words in found.keys:
        if words not in {signer.words for signer in found.signers}:
            yield f"announced, and proven by no signature: {words}"
    if own is None and found.signers:
        yield f"Compare the words with those on a slip: {unknown}."


def _found_to_json(found: Verification) -> dict[str, Any]:
    lists = ("problems", "unproven", "faults", "signers")
    facts = {name: value for name, value in vars(found).items() if name not in lists}
    signers = [
        {"words": one.words, "key": one.key, "heads": one.heads, "last": one.last} for one in found.signers
    ]
    troubles = {
        name: [{"seq": one.seq, "what": str(one.what)} for one in problems]
        for name, problems in (
            ("problems", found.problems),
            ("unproven", found.unproven),
            ("faults", found.faults),
        )
    }
    return {"ok": found.holds, **facts, "signers": signers, **troubles}
