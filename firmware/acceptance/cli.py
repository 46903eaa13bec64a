"""`feltwatch acceptance`: a built table measured step by step, resumed after a power cut, as a signed PDF."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from firmware.cli.options import by_option, data_option, key_option, need_record, pin_asked
from firmware.command_options import FOLDER
from firmware.terminal import say

if TYPE_CHECKING:
    from firmware.acceptance.findings import Result
    from firmware.acceptance.run_file import RunFile
    from firmware.acceptance.steps import Step
    from firmware.acceptance.walk import Walk

PDF: Final = "acceptance.pdf"


@click.command("acceptance")
@data_option
@by_option
@key_option
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Cut the long measurements short; the report then says that they were not long enough.",
)
@click.option("--presses", type=click.IntRange(min=1), help="Press each push-button so often.  [default: 20]")
@click.option("--skip", multiple=True, metavar="STEP", help="Leave a step out; may be given more than once.")
@click.option(
    "--again", multiple=True, metavar="STEP", help="Measure a step once more, and nothing else; likewise."
)
@click.option("--new", "is_new", is_flag=True, help="Begin a new run; the last one stays as it is.")
@click.option("--list", "listing", is_flag=True, help="List the steps and how they stand, and do nothing.")
@click.option(
    "--verify", "folder", type=FOLDER, metavar="FOLDER", help="Verify a report's folder, and do nothing else."
)
def command(
    data: Path,
    by: str | None,
    key_folder: Path,
    minutes: float | None,
    presses: int | None,
    skip: tuple[str, ...],
    again: tuple[str, ...],
    is_new: bool,
    listing: bool,
    folder: Path | None,
) -> None:
    """Measure a built table: camera, puck reader, push-buttons, heat, a power cut; write a signed PDF.

    The table process must be running, no hand may be open, and the felt must be bare. --by names the technician. Each
    step is kept at once. Stop with Ctrl-C whenever you like: the same command goes on with the next step, also after
    the power cut that it asks for. A step that is left out, or was not measured long enough, never counts as passed.
    The report lies in the data folder, in reports/. The exit status is 0 only if every step passed.
    """
    from firmware.acceptance.limits import PRESSES
    from firmware.acceptance.run_file import RunFile
    from firmware.acceptance.steps import STEPS

    if folder is not None:
        _verify(folder, data)
        return
    names = {step.id for step in STEPS}
    if strange := sorted({*skip, *again} - names):
        raise click.UsageError(f"There is no step {strange[0]!r}; see: feltwatch acceptance --list")
    if listing:
        need_record(data)
        last = RunFile.last(data)
        results = last.results() if last else {}
        for step in STEPS:
            verdict = results[step.id].verdict if step.id in results else "not measured"
            say(f"{step.id:20} {step.title:36} {verdict}")
        return
    need_record(data)
    sys.exit(_run(data, by, key_folder, minutes, presses or PRESSES, skip, again, is_new))


def _run(
    data: Path,
    by: str | None,
    key_folder: Path,
    minutes: float | None,
    presses: int,
    skip: tuple[str, ...],
    again: tuple[str, ...],
    is_new: bool,
) -> int:
    from firmware.acceptance.run_file import RunFile
    from firmware.acceptance.selftest import reports_folder
    from firmware.acceptance.table_trial import TableTrial
    from firmware.acceptance.walk import Walk
    from firmware.record.evidence.signing import DeviceKey
    from firmware.record.journal.journal import JournalReader
    from firmware.runtime.house_config import SOFTWARE

    reports_folder(data)
    if DeviceKey.existing(key_folder) is None:
        say(f"There is no key in {key_folder}: the report will NOT be signed.", err=True)
    person = AtConsole()
    with TableTrial(data, by, pin_asked(f"PIN of {by}") if by else None, person.tell, person.ask) as trial:
        table = JournalReader(data).recover()[0].house.table
        run = (None if is_new else RunFile.last(data)) or RunFile.begin(data, SOFTWARE, table)
        walk = Walk(trial, person, run, by or "", minutes, presses)
        try:
            go_on(walk, skip, again)
        except (KeyboardInterrupt, click.Abort):
            say()
            say("Stopped. What was measured is kept; the same command goes on.")
    is_well, says = write_report(run, key_folder)
    say(f"{says} The report: {run.folder / PDF}")
    return 0 if is_well else 1


class AtConsole:
    """The technician at the console."""

    def tell(self, text: str) -> None:
        """Say something."""
        say(text)

    def ask(self, text: str) -> bool:
        """Ask whether something is so."""
        return click.confirm(text)

    def ready(self, text: str) -> None:
        """Say what to do, and wait for Enter. Raises LeftOut."""
        from firmware.acceptance.walk import LeftOut

        if (
            str(click.prompt(f"   {text} [Enter; s: leave this step out]", default="", show_default=False))
            == "s"
        ):
            raise LeftOut


def go_on(walk: Walk, skip: tuple[str, ...] = (), again: tuple[str, ...] = ()) -> None:
    """Measure every step that is not done; with `again` these alone, done or not. Raises SelftestError, RunUnusable."""
    from firmware.acceptance.steps import STEPS

    results = walk.run.results()
    wanted = [
        step
        for step in STEPS
        if (step.id in again if again else step.id not in results or not results[step.id].is_done)
    ]
    for number, step in enumerate(wanted):
        left = sum(one.planned(walk.most_minutes) for one in wanted[number:])
        place = STEPS.index(step) + 1
        walk.technician.tell(
            f"{place:2}/{len(STEPS)} {step.title} ({step.id}); about {left:.0f} minutes left"
        )
        result = walk.unmeasured(step.id, "Left out.") if step.id in skip else measure(walk, step)
        walk.run.keep(result)
        walk.technician.tell(f"   {line(result)}")


def measure(walk: Walk, step: Step) -> Result:
    """Do one step; what keeps it from being measured is its result. Raises SelftestError, RunUnusable."""
    from firmware.acceptance.walk import LeftOut, NotMeasurable
    from vision.base.errors import VisionError

    walk.pictures = []
    try:
        return step.do(walk)
    except LeftOut:
        return walk.unmeasured(step.id, "Left out.")
    except (NotMeasurable, VisionError) as error:
        return walk.unmeasured(step.id, str(error))


def line(result: Result) -> str:
    """Return a result in one line."""
    from firmware.acceptance.findings import show
    from firmware.acceptance.limits import LIMITS

    figures = []
    for name, value in result.figures.items():
        limit = LIMITS[name]
        measured = "unknown" if value is None else show(value, limit.unit)
        figures.append(f"{limit.title} {measured} ({limit.text or 'recorded only'})")
    return ". ".join(part for part in (str(result.verdict).upper(), "; ".join(figures), result.says) if part)


def write_report(run: RunFile, key_folder: Path) -> tuple[bool, str]:
    """Write the PDF and sign the folder. Return whether the table is accepted, and the sentence that says so."""
    from firmware.acceptance.report_pdf import acceptance_pdf, overall
    from firmware.acceptance.signed_folder import sign_folder, unsign_folder
    from firmware.record.evidence.signing import DeviceKey

    key = DeviceKey.existing(key_folder)
    is_well, says = overall(run.results())
    run.write(PDF, acceptance_pdf(run, key))
    if key is None:
        unsign_folder(run.folder)
        return False, f"{says} It is NOT signed: there is no key in {key_folder}."
    sign_folder(run, key)
    return is_well, f"{says} Signed by {key.words}."


def _verify(folder: Path, data: Path) -> None:
    """Verify a report's folder, and whether its key is the one that this record announced, if a record is here."""
    from firmware.acceptance.signed_folder import check_folder, words_of
    from firmware.record.journal.journal import JournalReader

    device, wrong = check_folder(folder)
    for one in wrong:
        say(one)
    if device:
        say(f"Signed by the key {words_of(device)}: compare these words with those on the box or on a slip.")
        last = JournalReader(data).last_key()
        if last is not None and getattr(last.event, "key", "") == device:
            say(f"It is the key that signs the record in {data}.")
    say("It does NOT hold." if wrong else "All of it holds.")
    sys.exit(bool(wrong))
