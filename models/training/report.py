"""Measures the reader and writes it down: `python -m models.training report --data DATA`.

`docs/reader-report.md` with its pictures, and the figures of the model card between its two marks. Every figure is
computed in that run; only the aims are given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from models.training import plots, real, softened
from models.training.aims import aims, interval
from models.training.art import CACHE
from models.training.judge import KEPT, SPREADS, Judged, Outcome, total
from models.training.kept import Kept
from models.training.markdown import put_between, table
from models.training.measure import FEW, SOME, Measured, measure
from models.training.options import MODEL
from models.training.samples import PACKAGE
from models.training.unseen import JUDGING, ODD_JUDGING, VALIDATION, need_decks
from vision.base.errors import VisionError
from vision.commands.options import PhotographsFolder
from vision.felt.layout import TableLayout
from vision.reading.network import Calibrations, CardReader, default_model

DOCS = PACKAGE.parent / "docs"
CARD = PACKAGE / "MODEL_CARD.md"
MARKS = ("<!-- figures: written by models.training report -->", "<!-- end of figures -->")
_SEEN = {"bidly_deals": "deck seen in training", "edje_tf_cards": "deck seen in training"}


_HEAD = (
    "cards",
    "named rightly",
    "sure and right",
    "surely wrong",
    "named where none lay",
    "tables wholly right",
    "without a question",
    "pictures unfit",
)


def _row(o: Outcome) -> tuple[str, ...]:
    s = o.score
    return (
        f"{s.cards:,}",
        interval(s.right, s.cards),
        interval(s.sure, s.cards),
        str(s.wrong),
        str(sum(not c.laid for c in o.cards)),
        f"{s.whole} of {s.tables}",
        str(o.unasked),
        str(o.unfit),
    )


def _aims_table(m: Measured) -> str:
    words = {True: "yes", False: "**no**", None: "cannot be said"}
    return table(("", "aim", "measured", "met"), [(a.what, a.aim, a.figure, words[a.met]) for a in aims(m)])


def _origin(m: Measured) -> str:
    trained, camera = m.manifest["trained"], TableLayout.load().camera
    return (
        f"Model `{m.manifest['sha256'][:12]}`, {m.manifest['parameters']:,} parameters, {m.bytes:,} bytes, "
        f"trained on {trained['crops']:,} crops. Measured on {m.day} in {m.minutes:.0f} minutes on {m.machine}. "
        f"Tables of 52 cards per deck and ordinary condition: {m.tables} "
        f"(odd decks, limits and scales: {min(m.tables, FEW)}). Intervals are Wilson's, 95 %. "
        f"Tables are rendered as this camera sees them: {camera.name}, {camera.height_mm:.0f} mm above the felt, "
        f"{camera.px_per_mm:.2f} px/mm."
    )


def _confusions(cards: Sequence[Judged]) -> str:
    often = Counter((c.laid, c.named) for c in cards if c.named and c.laid and not c.right)
    if not often:
        return "No card was taken for another."
    some = ", ".join(f"{laid} as {named} ({n})" for (laid, named), n in often.most_common(12))
    return f"Most often: {some}."


def write(m: Measured, worth: Calibrations, docs: Path) -> Path:
    """Write the report and its pictures; return the report's path."""
    pictures = docs / "reader-report"
    pictures.mkdir(parents=True, exist_ok=True)
    names = [c.name + ("" if c.sets == "ordinary" else " (limit)") for c in m.conditions]
    plain = [m.named(m.ordinary, c.name) for c in m.conditions]
    ordinary_learnt = {k: v for k, v in m.enrolled.items() if k[0] in JUDGING}
    learnt = [m.named(ordinary_learnt, c.name) for c in m.conditions]
    fit = [c for c in m.over(m.ordinary, sets="").cards if c.fit]
    fit_odd = [c for c in m.over(m.odd, sets="").cards if c.fit]
    photographed = [c for o in m.photographs.values() for c in o.cards if c.fit]
    parts = [("ordinary decks, rendered", fit)] + ([("photographs", photographed)] if photographed else [])
    plots.conditions(pictures / "conditions.png", names, plain, learnt)
    plots.figures(pictures / "margins.png", fit, worth.whole)
    plots.reliability(pictures / "reliability.png", parts)
    plots.confusion(pictures / "confusion.png", fit + fit_odd)
    plots.scales(pictures / "scales.png", list(m.scales.items()))
    sections = [
        "# How well the cards are read",
        "Written by `python -m models.training report`; every figure was computed in that run. Rendered tables are "
        "not photographs: no lens, no hands, cards that lie flat. Nothing here was measured on a Raspberry Pi or "
        "with a real camera above a felt (UNTESTED).",
        _origin(m),
        "## Against the aims",
        _aims_table(m),
        "*Surely*, or silently, *wrong* is a card that would be taken without asking and is not there. *Sure and "
        "right* is the coverage. Ordinary: the conditions of `vision/grid.toml` that count towards the aims.",
        "## Tables of real cards",
        real.section(m.real, min(m.tables, SOME), m.seed, m.manifest["trained"]["photographs"])
        if m.real
        else "No folder of photographs was given in this run.",
        "## Over the conditions, ordinary decks that were not trained on",
        f"Decks: {', '.join(JUDGING)}. They are neither trained on nor calibrated on (that is done with "
        f"{', '.join(VALIDATION)}).",
        table(("condition", *_HEAD), [(n, *_row(o)) for n, o in zip(names, plain, strict=True)]),
        "![by condition](reader-report/conditions.png)",
        "The same tables with the deck enrolled:",
        table(("condition", *_HEAD), [(n, *_row(o)) for n, o in zip(names, learnt, strict=True)]),
        "## Tables that lack a third of their cards",
        "As with three players, or while cards are placed: a wrong name then meets no card that has a better claim "
        "to it. Ordinary decks, over the ordinary conditions.",
        table(
            ("deck", *_HEAD),
            [
                (label, *_row(m.over(part)))
                for label, part in zip(("not enrolled", "enrolled"), m.gaps, strict=True)
            ],
        ),
        "## Softened until a person hesitates",
        "Ordinary decks, not enrolled, in each ordinary condition, worsened in four ways and three steps; whole tables "
        "and tables that lack a third of their cards in turn. What is sure may fall; nothing may be surely wrong.",
        softened.section(m.softened),
        "## By deck, ordinary conditions",
        _by_deck(m, m.ordinary, JUDGING),
        "## Odd decks: unusual colours, sizes or places of the indices",
        _by_deck(m, m.odd, ODD_JUDGING),
        f"Enrolment sees {SPREADS[0]} rendered pictures of the spread ({SPREADS[-1]} where it refused at first). "
        + _refusals(m),
        "## Photographs marked `evaluate`, loose: scale, place and number unknown",
        _photographs(m),
        "## Scale",
        table(("px per mm", *_HEAD), [(f"{scale:g}", *_row(o)) for scale, o in m.scales.items()]),
        "Where the picture is unfit, the reader says so and no card is sure.",
        "![scale](reader-report/scales.png)",
        "## What a margin and a confidence are worth",
        "A card is sure whose name beats every other by so many nats, where there is so much evidence for a card at "
        "all:",
        table(
            ("", "margin", "evidence"),
            [
                (label, f"{part.margin.sure_from:.2f}", f"{part.evidence.sure_from:.2f}")
                for label, part in (
                    ("all 52 cards named", worth.whole),
                    ("fewer", worth.part),
                    ("loose photographs", worth.loose),
                )
            ],
        ),
        "Pictures fit to be read, all conditions, ordinary decks, whole tables, not enrolled:",
        "![margins](reader-report/margins.png)",
        *[_classes(label, cards) for label, cards in parts],
        "![reliability](reader-report/reliability.png)",
        "## What is taken for what",
        "Ordinary and odd decks, all conditions, fit pictures, not enrolled.",
        "![confusion](reader-report/confusion.png)",
        "Ordinary decks. " + _confusions(fit),
        "Odd decks. " + _confusions(fit_odd),
        "## Time",
        _times(m),
    ]
    report = docs / "reader-report.md"
    report.write_text("\n\n".join(sections) + "\n")
    return report


