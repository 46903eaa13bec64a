"""`feltwatch enrol`: learns the house's own deck from pictures of its spread, or only checks that a deck is whole."""

import json
from pathlib import Path

import click

from vision.base.pictures import load_picture, picture_files
from vision.cli.options import ANY_PATH, FILE, LAYOUT, one_line
from vision.felt.layout import TableLayout
from vision.reading.enrolment import check_deck, enrol, spread
from vision.reading.network import CardReader
from vision.reading.profile_files import load_profile, save_profile
from vision.reading.table_reading import read


@click.command(name="enrol")
@click.argument("paths", nargs=-1, type=ANY_PATH, metavar="[PATH...]")
@click.option("--name", default="house", help="A name for the deck.")
@click.option("--out", type=FILE, help="Store what was learnt in this file.")
@click.option(
    "--check", "only_check", is_flag=True, help="Only check that all 52 cards are there; store nothing."
)
@click.option("--deck", type=FILE, help="With --check: the file of the enrolled deck.")
@LAYOUT
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def command(
    paths: tuple[Path, ...],
    name: str,
    out: Path | None,
    only_check: bool,
    deck: Path | None,
    layout_file: Path | None,
    is_json: bool,
) -> None:
    """Learn a deck from pictures of its 52 cards laid out on the felt.

    Without PATH it shows how to lay them. Take two or three pictures; gather the cards and lay them out again before
    each. Give all pictures in one command.
    """
    layout = TableLayout.load(layout_file)
    if not paths:
        click.echo(how_to_lay(layout))
        return
    frames = [load_picture(file) for file in picture_files(paths)]
    if only_check:
        profile = load_profile(deck) if deck else None
        found = check_deck(read(frames[0], layout, CardReader(deck=profile), dealt=False), layout)
        faults = {"whole": found.whole, "missing": found.missing, "misplaced": found.misplaced}
        click.echo(json.dumps(faults) if is_json else str(found))
        if not found.whole:
            raise SystemExit(1)
        return
    learnt = enrol(frames, layout, CardReader(), name)
    target = out or Path(f"{name}.npz")
    save_profile(learnt, target)
    result = {"deck": name, "file": str(target), "sha256": learnt.sha256, "pictures": len(frames)}
    words = f"The deck {name} is learnt from {len(frames)} pictures and stored in {target}."
    click.echo(json.dumps(result) if is_json else one_line(words))


def how_to_lay(layout: TableLayout) -> str:
    """Describe how the 52 cards are laid for enrolment and deck check."""
    hands = spread(layout)
    lines = ["Lay the 52 cards face up on the felt, from each player's left:"]
    for place, rows in hands.items():
        lines += [f"  {place} {row:<6} {' '.join(cards)}" for row, cards in rows.items()]
    return "\n".join(map(one_line, lines))
