"""`feltwatch anchor`: signs the record's head, and prints it as a paper slip."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from firmware.cli.options import ask_table, by_option, data_option, key_option, need_record
from firmware.command_options import FILE
from firmware.terminal import say, say_json
from firmware.uplink.status_file import FOLDER as PIT_STATUS

if TYPE_CHECKING:
    from firmware.record.evidence.anchors import Anchor


@click.command("anchor")
@data_option
@by_option
@key_option
@click.option("--svg", type=FILE, help="Write the QR code as SVG.")
@click.option("--png", type=FILE, help="Write the QR code as PNG.")
@click.option("--pdf", type=FILE, help="Write the slip, 80 mm wide.")
@click.option(
    "--pit-state",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("/") / PIT_STATUS,
    help="Where the uplink says what this table holds of the pit's log.",
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def command(
    data: Path,
    by: str | None,
    key_folder: Path,
    svg: Path | None,
    png: Path | None,
    pdf: Path | None,
    pit_state: Path,
    is_json: bool,
) -> None:
    """Sign the record's head, the hash of its last row, and print it.

    Do this at the end of each shift and keep the paper. It shows later whether the end of the record was cut off or
    rewritten:

        feltwatch hands verify --all --anchor TEXT_OF_THE_QR_CODE

    A table that sends to a pit adds the newest checkpoint of the pit's log that it holds, as a second code:

        feltwatch pit verify --checkpoint FILE_WITH_ITS_TEXT
    """
    from dealer_ui.reports.slip import checkpoint_lines, qr, slip_lines, slip_pdf, slip_png, slip_svg
    from firmware.record.evidence.anchors import Anchor
    from firmware.record.journal.disk import write_whole
    from firmware.uplink.held_checkpoint import read_checkpoint

    answer = ask_table({"do": "sign_head"}, by, data)
    anchor = Anchor.parse(answer["anchor"]) if answer else _at_the_console(data, key_folder)
    held = read_checkpoint(pit_state)
    try:
        for path, made in ((svg, slip_svg), (png, slip_png), (pdf, slip_pdf)):
            if path is not None:
                content = made(anchor, held)
                write_whole(path, content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise click.ClickException(f"The slip cannot be written: {error.strerror or error}.") from error
    if is_json:
        added = {} if held is None else {"checkpoint": held.note, "proven": held.is_proven}
        say_json({**vars(anchor), "text": anchor.text, "words": anchor.fingerprint, **added})
        return
    if not (svg or png or pdf):
        qr(anchor).terminal(compact=True)
    for line in slip_lines(anchor)[:-2]:
        say(line)
    say(anchor.text)
    if held is not None:
        for line in (*checkpoint_lines(held)[:-2], held.note.rstrip("\n")):
            say(line)


def _at_the_console(data: Path, key_folder: Path) -> Anchor:
    """Sign on the record of a stopped table. Raises TableError."""
    from firmware.record.evidence.anchors import Anchor, sign_head
    from firmware.record.evidence.signed_note import write_note
    from firmware.record.evidence.signing import DeviceKey
    from firmware.record.journal.journal import Journal, JournalReader
    from firmware.runtime.timestamps import box_clock
    from firmware.table import events as ev

    need_record(data)
    clock = box_clock()
    with Journal(data, clock) as journal:
        key = DeviceKey.open(key_folder)
        state = journal.recover()
        last = JournalReader(data).last_key()
        public = key.public.hex()
        if last is None or getattr(last.event, "key", "") != public:
            journal.append([ev.KeyAnnounced(public)], "console")
        seq, digest = journal.head
        table = state.house.table
        event = sign_head(
            key, seq=seq, digest=digest, hands=state.last_hand, wall_ms=clock().wall_ms, table=table
        )
        journal.append([event], "console")
        write_note(key_folder, Anchor.of(event))
    return Anchor.of(event)
