"""`feltwatch report`: the figures of a shift."""

import sys
from pathlib import Path

import click

from firmware.cli.options import data_option, no_record, say_times_to_come, time_ms
from firmware.command_options import ANY_PATH
from firmware.terminal import escape, say, say_all, say_json


@click.command("report")
@data_option
@click.option(
    "--from",
    "since_ms",
    metavar="TIME",
    callback=time_ms,
    help="From this time on, such as 2026-11-20T18:30.",
)
@click.option("--to", "until_ms", metavar="TIME", callback=time_ms, help="Before this time.")
@click.option("--down", type=click.IntRange(min=1), help="The last down with this number.")
@click.option("--shift", "is_shift", is_flag=True, help="The last shift; the same as without any of these.")
@click.option(
    "--csv", "as_csv", is_flag=True, help="Print a line for each down, for a spreadsheet; money in cents."
)
@click.option("--pdf", "pdf_file", type=ANY_PATH, metavar="FILE", help="Write a PDF with plots.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def command(
    data: Path,
    since_ms: int | None,
    until_ms: int | None,
    down: int | None,
    is_shift: bool,
    as_csv: bool,
    pdf_file: Path | None,
    is_json: bool,
) -> None:
    """Report a shift: hands, fouls, naturals, corrections, cards asked about or read wrong, faults, collection.

    The figures are given for each dealer and each down. A shift ends where no hand was opened for four hours. Where a
    table never rests, the report is about the last day.
    """
    from dealer_ui.reports.report_view import as_csv as csv_of
    from firmware.record.journal.journal import JournalReader
    from firmware.record.report_span import Span, down_of, report_of_span, shift
    from firmware.rules import paying_in

    timed = since_ms is not None or until_ms is not None
    if timed + (down is not None) + is_shift > 1:
        raise click.UsageError("Choose one of --shift, --down, and --from with --to.")
    if since_ms is not None and until_ms is not None and since_ms >= until_ms:
        raise click.UsageError("--from must lie before --to.")
    if as_csv and is_json:
        raise click.UsageError("Choose --csv or --json.")
    reader = JournalReader(data)
    if not reader.openings(limit=1):
        raise no_record(data, "hand on record")
    span = (
        Span(since_ms or 0, until_ms) if timed else shift(reader) if down is None else down_of(reader, down)
    )
    found = report_of_span(reader, span)
    say_times_to_come(found.ended_ms)
    house = reader.recover()[0].house
    if pdf_file is not None:
        from dealer_ui.reports.report_pdf import report_pdf
        from firmware.record.journal.disk import write_whole

        try:
            with paying_in(house.currency):
                write_whole(pdf_file, report_pdf(found, house.table))
        except OSError as error:
            raise click.ClickException(f"{pdf_file} cannot be written: {error.strerror}.") from error
        say(f"{pdf_file} is written.", err=True)
    if is_json:
        say_json(found.to_json())
    elif as_csv:
        say_all(csv_of(found).replace("\r\n", "\n"))
    elif pdf_file is None:
        with paying_in(house.currency):
            _show(found)


def _show(found: object) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from dealer_ui.reports.report_view import report_view
    from firmware.record.shift_counts import Report

    assert isinstance(found, Report)
    view = report_view(found)
    if view.is_empty:
        say("Nothing happened at this table in that time.")
        return
    table = Table(title=view.when, title_justify="left")
    table.add_column("")
    for head in view.heads:
        table.add_column(head, justify="right")
    for line in view.downs:
        table.add_row(Text(f"{escape(line.name)}\n{line.when}"), *line.cells)
    table.add_section()
    for line in (*view.dealers, view.total):
        table.add_row(Text(escape(line.name)), *line.cells)
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
