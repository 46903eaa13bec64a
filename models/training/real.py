"""Reads tables of real cards: `python -m models.training real --data DATA`.

Cards are cut out of the photographs (`cut`), laid by the renderer on the felt and read by the product's own path. Of
a deck that lacks cards, those it has are laid. Decks of kinds that no photograph shows are made of real cut-outs
whose indices are moved; their rows say so. The cut cards lie in `cache/real`; delete a folder there to cut it again.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import cv2
import numpy as np

from models.training.art import CACHE
from models.training.cut import alone, by_indices, by_outline, by_paper, pairs, straight
from models.training.judge import Outcome, Tables, on_all_cores, read_tables, total
from models.training.labels import Box, Boxed, boxes, marked_train
from models.training.markdown import put_between, table
from models.training.options import MODEL
from vision.base.arrays import Image
from vision.base.errors import VisionError
from vision.base.pictures import load_picture
from vision.commands.options import PHOTOGRAPHS_HINT, PhotographsFolder
from vision.felt.quality import colour
from vision.reading.network import default_model
from vision.synthetic.decks import BRIDGE_WIDTH_MM
from vision.synthetic.evaluation import Condition, grid

FOLDER = CACHE / "real"
MARKS = ("<!-- real cards: written by models.training real -->", "<!-- end of real cards -->")
LOWER_MM = 7.0
JUMBO = 1.7
_ODD = 30.0
"""From here on a cut card is not taken, see `oddness`."""
_INDEX_MM = (2.0, 10.5, 3.5, 24.0)
"""Left, right, top and bottom of a card's strip with its upper left index."""
_WEBCAM = 16 / 9
"""How much wider the webcam's pictures were before they were squeezed to squares."""
_WEBCAM_INSET_MM = (6.5, 12.5)

Cut = tuple[str, Image]


@dataclass(frozen=True)
class Source:
    """Where a deck's cards come from: the set, its files that begin with `files`, and what is done with each card."""

    photographs: str
    files: str = ""
    alter: Callable[[str, Image], Image] | None = None
    altered: str = ""

    def words(self, trained_on: Collection[str]) -> str:
        """Say where the cards come from, and what they may not be taken for; a manifest says what was trained on."""
        known = "trained on" if self.trained_on(trained_on) else "not trained on"
        return f"{self._named}, {known}" + f"; altered: {self.altered}" * bool(self.altered)

    def trained_on(self, trained_on: Collection[str]) -> bool:
        """Tell whether its cards are of what a manifest says was trained on."""
        return bool({self.photographs, self._named} & set(trained_on))

    @property
    def _named(self) -> str:
        return f"{self.photographs}{f' {self.files}*' * bool(self.files)}"


def lowered(code: str, card: Image, mm: float = LOWER_MM) -> Image:
    """Move both indices of a card towards its middle; an ace gets one in each corner."""
    left, right, top, bottom = (round(v * card.shape[0] / 88.9) for v in _INDEX_MM)
    down = round(mm * card.shape[0] / 88.9)
    for _ in range(2):  # the upper left one, then, upside down, the other
        index = card[top:bottom, left:right].copy()
        paper = np.median(index.reshape(-1, 3), axis=0)
        card = card.copy()
        card[top : top + down, left:right] = paper
        card[top + down : bottom + down, left:right] = index
        if code[0] == "A":
            card[top + down : bottom + down, card.shape[1] - right : card.shape[1] - left] = index
        card = np.ascontiguousarray(card[::-1, ::-1])
    return card


def enlarged(code: str, card: Image, times: float = JUMBO) -> Image:
    """Make both indices of a card larger; they cover what stands next to and below them."""
    left, right, top, bottom = (round(v * card.shape[0] / 88.9) for v in _INDEX_MM)
    for _ in range(2):
        index = cv2.resize(
            card[top:bottom, left:right], None, fx=times, fy=times, interpolation=cv2.INTER_CUBIC
        )
        card = card.copy()
        card[top : top + index.shape[0], left : left + index.shape[1]] = index
        card = np.ascontiguousarray(card[::-1, ::-1])
    return card


def narrowed(code: str, card: Image) -> Image:
    """Make a card as narrow as a bridge card; what lies between its indices is squeezed, they are not."""
    h, w = card.shape[:2]
    edge, goal = round(_INDEX_MM[1] * h / 88.9), round(BRIDGE_WIDTH_MM * h / 88.9)
    middle = cv2.resize(card[:, edge : w - edge], (goal - 2 * edge, h), interpolation=cv2.INTER_AREA)
    return np.asarray(np.hstack([card[:, :edge], middle, card[:, w - edge :]]), np.uint8)


