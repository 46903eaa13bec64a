"""Reads pictures by the hundred, on all cores, and compares what was read with what lay there.

Pictures are rendered tables of decks or labelled photographs; the same seed gives the same tables. Nothing here
draws conclusions: `calibrate`, `measure` and `report` do.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import platform
import shelve
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np
import onnxruntime
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from scipy.optimize import linear_sum_assignment

import vision
from models.training.samples import PACKAGE
from vision.base.arrays import Image
from vision.base.errors import EnrolmentError, MarkersError
from vision.base.pictures import load_picture
from vision.felt.layout import TableLayout
from vision.reading import loose_cards
from vision.reading.enrolment import enrol, spread
from vision.reading.network import CardReader, DeckProfile
from vision.reading.table_reading import ReadCard, TableReading, read
from vision.synthetic.decks import PhotoDeck
from vision.synthetic.evaluation import Condition, Score, score_table
from vision.synthetic.props import Thing
from vision.synthetic.render import Hands, Scene, deal, render_table

KEPT = Path(__file__).parent / "cache" / "results"
"""Where results wait for a command that was stopped."""
_VISION = Path(vision.__path__[0])
SPREADS = (3, 5)
"""Pictures of its spread from which a deck is enrolled; a house that is refused takes more."""
_NEAR = 0.5
"""A name farther from a card than this share of its height belongs to another, or to none."""

K = TypeVar("K")
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class JudgedCard:
    """A card that lay there with the name it was given.

    Attributes:
        laid: its code; empty: there was no card where one was named.
        named: the name it was given; empty: it was passed over.
        margin, evidence: nats (0 where it was passed over).
        sure: whether it would be taken without asking.
        fit: whether the picture was fit to be read.
    """

    laid: str
    named: str
    margin: float = 0.0
    evidence: float = 0.0
    sure: bool = False
    fit: bool = True

    @property
    def right(self) -> bool:
        """Whether the name is the card's."""
        return self.laid == self.named

    def __str__(self) -> str:
        figures = f"{self.margin:.1f} nats, evidence {self.evidence:.1f}"
        return f"{self.laid or 'no card'} as {self.named}, {figures}"


@dataclass
class Outcome:
    """What came of some pictures: the counts, every card, how many were not fit to be read or need no question."""

    score: Score = field(default_factory=Score)
    cards: list[JudgedCard] = field(default_factory=list)
    unfit: int = 0
    unasked: int = 0

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def total(outcomes: Iterable[Outcome]) -> Outcome:
    """Add outcomes up."""
    return sum(outcomes, Outcome())


@dataclass(frozen=True)
class Tables:
    """Tables to render and read: a deck's folder, how they look, how many; with a profile, read twice.

    `hand`: a person's hand lies over some cards of each. `gaps`: each lacks a third of its 52 cards, as a table does
    with three players, or while cards are placed; a wrong name may then be that of a card not on the table.
    `webcam_px`: the picture was taken so wide and enlarged again, which no count of its pixels tells. Without `pips`
    cards are read by their indices alone, as in loose photographs.
    """

    model: Path
    deck: Path
    condition: Condition
    tables: int
    seed: int
    profile: DeckProfile | None = None
    hand: bool = False
    gaps: bool = False
    webcam_px: int | None = None
    pips: bool = True


