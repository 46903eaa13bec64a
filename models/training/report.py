"""Writes down what was measured: `docs/reader-report.md`, and the figures of the model card between its two marks.

Every figure is computed in that run; only the aims are given.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.training.judge import SPREADS, Outcome, total
from models.training.measure import (
    FEW,
    SOME,
    Key,
    Measurements,
    add_up,
    confusions,
    manifest_of,
    measure,
    read_all,
    real_tables,
    soften_tables,
)
from models.training.real_decks import DECKS
from models.training.samples import DOCS, PACKAGE, TrainingError
from models.training.unseen import JUDGING, ODD_JUDGING, VALIDATION
from vision.felt.layout import TableLayout
from vision.reading.network import Calibrations, CardReader
from vision.synthetic.evaluation import Score, grid, ordinary, wilson

CARD = PACKAGE / "MODEL_CARD.md"
MARKS = ("<!-- figures: written by models.training report -->", "<!-- end of figures -->")
MANY, SOFTENED = 100_000, 50_000
"""Cards to be read without a silent error; as many softened ones."""
SOFT = "webcam"
"""The deck of real cards whose pictures are softer than any that was trained on; it has an aim of its own."""
_HEAD = (
    *("cards", "named rightly", "sure and right", "surely wrong", "named where none lay"),
    *("tables wholly right", "without a question", "pictures unfit"),
)


@dataclass(frozen=True)
class Aim:
    """What the reader is meant to reach, what it reached, and whether that is it (None: it cannot be said)."""

    what: str
    aim: str
    figure: str
    met: bool | None


def aims(m: Measurements) -> Iterator[Aim]:
    """Hold the figures against the aims."""
    trained = m.manifest["trained"]["photographs"]
    for words, whole, clear, decks in (
        ("trained on", 0.97, 0.995, [d for d in DECKS if DECKS[d][0] in trained]),
        ("not trained on", 0.97, 0.995, [d for d in DECKS if DECKS[d][0] not in trained and d != SOFT]),
        ("a soft webcam", 0.6, None, [SOFT]),
    ):
        if decks := [d for d in decks if m.part("real", [d])]:
            outcome = m.over("real", decks)
            yield from _tables(f"real cards, {words}: {', '.join(decks)}", outcome, whole, clear, cards=1)
    for what, part, least, sure, unasked in (
        ("ordinary decks", "whole", 0.995, 0.998, None),
        ("ordinary decks, enrolled", "whole enrolled", 0.998, 0.9995, 0.99),
        ("a third missing", "gaps", None, 0.995, None),
        ("a third missing, enrolled", "gaps enrolled", None, 0.998, 0.985),
    ):
        yield from _tables(what, m.over(part, JUDGING, ordinary()), least, sure, unasked=unasked)
    yield _none("softened until a person hesitates", m.over("softened").score, SOFTENED)
    yield _none("odd decks", (m.over("whole", ODD_JUDGING) + m.over("whole enrolled", ODD_JUDGING)).score, 1)
    for name, least in (("bidly_deals", 0.98), ("foltysm_single", 1.0), ("edje_tf_cards", 1.0)):
        if (s := m.over("photographs", [name]).score).cards:
            wanted = "all" if least == 1 else f"≥ {100 * least:.0f} %"
            yield Aim(
                f"photographs {name}",
                f"{wanted} of the labelled cards, none surely wrong, ≥ 95 % sure",
                f"{s.right} of {s.cards}, {s.wrong} surely wrong, {share(s.sure, s.cards)} sure",
                s.right >= least * s.cards and not s.wrong and s.sure >= 0.95 * s.cards,
            )
    if (grey := m.over("colourless").score).tables:
        sure = grey.sure + grey.wrong
        yield Aim("the same photographs without colour", "no suit sure", f"{sure} cards sure", sure == 0)
    yield Aim("model file", "≤ 5 MB", f"{m.bytes / 1e6:.2f} MB", m.bytes <= 5e6)


def _tables(
    what: str,
    outcome: Outcome,
    right: float | None,
    sure: float | None,
    *,
    unasked: float | None = None,
    cards: int = MANY,
) -> Iterator[Aim]:
    """Yield the aims for tables: wholly right, sure and right, without a question, silent errors."""
    s = outcome.score
    for name, of_what, least, hits, tried in (
        ("tables", "wholly right", right, s.whole, s.tables),
        ("cards", "sure and right", sure, s.sure, s.cards),
        ("no question", "of the tables", unasked, outcome.unasked, s.tables),
    ):
        if least is not None:
            aim, met = f"≥ {100 * least:g} % {of_what}", hits >= least * tried
            yield Aim(f"{what}: {name}", aim, interval(hits, tried), met)
    yield _none(f"{what}: silent errors", s, cards)


def _none(what: str, score: Score, cards: int) -> Aim:
    """Hold silent errors against none in so many cards; where fewer were read it cannot be said."""
    high = wilson(score.wrong, score.cards)[1]
    figure = f"{score.wrong} in {score.cards:,} (≤ 1 in {1 / high:,.0f} at 95 %)"
    met = False if score.wrong else True if score.cards >= cards else None
    return Aim(what, f"none in {cards:,}" if cards > 1 else "none surely wrong", figure, met)


def share(hits: int, of: int) -> str:
    """Write a share in per cent."""
    return f"{100 * hits / of:.2f} %" if of else "–"


def interval(hits: int, of: int) -> str:
    """Write a share in per cent with its interval at 95 %."""
    low, high = wilson(hits, of)
    return f"{share(hits, of)} ({100 * low:.1f}–{100 * high:.1f})"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


def _row(o: Outcome) -> tuple[object, ...]:
    s, extra = o.score, sum(not c.laid for c in o.cards)
    shares = interval(s.right, s.cards), interval(s.sure, s.cards)
    return (f"{s.cards:,}", *shares, s.wrong, extra, f"{s.whole} of {s.tables}", o.unasked, o.unfit)


def _outcomes(first: str, found: Mapping[str, Outcome]) -> str:
    """Write a row for each outcome."""
    return table((first, *_HEAD), [(name, *_row(outcome)) for name, outcome in found.items()])


def surely_wrong(found: Mapping[Key, Outcome]) -> str:
    """Name every card that was surely wrong, with its deck and condition; nothing where there is none."""
    wrong = [
        f"{c} ({key[1]}, {key[2]})" for key, o in found.items() for c in o.cards if c.sure and not c.right
    ]
    return f"\n\nSurely wrong: {'; '.join(wrong)}." if wrong else ""


def real_table(found: Mapping[Key, Outcome], manifest: Mapping[str, Any]) -> str:
    """Write what came of the decks of real cards; the manifest says which of them were trained on."""

    def words(key: Key) -> str:
        photographs, files = DECKS[key[1]]
        known = "" if photographs in manifest["trained"]["photographs"] else "not "
        return f"{key[1]}: {f'{photographs} {files}'.strip()}, {known}trained on"

    return _outcomes("deck, and what it is cut from", add_up(found, words)) + surely_wrong(found)


def table_of_softenings(found: Mapping[Key, Outcome]) -> str:
    """Write a row for each softening, all conditions together, and what was surely wrong."""
    rows = add_up(found, lambda key: key[2].partition("; ")[0])
    rows["**all**"] = everything = total(found.values())
    at_most = wilson(everything.score.wrong, everything.score.cards)[1]
    bound = f"\n\nSurely wrong at 95 %: at most 1 in {1 / at_most:,.0f}."
    return _outcomes("softened by", rows) + bound + _suits(everything) + surely_wrong(found)


def _suits(outcome: Outcome) -> str:
    """Say how many cards were given another suit of the right rank, and how many of them surely."""
    ranked = [c for c in outcome.cards if c.laid and c.named and c.laid[:-1] == c.named[:-1]]
    other = [c for c in ranked if not c.right]
    surely = sum(c.sure for c in other)
    return (
        f"\n\nSuits: of {len(ranked):,} cards whose rank was named rightly {len(other)} got another suit, "
        f"{surely} of them surely."
    )


def read_softened(model: Path, tables: int, seed: int, calibrating: bool) -> str:
    """Read tables softened until a person hesitates.

    Raises:
        TrainingError: a card was surely wrong.
    """
    found = read_all(soften_tables(model, VALIDATION if calibrating else JUDGING, tables, seed))
    if total(found.values()).score.wrong:
        raise TrainingError(table_of_softenings(found))
    return table_of_softenings(found)


def real(model: Path, data: Path, tables: int, seed: int, decks: Sequence[str]) -> str:
    """Read tables of real cards cut out of photographs."""
    return real_table(
        read_all(real_tables(model, data, decks or tuple(DECKS), tables, seed)), manifest_of(model)
    )


def figures(m: Measurements) -> str:
    """Write where and on what was measured, and the aims with what was reached: the figures of the model card."""
    trained, camera = m.manifest["trained"], TableLayout.load().camera
    words = {True: "yes", False: "**no**", None: "cannot be said"}
    return (
        f"Model `{m.manifest['sha256'][:12]}`, {m.manifest['parameters']:,} parameters, {m.bytes:,} bytes, "
        f"trained on {trained['crops']:,} crops. Measured on {m.day} in {m.minutes:.0f} minutes on {m.machine}. "
        f"Tables of 52 cards per deck and ordinary condition: {m.tables} "
        f"(odd decks, limits and scales: {min(m.tables, FEW)}). Intervals are Wilson's, 95 %. "
        f"Tables are rendered as this camera sees them: {camera.name}, {camera.height_mm:.0f} mm above the felt, "
        f"{camera.px_per_mm:.2f} px/mm.\n\n"
        + table(("", "aim", "measured", "met"), [(a.what, a.aim, a.figure, words[a.met]) for a in aims(m)])
    )


def write(m: Measurements, worth: Calibrations, docs: Path) -> Path:
    """Write the report; return its path."""

    def by_condition(part: str) -> str:
        names = {c.name + ("" if c.sets == "ordinary" else " (limit)"): c for c in grid()}
        return _outcomes("condition", {name: m.over(part, JUDGING, [c]) for name, c in names.items()})

    def by_deck(decks: Sequence[str]) -> str:
        rows = {}
        for name in decks:
            rows[name] = m.over("whole", [name], ordinary())
            if name not in m.refused:
                rows[f"{name}, enrolled"] = m.over("whole enrolled", [name], ordinary())
        return _outcomes("deck", rows)

    gaps = {"not enrolled": m.over("gaps"), "enrolled": m.over("gaps enrolled")}
    rows = ("all 52 cards named", worth.whole), ("fewer", worth.part), ("loose photographs", worth.loose)
    limits = [(name, f"{w.margin.sure_from:.2f}", f"{w.evidence.sure_from:.2f}") for name, w in rows]
    no_photographs = "No folder of photographs was given in this run."
    sections = [
        "# How well the cards are read",
        "Written by `python -m models.training report`; every figure was computed in that run. Rendered tables are "
        "not photographs: no lens, no hands, cards that lie flat. Nothing here was measured on a Raspberry Pi or "
        "with a real camera above a felt (UNTESTED).",
        figures(m),
        "*Surely wrong*, a silent error: a card that does not lie there was named, and the dealer would not be asked. "
        "*Sure and right* is the coverage. Ordinary: the conditions of `vision/grid.toml` that count towards the aims.",
        "## Tables of real cards",
        "Real cards, cut out of photographs and laid by the renderer: an ordinary evening, untidy hands, a third "
        f"missing; {min(m.tables, SOME)} of each, seed {m.seed}. All of these decks were looked at while the reader "
        "was worked on: the model card says for what.",
        real_table(m.part("real"), m.manifest) if m.part("real") else no_photographs,
        "## Over the conditions, ordinary decks that were not trained on",
        f"Decks: {', '.join(JUDGING)}. They are neither trained on nor calibrated on (that is done with "
        f"{', '.join(VALIDATION)}).",
        by_condition("whole"),
        "The same tables with the deck enrolled:",
        by_condition("whole enrolled"),
        "## Tables that lack a third of their cards",
        "As with three players, or while cards are placed: a wrong name may then be that of a card that is not on the "
        "table, so that no card contradicts it. Ordinary decks, over the ordinary conditions.",
        _outcomes("deck", gaps),
        "## Softened until a person hesitates",
        "Ordinary decks, not enrolled, in each ordinary condition, worsened in four ways and three steps; whole tables "
        "and tables that lack a third of their cards in turn. What is sure may fall; nothing may be surely wrong.",
        table_of_softenings(m.part("softened")),
        "## By deck, ordinary conditions",
        by_deck(JUDGING),
        "## Odd decks: unusual colours, sizes or places of the indices",
        by_deck(ODD_JUDGING),
        f"Enrolment sees {SPREADS[0]} rendered pictures of the spread ({SPREADS[-1]} where it refused at first). "
        + "".join(f"Refused: {name}: “{why}” " for name, why in m.refused.items()),
        "## Photographs marked `evaluate`, loose: scale, place and number unknown",
        _photographs(m) if m.part("photographs") else no_photographs,
        "## Scale",
        _outcomes("scale", add_up(m.part("scale"), lambda key: key[2])),
        "Where the picture is unfit, the reader says so and no card is sure.",
        "## What a margin is worth",
        "A card is sure if its name beats every other name by this margin in nats, and if the evidence that a card "
        "lies there is at least this:",
        table(("", "margin", "evidence"), limits),
        "## What is taken for what",
        f"Ordinary decks, all conditions, not enrolled. {_confusions(m.over('whole', JUDGING))}",
        f"Odd decks. {_confusions(m.over('whole', ODD_JUDGING))}",
    ]
    docs.mkdir(parents=True, exist_ok=True)
    report = docs / "reader-report.md"
    report.write_text("\n\n".join(section.rstrip() for section in sections) + "\n")
    return report


def _photographs(m: Measurements) -> str:
    grey = add_up(m.part("colourless"), lambda key: key[1])
    rows = [
        (name, *_row(outcome)[:4], f"{outcome.score.whole} of {outcome.score.tables}", grey[name].score.sure)
        for name, outcome in add_up(m.part("photographs"), lambda key: key[1]).items()
    ]
    return (
        table(("set", *_HEAD[:4], "pictures wholly right", "sure without colour"), rows)
        + "\n\nThe deck of bidly_deals is in the training photographs (bidly_cards), and edje_tf_cards' test pictures "
        "show the deck of its training pictures; that of foltysm_single was not trained on. In bidly_deals some "
        "half-hidden cards have no label; naming one counts as wrong." + surely_wrong(m.part("photographs"))
    )


def _confusions(outcome: Outcome) -> str:
    often = {
        f"{laid} as {named}": n for laid, names in confusions(outcome).items() for named, n in names.items()
    }
    most = sorted(often.items(), key=lambda one: -one[1])[:12]
    return (
        f"Most often: {', '.join(f'{w} ({n})' for w, n in most)}."
        if most
        else "No card was taken for another."
    )


def update_card(m: Measurements, card: Path) -> None:
    """Put the figures into the model card, between its two marks."""
    before, _, rest = card.read_text().partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    card.write_text(f"{before}{MARKS[0]}\n\n{figures(m)}\n\n{MARKS[1]}{after}")


def write_report(model: Path, data: Path | None, tables: int, seed: int, out: Path) -> Path:
    """Measure and write the report; for the packaged model the card too. Return the report's path."""
    measured = measure(model, data, tables, seed)
    path = write(measured, CardReader(model).calibrations, out)
    if out == DOCS:
        update_card(measured, CARD)
    return path