_CASINO = "indices 7 mm lower, aces with four"
DECKS = {
    "bidly": Source("bidly_cards"),
    "rrrrhys": Source("rrrrhys_cards"),
    "edje": Source("edje_tf_cards", "train"),
    "phone": Source("cardcounterml", "IMG_2022"),
    "webcam": Source("cardcounterml", "WIN"),
    "black": Source("cardcounterml", "IMG_7"),
    "bidly-casino": Source("bidly_cards", "", lowered, _CASINO),
    "rrrrhys-casino": Source("rrrrhys_cards", "", lowered, _CASINO),
    "rrrrhys-jumbo": Source("rrrrhys_cards", "", enlarged, "indices 1.7 times as large"),
    "rrrrhys-bridge": Source("rrrrhys_cards", "", narrowed, "57 mm wide, the indices as they were"),
}


def missing_sets(names: Iterable[str], data: Path) -> list[str]:
    """Return the sets of photographs that are not there and that one of these decks has yet to be cut from."""
    uncut = (DECKS[name].photographs for name in names if not any((FOLDER / name).glob("*.png")))
    return sorted(
        {photographs for photographs in uncut if not (data / photographs / "manifest.csv").exists()}
    )


def cut_deck(name: str, data: Path) -> Path:
    """Cut a deck's cards, each from the photograph that shows it best; return their folder.

    Only photographs marked `train` are looked at.
    """
    source, folder = DECKS[name], FOLDER / name
    if any(folder.glob("*.png")):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    best: dict[str, tuple[float, Image]] = {}
    for code, card in _cards(data / source.photographs, source.files):
        odd = oddness(card)
        if odd < best.get(code, (_ODD, card))[0]:
            best[code] = (odd, card)
    for code, (_, card) in best.items():
        cv2.imwrite(str(folder / f"{code}.png"), source.alter(code, card) if source.alter else card)
    return folder


def oddness(card: Image) -> float:
    """Say how unlike itself turned round a card is, in levels: much where it was cut askew or something lies on it."""
    small = cv2.resize(cv2.cvtColor(card, cv2.COLOR_BGR2GRAY), (16, 22), interpolation=cv2.INTER_AREA).astype(
        float
    )
    middle = small[1:-1, 1:-1]
    return float(np.abs(middle - middle[::-1, ::-1]).mean())


def _cards(folder: Path, files: str) -> Iterator[Cut]:
    """Yield the cards of a set's photographs, upright."""
    boxed = boxes(folder)
    for file, code in marked_train(folder):
        if not file.startswith(files):
            continue
        picture = load_picture(folder / file)
        if not boxed:
            yield code, picture
        elif colour(picture).ok:
            cut = _in_boxes(picture, boxed[file], webcam=file.startswith("WIN"))
            yield from ((code, card) for code, card in cut if len(code) == 2)  # no joker, no back


def unsqueezed(picture: Image) -> Image:
    """Give a webcam's picture its own proportions again."""
    return np.asarray(cv2.resize(picture, None, fx=_WEBCAM, fy=1, interpolation=cv2.INTER_CUBIC), np.uint8)


def _in_boxes(picture: Image, boxes: list[Boxed], *, webcam: bool) -> Iterator[Cut]:
    for label, box, what in boxes:
        if what == "whole card":
            corners = by_paper(picture, box)
            if corners is not None:
                yield label, straight(picture, corners)
    if webcam:
        picture = unsqueezed(picture)
    wide = _WEBCAM if webcam else 1.0
    by_label: dict[str, list[Box]] = defaultdict(list)
    for label, (x1, y1, x2, y2), what in boxes:
        if what == "index corner":
            by_label[label].append((x1 * wide, y1, x2 * wide, y2))
    for label, both in pairs(by_label):
        found = by_indices(both, _WEBCAM_INSET_MM) if webcam else by_outline(picture, both)
        others = (box for name, some in by_label.items() if name != label for box in some)
        h, w = picture.shape[:2]
        if found is not None and alone(found, others) and (found > 0).all() and (found < (w, h)).all():
            yield label, straight(picture, found)