def on_all_cores(work: Callable[[T], R], tasks: Mapping[K, T], title: str) -> dict[K, R]:
    """Do the tasks in processes of their own, with a progress bar on stderr; results by the tasks' keys, in order.

    A result is kept as soon as it is there, until all are: the same command of the same code, stopped, goes on where it
    was. A task's error is raised once the others are done.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # One thread in each process: where BLAS's threads fight over the cores, an enrolment takes a hundred times as long.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    KEPT.mkdir(parents=True, exist_ok=True)
    name = f"{_fingerprint()} {title}"
    with (
        shelve.open(str(KEPT / name)) as kept,
        ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn"), _quietly) as pool,
        Progress(*columns, console=Console(stderr=True)) as progress,
    ):
        missing = {pool.submit(work, task): key for key, task in tasks.items() if repr(key) not in kept}
        bar = progress.add_task(title, total=len(tasks), completed=len(tasks) - len(missing))
        for future in as_completed(missing):
            if future.exception() is None:
                kept[repr(missing[future])] = future.result()
                kept.sync()
            progress.advance(bar)
        for future in missing:
            future.result()
        found = {key: kept[repr(key)] for key in tasks}
    for file in KEPT.glob(f"{name}*"):
        file.unlink()
    return found


def _fingerprint() -> str:
    """Name the command and what it runs: the code, the networks and their limits."""
    digest = hashlib.sha256(repr(sys.argv[1:]).encode())
    models = (PACKAGE.glob(files) for files in ("*.onnx", "*.json", "training/*.py"))
    for file in sorted(chain(*models, _VISION.rglob("*.py"), _VISION.rglob("*.toml"))):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _quietly() -> None:
    cv2.setNumThreads(1)
    os.nice(5)  # so that the machine stays usable


@lru_cache(maxsize=2)
def _reader(model: Path, *, pips: bool = True) -> CardReader:
    reader = CardReader(model, threads=1)
    if not pips:
        reader.pips = None
    return reader


@lru_cache(maxsize=4)
def _deck(folder: Path) -> PhotoDeck:
    return PhotoDeck.from_folder(folder, complete=False)


def read_tables(task: Tables) -> tuple[Outcome, Outcome]:
    """Render and read tables; return what came of them without enrolment and with it (empty without a profile)."""
    layout, deck, reader = TableLayout.load(), _deck(task.deck), _reader(task.model, pips=task.pips)
    learnt = CardReader(task.model, threads=1, deck=task.profile) if task.profile else None
    plain, enrolled = Outcome(), Outcome()
    for number in range(task.tables):
        key = zlib.crc32(f"{deck.name}/{task.condition.name}{'/gaps' * task.gaps}".encode())
        rng = np.random.default_rng([task.seed, number, key])
        hands = _deal(rng, layout, deck, gaps=task.gaps)
        look = task.condition
        things = (_hand(rng, layout),) if task.hand else ()
        scene = render_table(
            hands, layout, deck, seed=rng, conditions=look.conditions, scale=look.scale, things=things
        )
        if task.webcam_px:
            scene = replace(scene, frame=enlarge_from(scene.frame, task.webcam_px))
        plain += outcome(scene, _read(scene, layout, reader))
        if learnt:
            enrolled += outcome(scene, _read(scene, layout, learnt))
    return plain, enrolled


def enlarge_from(frame: Image, width_px: int) -> Image:
    """Take a picture as wide as a webcam gives it, and make it as large again."""
    h, w = frame.shape[:2]
    small = cv2.resize(frame, (width_px, round(h * width_px / w)), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, (w, h), interpolation=cv2.INTER_CUBIC), np.uint8)


def _deal(rng: np.random.Generator, layout: TableLayout, deck: PhotoDeck, *, gaps: bool = False) -> Hands:
    """Deal the cards that a deck has; with gaps, two thirds of them, each by chance."""

    def stays(code: str) -> bool:
        return code in deck.cards and (not gaps or rng.random() > 1 / 3)

    dealt = deal(rng, layout)
    return {p: {r: list(filter(stays, codes)) for r, codes in rows.items()} for p, rows in dealt.items()}


def _hand(rng: np.random.Generator, layout: TableLayout) -> Thing:
    """Lay a hand over a zone, its arm from about where the zone's player sits."""
    zone = layout.zones[int(rng.integers(len(layout.zones)))]
    middle = (rng.uniform(0, zone.width_mm), rng.uniform(0.3, 1.2) * zone.height_mm)
    x, y = zone.to_felt(np.array([middle]))[0]
    return Thing("hand", float(x), float(y), zone.turned_deg + float(rng.uniform(-30, 30)))


def _read(scene: Scene, layout: TableLayout, reader: CardReader) -> TableReading | None:
    try:
        return read(scene.frame, layout, reader)
    except MarkersError:
        return None