def _by_deck(m: Measured, part: dict[tuple[str, str], Outcome], decks: Sequence[str]) -> str:
    enrolled = [f"enrolled: {what}" for what in _HEAD[1:4]]
    return table(("deck", *_HEAD[:7], *enrolled), [_deck_row(m, part, name) for name in decks])


def _deck_row(m: Measured, part: dict[tuple[str, str], Outcome], name: str) -> tuple[str, ...]:
    first = (name, *_row(m.over(part, [name]))[:7])
    if name in m.refused:
        return (*first, "refused", "", "")
    s = m.over(m.enrolled, [name]).score
    return (*first, interval(s.right, s.cards), interval(s.sure, s.cards), str(s.wrong))


def _refusals(m: Measured) -> str:
    if not m.refused:
        return "No enrolment was refused."
    return "Refused: " + " ".join(f"{name}: “{why}”" for name, why in m.refused.items())


def _photographs(m: Measured) -> str:
    if not m.photographs:
        return "No folder of photographs was given in this run."
    rows = []
    for name, o in m.photographs.items():
        s, grey = o.score, m.colourless[name].score
        note = _SEEN.get(name, "deck not trained on")
        whole = f"{s.whole}/{s.tables}"
        rows.append(
            (
                name,
                note,
                s.cards,
                interval(s.right, s.cards),
                interval(s.sure, s.cards),
                s.wrong,
                whole,
                grey.sure + grey.wrong,
            )
        )
    head = (
        "set",
        "",
        "cards labelled",
        "named rightly",
        "sure and right",
        "surely wrong",
        "pictures wholly right",
        "sure without colour",
    )
    o = total(m.photographs.values())
    wrong = sorted({c.named for c in o.cards if c.sure and not c.right})
    note = (
        "The deck of bidly_deals is in the training photographs (bidly_cards), and edje_tf_cards' test pictures show "
        "the deck of its training pictures. In bidly_deals some half-hidden cards have no label; naming one counts "
        "as wrong."
    )
    return (
        table(head, rows)
        + "\n\n"
        + note
        + (f" Surely named without a label: {' '.join(wrong)}." if wrong else "")
    )