def looks() -> list[tuple[str, Condition, bool]]:
    """Return what the tables are like: in words, the condition, whether a third of the cards is missing."""
    evening, untidy = grid()[:2]
    return [(evening.name, evening, False), (untidy.name, untidy, False), ("a third missing", evening, True)]


def measure(model: Path, data: Path, decks: tuple[str, ...], tables: int, seed: int) -> dict[str, Outcome]:
    """Read so many tables of each deck in each of the looks; return what came of them by deck."""
    folders = {name: cut_deck(name, data) for name in decks}
    tasks = [
        (name, Tables(model, folder, condition, tables, seed, gaps=gaps))
        for name, folder in folders.items()
        for _, condition, gaps in looks()
    ]
    found = on_all_cores(read_tables, [task for _, task in tasks], "decks and looks")
    return {
        name: total(plain for (deck, _), (plain, _) in zip(tasks, found, strict=True) if deck == name)
        for name in decks
    }


def section(found: dict[str, Outcome], tables: int, seed: int, trained_on: Collection[str]) -> str:
    """Write what came of the decks, between the marks by which it is found in a report."""
    head = (
        "deck",
        "cut from",
        "cards",
        "tables wholly right",
        "named rightly",
        "sure and right",
        "surely wrong",
        "named where none lay",
    )
    rows = [
        (
            name,
            DECKS[name].words(trained_on),
            str(len({card.laid for card in outcome.cards if card.laid})),
            f"{outcome.score.whole} of {outcome.score.tables}",
            f"{outcome.score.right / outcome.score.cards:.1%}",
            f"{outcome.score.sure / outcome.score.cards:.1%} of {outcome.score.cards:,}",
            str(outcome.score.wrong),
            str(sum(not card.laid for card in outcome.cards)),
        )
        for name, outcome in found.items()
    ]
    wrong = [
        f"{name}: {card.laid or 'no card'} as {card.named} ({card.margin:.1f} nats)"
        for name, outcome in found.items()
        for card in outcome.cards
        if card.sure and not card.right
    ]
    kinds = ", ".join(words for words, _, _ in looks())
    how = (
        f"Real cards, cut out of photographs and laid by the renderer: {kinds}; {tables} of each, seed {seed}. All of "
        "these decks were looked at while the reader was worked on: the model card says for what."
    )
    told = [f"Surely wrong: {', '.join(wrong)}."] if wrong else []
    return "\n\n".join([MARKS[0], how, table(head, rows), *told, MARKS[1]])


def photographs_of(model: Path) -> list[str]:
    """Return the photographs that a model was trained on, as its manifest names them."""
    manifest: dict[str, dict[str, list[str]]] = json.loads(model.with_suffix(".json").read_text())
    return manifest["trained"]["photographs"]


def put_into(report: Path, written: str) -> None:
    """Replace a report's section on tables of real cards.

    Raises:
        ValueError: it has none.
    """
    if not put_between(MARKS, report, written.removeprefix(MARKS[0]).removesuffix(MARKS[1])):
        raise ValueError(f"{report.name} has no section on tables of real cards")


@click.command()
@MODEL
@click.option(
    "--data",
    required=True,
    type=PhotographsFolder(),
    help="Folder of labelled photographs, such as ../shared/data; only those marked `train` are cut.",
)
@click.option(
    "--tables", default=6, show_default=True, type=click.IntRange(1), help="Tables per deck and look."
)
@click.option("--seed", default=0, show_default=True)
@click.option(
    "--deck", "decks", multiple=True, type=click.Choice(list(DECKS)), help="Only this deck (again: more)."
)
@click.option(
    "--into",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A report whose section on tables of real cards is written again.",
)
def command(
    model: Path | None, data: Path, tables: int, seed: int, decks: tuple[str, ...], into: Path | None
) -> None:
    """Read tables of real cards cut out of photographs."""
    names = decks or tuple(DECKS)
    if missing := missing_sets(names, data):
        raise click.UsageError(
            f"{data} lacks photographs that these decks are cut from: {', '.join(missing)}. {PHOTOGRAPHS_HINT} "
            "Without them, name other decks with --deck."
        )
    try:
        model = model or default_model()
        found = measure(model, data, names, tables, seed)
    except VisionError as error:
        raise click.ClickException(str(error)) from error
    written = section(found, tables, seed, photographs_of(model))
    click.echo(written)
    if into:
        try:
            put_into(into, written)
        except ValueError as error:
            raise click.ClickException(str(error)) from error
