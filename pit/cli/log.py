"""`feltwatch pit verify` and `feltwatch pit key`: the proof of what the pit keeps."""

import sys
from pathlib import Path

import click

from firmware.terminal import say, say_json
from pit.errors import PitError
from pit.options import pit_database_option, pit_folder_option


@click.command("verify")
@pit_database_option
@pit_folder_option
@click.option("--log", "log", metavar="HEX", help="The log's public key, where its folder is not at hand.")
@click.option(
    "--checkpoint",
    "files",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A checkpoint from elsewhere, a text file: from a slip, from a table, from another house.",
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def verify_command(url: str, folder: Path, log: str | None, files: tuple[Path, ...], is_json: bool) -> None:
    """Check every row, every signed head, the whole log and every checkpoint.

    Ends with 1 if anything is wrong; each sentence says what to do. The pit goes on meanwhile.
    """
    from rich.console import Console
    from rich.progress import Progress

    from firmware.record.evidence.notes import NoNote
    from firmware.record.evidence.signing import FILE, DeviceKey, KeyUnusable, fingerprint
    from pit.authority import LOG_FOLDER
    from pit.log.verify import read_note, verify
    from pit.store.database import LONG_JOB, Database

    try:
        given = [read_note(path.read_text(encoding="utf-8")) for path in files]
        if log is None and not (folder / LOG_FOLDER / FILE).exists():
            raise PitError(
                "%(folder)s has no key of a log. Give the log's public key: --log HEX", folder=str(folder)
            )
        public = bytes.fromhex(log) if log is not None else DeviceKey.open(folder / LOG_FOLDER).public
    except (NoNote, KeyUnusable, UnicodeDecodeError) as error:
        raise PitError("%(why)s", why=str(error)) from error
    except ValueError as error:
        raise PitError("--log: 64 hexadecimal digits.") from error
    bar = Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
    with Database(url, connections=1, limits=LONG_JOB) as database, bar:
        task = bar.add_task("rows", total=None)
        found = verify(
            database,
            public,
            given=given,
            on_progress=lambda rows, of: bar.update(task, completed=rows, total=of),
        )
    if is_json:
        figures = {name: value for name, value in vars(found).items() if name != "problems"}
        say_json(
            {"ok": found.ok, **figures, "log": public.hex(), "problems": [str(one) for one in found.problems]}
        )
    else:
        for one in found.problems:
            say(str(one))
        say(
            f"{found.records} records, {found.rows} rows, {found.heads} signed heads; a log of {found.leaves} entries,"
            f" {found.checkpoints} checkpoints, {found.cosignatures} cosignatures."
        )
        say(f"The log's key: {fingerprint(public)}. Compare it with a slip.")
        say("All of it holds." if found.ok else f"{len(found.problems)} things are wrong.")
    sys.exit(0 if found.ok else 1)


@click.command("key")
@click.argument("name", required=False)
@click.argument("words", required=False)
@pit_database_option
def key_command(name: str | None, words: str | None, url: str) -> None:
    """Accept the key with which the table NAME signs, by its five WORDS, read from the table's own page.

    Without NAME: list the keys of all tables. Until a key is accepted, what it signs counts for nothing.
    """
    from pit.log.keys import accept_words, list_keys
    from pit.store.database import Database

    if name is not None and words is None:
        raise PitError("Give the five words of the key, as the table's page shows them.")
    with Database(url, connections=1) as database:
        if name is not None and words is not None:
            accept_words(database, name, words)
            say(f"What {name} signs counts from now on.")
            return
        with database.transaction() as connection:
            keys = list_keys(connection)
    for one in keys:
        other = (
            f"  signs with another key: {one.other}. Compare, then: feltwatch pit key" if one.other else ""
        )
        say(f"{one.name}: {one.words or 'no key is accepted'}{other}")
    if not keys:
        say("No table is enrolled.")