def outcome(scene: Scene, reading: TableReading | None) -> Outcome:
    """Compare one table's reading with its truth; None: the reader said that it does not see the felt."""
    if reading is None:
        score = Score(cards=len(scene.cards), tables=1, misread=sorted(card.code for card in scene.cards))
        return Outcome(score, [JudgedCard(card.code, "", fit=False) for card in scene.cards], unfit=1)
    score = Score()
    score_table(scene.truth, reading, score)
    fit = reading.fit
    judged = [_judge(laid, card, fit) for laid, card in _pair(scene, reading)]
    passed_over = Counter(card.code for card in scene.cards) - Counter(card.laid for card in judged)
    judged += [JudgedCard(code, "", fit=fit) for code in sorted(passed_over)]
    return Outcome(score, judged, int(not fit), int(score.whole and score.sure == score.cards))


def _judge(laid: str, card: ReadCard, fit: bool) -> JudgedCard:
    return JudgedCard(laid, card.card, card.margin, card.evidence, card.sure, fit)


def _pair(scene: Scene, reading: TableReading) -> list[tuple[str, ReadCard]]:
    """Give each named card the code of the card it is about: its own in its zone, or else the nearest one left over."""
    there = {(card.place, card.row, card.code): card for card in scene.cards}
    pairs: list[tuple[str, ReadCard]] = []
    wrong: list[ReadCard] = []
    for zone in reading.zones:
        for card in zone.cards:
            if there.pop((zone.place, zone.row, card.card), None):
                pairs.append((card.card, card))
            else:
                wrong.append(card)
    left = list(there.values())
    if not left or not wrong:
        return pairs + [("", card) for card in wrong]
    laid_at = np.array([card.corners.mean(axis=0) for card in left])
    named_at = np.array([card.corners.mean(axis=0) for card in wrong])
    height = float(np.median([np.linalg.norm(card.corners[3] - card.corners[0]) for card in left]))
    apart = np.linalg.norm(named_at[:, None] - laid_at[None], axis=2) / height
    about = dict(zip(*(places.tolist() for places in linear_sum_assignment(apart)), strict=True))
    for k, card in enumerate(wrong):
        near = k in about and apart[k, about[k]] < _NEAR
        pairs.append((left[about[k]].code if near else "", card))
    return pairs


def enrol_deck(task: Tables) -> DeckProfile | str:
    """Enrol a deck from tables of its spread, the cards laid again in each; return why where it was refused."""
    layout, deck = TableLayout.load(), _deck(task.deck)
    rng = np.random.default_rng([task.seed, zlib.crc32(deck.name.encode())])
    look, scale = task.condition.conditions, task.condition.scale
    frames: list[Image] = []
    refusal = ""
    for pictures in SPREADS:
        while len(frames) < pictures:
            frames.append(
                render_table(spread(layout), layout, deck, seed=rng, conditions=look, scale=scale).frame
            )
        try:
            return enrol(frames, layout, _reader(task.model), deck.name)
        except (EnrolmentError, MarkersError) as error:
            refusal = str(error)
    return refusal


@dataclass(frozen=True)
class Photograph:
    """A labelled photograph to read, its scale unknown; as it is, or without its colour."""

    model: Path
    file: Path
    labels: tuple[str, ...]
    colourless: bool = False


def read_photograph(task: Photograph) -> Outcome:
    """Read a photograph; without places in the labels, a name is right if such a card is in the picture."""
    picture, reader = load_picture(task.file), _reader(task.model)
    if task.colourless:
        grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        picture = np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR), np.uint8)
    cards, verdicts = loose_cards.read_photograph(picture, reader)
    fit = verdicts["colour"].ok
    score = Score(tables=1)
    score.whole += score.add(task.labels, [(c.card, c.sure) for c in cards])
    judged = [_judge(c.card if c.card in task.labels else "", c, fit) for c in cards]
    judged += [JudgedCard(code, "", fit=fit) for code in sorted(set(task.labels) - {c.card for c in cards})]
    return Outcome(score, judged, int(not fit))


def describe_machine() -> str:
    """Name the machine in words, with how busy it is: figures of a busy machine are not a lower bound."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "Model"))]
    return (
        f"{names[0] if names else platform.processor()}, {platform.machine()}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}; Python {platform.python_version()}, onnxruntime {onnxruntime.__version__}, "
        f"OpenCV {cv2.__version__}"
    )