def _classes(label: str, cards: Sequence[Judged]) -> str:
    rows = [(f"{mean:.4f}", f"{of:,}", interval(right, of)) for mean, right, of in plots.classes(cards)]
    return table((f"confidence stated ({label})", "names", "of them right"), rows)


def _times(m: Measured) -> str:
    stages = list(m.ms[2])
    rows = [
        [f"{threads} thread{'s' * (threads > 1)}", *[f"{ms[s]:.1f}" for s in stages]]
        for threads, ms in m.ms.items()
    ]
    text = (
        "Median milliseconds from a decoded full-size frame to 52 cards, on the machine and under the load named "
        "above.\n\n" + table(("", *stages), rows)
    )
    if m.peer is None:
        return text + "\n\nNo other network was timed next to it in this run (`--yolo FILE`)."
    return (
        text + f"\n\nIn turn, two threads: our network over 12 zones {m.peer.ours_ms:.1f} ms, one pass of "
        f"{m.peer.peer} {m.peer.peer_ms:.1f} ms; ours takes {m.peer.share:.2f} of its time. The other network's graph "
        "has random weights: only its time counts."
    )


def update_card(m: Measured, card: Path) -> None:
    """Put the figures into the model card, between its two marks."""
    if card.exists():
        put_between(MARKS, card, f"\n\n{_origin(m)}\n\n{_aims_table(m)}\n\n")


def write_report(
    model: Path, data: Path | None, tables: int, seed: int = 0, peer: Path | None = None, docs: Path = DOCS
) -> Path:
    """Measure and write the report; for the packaged model the card too. Return the report's path."""
    measured = measure(model, data, tables, seed, peer)
    path = write(measured, CardReader(model).calibrations, docs)
    if docs == DOCS:
        update_card(measured, CARD)
    return path


@click.command()
@MODEL
@click.option(
    "--data",
    type=PhotographsFolder(),
    help="Folder of labelled photographs, such as ../shared/data; only those marked `evaluate` are read.",
)
@click.option(
    "--tables", default=2, show_default=True, type=click.IntRange(1), help="Tables per deck and condition."
)
@click.option("--seed", default=0, show_default=True)
@click.option(
    "--yolo",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="ONNX graph of YOLO11n (yolo_graph.py), timed next to the reader.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Keep what is measured, and go on with what a run that was stopped has kept.",
)
@click.option(
    "--out",
    "docs",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=DOCS,
    help="Folder for the report; only in docs/ itself the model card is brought up to date too.",
)
def command(
    model: Path | None,
    data: Path | None,
    tables: int,
    seed: int,
    yolo: Path | None,
    resume: bool,
    docs: Path,
) -> None:
    """Measure everything and write the report."""
    need_decks((*JUDGING, *ODD_JUDGING))
    if resume:
        KEPT.set(Kept(CACHE / "report"))
    try:
        click.echo(write_report(model or default_model(), data, tables, seed, yolo, docs))
    except VisionError as error:
        raise click.ClickException(str(error)) from error
